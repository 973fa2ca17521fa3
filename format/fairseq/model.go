package fairseq

import (
	"errors"

	"memsizer/format"
)

// Model is a checkpoint in canonical form.
type Model struct {
	Config       format.Config
	Tokenization format.Tokenization
	// Sections are the dictionaries and tokenisation files, by their
	// format.Section… names, in file order.
	Sections []Section
	// Tensors are those of Config.TensorSpecs, in that order.
	Tensors []Tensor
	// Found says what the file is and what was decided.
	Found Report
	// SourceName is the base name of the checkpoint.
	SourceName string

	closers []func() error
}

// Section is a file that travels inside the .msz as it was given.
type Section struct {
	Name string
	Path string // where it was found
	Data []byte
}

// Tensor is one canonical tensor, not yet read.
type Tensor struct {
	Spec format.TensorSpec
	// Source is the tensor's name in the checkpoint.
	Source string
	// SourceDType is the stored element type: "float32", "float16", ….
	SourceDType string
}

// Read streams the tensor's elements in row-major order to fn, in chunks of
// at most 65,536 that fn must not keep. A NaN, an infinity and a float64 that
// float32 cannot hold stop it with an error that names the tensor, the flat
// index and the value; so does an error of fn. It may be called repeatedly,
// and for different tensors concurrently.
func (t *Tensor) Read(fn func(chunk []float32) error) error {
	return errors.New("fairseq: not yet implemented")
}

// Close closes the files behind the model's tensors.
func (m *Model) Close() error {
	var first error
	for _, c := range m.closers {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	m.closers = nil
	return first
}

// Load opens a checkpoint (.pt, .bin, .pth, .safetensors; recognised by
// content), maps it and finds its dictionaries and tokenisation files. The
// caller closes the model.
func Load(path string, opts Options) (*Model, error) {
	return nil, errors.New("fairseq: not yet implemented")
}

// Inspect says what a file is: architecture, sizes, settings, what would be
// missing and what is not supported and why. It fails only where the file
// cannot be read at all.
func Inspect(path string, opts Options) (*Report, error) {
	return nil, errors.New("fairseq: not yet implemented")
}

// Text is what a model needs besides its tensors to read and write text.
type Text struct {
	Tokenization format.Tokenization
	Sections     []Section
	Notes        []string
}

// FindText finds dictionaries and tokenisation for a model that came without
// fairseq's settings (an ONNX graph, say): from opts, from the settings in
// opts.Args if that is given, and from the files beside path. Dictionaries
// are checked against the sizes in cfg.
func FindText(path string, cfg *format.Config, opts Options) (*Text, error) {
	return nil, errors.New("fairseq: not yet implemented")
}
