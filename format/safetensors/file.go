package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// maxHeader is the most bytes that a header may have, by the format.
const maxHeader = 100_000_000

// File is an opened safetensors file: its tensors described, their bytes not
// read.
type File struct {
	r        io.ReaderAt
	size     int64
	name     string
	tensors  []*Tensor
	byName   map[string]*Tensor
	metadata map[string]string
	closer   io.Closer
}

// Tensor describes one tensor of a file.
type Tensor struct {
	Name  string
	DType string // the format's name of the element type, "F32"
	Shape []int  // empty for a scalar
	Size  int64  // of all elements, in bytes

	file   *File
	offset int64 // of the first byte in the file
}

// Elements returns the number of elements, the product of Shape.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}

// Reader returns a new reader of the tensor's Size bytes: row-major,
// little-endian. It reads from the file as it goes. For an element type other
// than F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL it gives an
// UnsupportedError. Readers of one file may be used at the same time by
// different goroutines, until the file is closed.
func (t *Tensor) Reader() io.Reader {
	if !isReadable(t.DType) {
		return errorReader{&UnsupportedError{t.file.name, t.offset, t.Name, fmt.Sprintf("element type %.40q", t.DType)}}
	}
	return &tensorReader{t, io.NewSectionReader(t.file.r, t.offset, t.Size), t.Size}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// tensorReader turns an early end of the file into an error.
type tensorReader struct {
	tensor *Tensor
	r      io.Reader
	left   int64
}

func (r *tensorReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.left -= int64(n)
	if err == io.EOF && r.left > 0 {
		t := r.tensor
		err = &CorruptError{t.file.name, t.offset + t.Size - r.left, t.Name, "the file ends in it; was it cut while open?"}
	}
	return n, err
}

// Tensors returns the tensors in the order of their bytes in the file (empty
// ones at the same byte in the order of their names).
func (f *File) Tensors() []*Tensor { return f.tensors }

// Tensor returns the tensor called name, nil if there is none.
func (f *File) Tensor(name string) *Tensor { return f.byName[name] }

// Metadata returns the header's __metadata__, nil if there is none.
func (f *File) Metadata() map[string]string { return f.metadata }

// Close closes the underlying file, if Open opened it. Readers of tensors fail
// from then on.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Open opens the file called path and reads its header. The caller closes it
// when no tensor is to be read any more.
func Open(path string) (*File, error) {
	// Before opening it, as a pipe would wait for its other end.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("safetensors: %q is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, err := NewFile(file, info.Size(), path)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.closer = file
	return f, nil
}

// NewFile reads the header of a file of size bytes from r. The name stands for
// the file in errors. r must stay readable while tensors are read.
func NewFile(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{r: r, size: size, name: name, byName: make(map[string]*Tensor)}
	if size <= 0 {
		return nil, f.corrupt(0, "", "the file is empty")
	}
	head := make([]byte, min(size, 64))
	if err := f.read(head, 0); err != nil {
		return nil, err
	}
	if size < 10 {
		return nil, f.corrupt(size, "", "the file of %d bytes is too short for a header", size)
	}
	n := binary.LittleEndian.Uint64(head)
	if what := likeness(head); what != "" && (n > uint64(size)-8 || head[8] != '{') {
		return nil, &UnsupportedError{f.name, 0, "", what}
	}
	if n > maxHeader {
		return nil, f.corrupt(0, "", "a header of %d bytes, at most %d (is this a safetensors file?)", n, maxHeader)
	}
	if n > uint64(size)-8 {
		return nil, f.corrupt(0, "", "a header of %d bytes in a file of %d: it is cut off, or no safetensors file", n, size)
	}
	header := make([]byte, n)
	if err := f.read(header, 8); err != nil {
		return nil, err
	}
	if err := f.parse(header); err != nil {
		return nil, err
	}
	return f, f.layOut(8 + int64(n))
}

func (f *File) read(b []byte, offset int64) error {
	n, err := f.r.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return f.corrupt(offset+int64(n), "", "the file ends here, and should have %d bytes", f.size)
	}
	return fmt.Errorf("safetensors: %q: byte %d: %w", f.name, offset, err)
}

func (f *File) corrupt(offset int64, tensor, format string, args ...any) error {
	return &CorruptError{f.name, offset, tensor, fmt.Sprintf(format, args...)}
}

// layOut checks that the tensors' bytes follow one another from start to the
// end of the file, and turns their offsets into offsets in the file.
func (f *File) layOut(start int64) error {
	slices.SortFunc(f.tensors, func(a, b *Tensor) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	next := int64(0)
	for _, t := range f.tensors {
		if t.offset != next {
			return f.corrupt(start+min(t.offset, math.MaxInt64-start), t.Name, "its bytes start at %d, want %d, where those before it end: a hole or an overlap", t.offset, next)
		}
		if t.Size > f.size-start-next {
			return f.corrupt(f.size, t.Name, "its bytes %d to %d (after the header) are not all there: %d bytes follow the header", t.offset, t.offset+t.Size, f.size-start)
		}
		next += t.Size
		t.offset += start
	}
	if start+next != f.size {
		return f.corrupt(start+next, "", "%d bytes after the last tensor", f.size-start-next)
	}
	return nil
}
