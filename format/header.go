package format

// Revisions written by this package and the newest that it reads.
const (
	Version      = 1 // container: the byte layout
	Architecture = 1 // meaning of Config and of the tensors' names
	Quantization = 1 // element types and their layout
)

// Header is what a file says about its model, apart from the data.
type Header struct {
	// Container, Architecture and Quantization are the file's revisions
	// (see [Version]). Create sets them.
	Container, Architecture, Quantization int

	Config       Config
	Tokenization Tokenization
	Provenance   Provenance
}

// Provenance says where a model comes from. It holds no time and no folder,
// so that the same input gives the same file.
type Provenance struct {
	// Source is the base name of the converted file, SHA256 the hexadecimal
	// digest of its bytes. Both are empty for synthetic weights.
	Source string `json:"source,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Sources are all the files when there were several: averaged checkpoints,
	// an encoder's and a decoder's graph, external data.
	Sources []SourceFile `json:"sources,omitempty"`
	// Model is the architecture's name in the training code.
	Model string `json:"model,omitempty"`
	// Converter is the name and version of the program that wrote the file.
	Converter string `json:"converter,omitempty"`
	// DTypePolicy is how element types were chosen, such as "f16".
	DTypePolicy string `json:"dtype_policy,omitempty"`
}

// SourceFile is one of several converted files.
type SourceFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// SectionInfo describes a named section of bytes: a dictionary, BPE codes.
type SectionInfo struct {
	Name       string
	Offset     int64 // of the stored bytes in the file, a multiple of 256
	StoredSize int64 // bytes in the file
	Size       int64 // bytes of the content
	Compressed bool  // stored as a zstd frame
	CRC32C     uint32
}

// TensorInfo describes a tensor in a file.
type TensorInfo struct {
	Name       string
	DType      DType
	Shape      []int
	Offset     int64 // of the stored bytes in the file, a multiple of 256
	StoredSize int64 // bytes in the file
	Size       int64 // bytes unpacked: elements, and for I8 the scales
	Compressed bool  // stored as a zstd frame
	CRC32C     uint32
}

// Elements is the product of the shape.
func (t *TensorInfo) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}
