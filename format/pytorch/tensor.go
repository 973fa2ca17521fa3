package pytorch

import (
	"archive/zip"
	"io"
	"slices"
)

// Tensor describes a tensor; its elements are not in memory. Element
// [i0, i1, ...] is element Offset + i0*Strides[0] + i1*Strides[1] + ... of
// Storage. The description has been checked: every index of Shape falls inside
// the storage, and the storage inside the file.
type Tensor struct {
	DType        DType // as Storage.DType, unless the storage is untyped (uint8)
	Shape        []int // empty for a scalar
	Strides      []int // in elements, none negative
	Offset       int64 // in elements of DType
	Storage      *Storage
	RequiresGrad bool
	Parameter    bool // it was a torch.nn.Parameter
}

// Elements returns the number of elements, the product of Shape. It does not
// overflow, nor does Bytes.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}

// Bytes returns the number of bytes that Reader gives, Elements times the
// element size. It is at most the size of the storage or 1 MiB, whichever is
// more.
func (t *Tensor) Bytes() int64 { return t.Elements() * int64(t.DType.Size()) }

// Contiguous reports whether the elements lie in row-major order and without
// gaps in the storage.
func (t *Tensor) Contiguous() bool {
	if slices.Contains(t.Shape, 0) {
		return true
	}
	next := 1
	for i := len(t.Shape) - 1; i >= 0; i-- {
		if t.Shape[i] != 1 && t.Strides[i] != next {
			return false
		}
		next *= t.Shape[i]
	}
	return true
}

// Reader returns a new reader of the elements in row-major order, contiguous
// and little-endian, whatever the strides. It reads from the file as it goes
// and holds a bounded buffer: none for contiguous tensors, up to 40 MiB for
// others. Readers of one file may be used at the same time by different
// goroutines, until the file is closed.
//
// A tensor that is all of its storage is compared with the archive's checksum
// at the end. A compressed storage, which torch does not write, can be read
// contiguously; as other views only up to 256 MiB of it, which are then held
// in memory.
func (t *Tensor) Reader() io.Reader {
	size := t.Bytes()
	if size == 0 {
		return errorReader{io.EOF}
	}
	s := t.Storage
	start := t.Offset * int64(t.DType.Size())
	if !t.Contiguous() {
		return t.gather(defaultLimits)
	}
	whole := start == 0 && size == s.bytes()
	if s.offset < 0 {
		return &inflater{storage: s, skip: start, left: size, whole: whole}
	}
	var r io.Reader = io.NewSectionReader(s.file.r, s.offset+start, size)
	if whole && s.member != nil && s.member.CRC32 != 0 {
		r = &checksumReader{r: r, left: size, want: s.member.CRC32, place: s.place(0)}
	}
	return &exactReader{r: r, left: size, place: s.place(start)}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// exactReader turns an early end of r into an error.
type exactReader struct {
	r     io.Reader
	left  int64
	place Place
}

func (e *exactReader) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = &CorruptError{e.place, "the file ends in a tensor; was it cut while open?"}
	}
	return n, err
}

// inflater reads left bytes of a compressed storage after skip bytes. It opens
// the member at the first read.
type inflater struct {
	storage    *Storage
	skip, left int64
	whole      bool // to the end of the storage, where there is a checksum
	r          io.Reader
	err        error
}

func (f *inflater) Read(b []byte) (int, error) {
	if f.err != nil || len(b) == 0 {
		return 0, f.err
	}
	n, err := f.read(b)
	if err != nil {
		f.err = f.storage.file.memberFailed(f.storage.member, err)
		return 0, f.err
	}
	if f.left == 0 {
		f.err = io.EOF
	}
	return n, nil
}

// read reads some of what is left. With the last of a whole storage it goes to
// the end of the member, where the checksum is compared.
func (f *inflater) read(b []byte) (int, error) {
	if f.r == nil {
		r, err := f.storage.member.Open()
		if err != nil {
			return 0, err
		}
		if _, err := io.CopyN(io.Discard, r, f.skip); err != nil {
			return 0, err
		}
		f.r = r
	}
	n, err := f.r.Read(b[:min(int64(len(b)), f.left)])
	f.left -= int64(n)
	if f.left > 0 || !f.whole {
		if err == io.EOF && f.left == 0 {
			err = nil
		}
		return n, err
	}
	for err == nil {
		var more int
		if more, err = f.r.Read(make([]byte, 1)); more > 0 {
			return 0, zip.ErrFormat
		}
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}
