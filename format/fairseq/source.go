package fairseq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/x448/float16"

	"memsizer/format/pytorch"
	"memsizer/format/safetensors"
)

// chunkElements is the largest number of elements in memory per open tensor.
const chunkElements = 1 << 16

// source is a tensor somewhere in a file, or computed from such tensors.
type source interface {
	shape() []int
	dtype() string // torch's name, "float32"
	open() (elements, error)
}

// elements are the values of a source in row-major order; each call gives the
// next len(dst) of them.
type elements interface {
	read32(dst []float32) error
	read64(dst []float64) error
}

// fileTensor is a tensor of a checkpoint, or a run of its rows.
type fileTensor struct {
	dims   []int
	typ    string
	skip   int64 // elements before the first row
	stored int64 // elements that the file has for it
	bytes  func() io.Reader
	memory memory // what it is a view of, for tensors that share storage
}

// memory identifies a view: two tensors with equal values of it are the same
// bytes of the same file.
type memory struct {
	owner  any // *pytorch.Storage or *safetensors.Tensor
	offset int64
	layout string
}

func fromPyTorch(t *pytorch.Tensor) fileTensor {
	return fileTensor{
		dims:   t.Shape,
		typ:    t.DType.String(),
		stored: t.Storage.Elements,
		bytes:  t.Reader,
		memory: memory{t.Storage, t.Offset, fmt.Sprint(t.Shape, t.Strides)},
	}
}

var safetensorsTypes = map[string]string{
	"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
	"I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
	"U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
}

func fromSafetensors(t *safetensors.Tensor) fileTensor {
	typ := safetensorsTypes[t.DType]
	if typ == "" {
		typ = t.DType
	}
	return fileTensor{dims: t.Shape, typ: typ, stored: count(t.Shape), bytes: t.Reader, memory: memory{owner: t}}
}

func (t fileTensor) shape() []int  { return t.dims }
func (t fileTensor) dtype() string { return t.typ }

// rows is the part [lo, hi) along the first dimension.
func (t fileTensor) rows(lo, hi int) fileTensor {
	row := int64(1)
	for _, d := range t.dims[1:] {
		row *= int64(d)
	}
	r := t
	r.dims = append([]int{hi - lo}, t.dims[1:]...)
	r.skip += int64(lo) * row
	r.memory.layout += fmt.Sprintf("[%d:%d]", lo, hi)
	return r
}

// elementSize of the types that weights come in, 0 for any other.
func elementSize(typ string) int {
	switch typ {
	case "float64":
		return 8
	case "float32":
		return 4
	case "float16", "bfloat16":
		return 2
	}
	return 0
}

// count is the number of elements, at most the largest int64.
func count(shape []int) int64 {
	n := int64(1)
	for _, d := range shape {
		if d == 0 {
			return 0
		}
		if n > math.MaxInt64/int64(d) {
			n = math.MaxInt64
			continue
		}
		n *= int64(d)
	}
	return n
}

// raw is a reader of the tensor's bytes and the size of one element.
func (t fileTensor) raw() (io.Reader, int, error) {
	size := elementSize(t.typ)
	if size == 0 {
		return nil, 0, fmt.Errorf("fairseq: elements are %s, want a floating-point type", t.typ)
	}
	r := t.bytes()
	if t.skip > 0 {
		if _, err := io.CopyN(io.Discard, r, t.skip*int64(size)); err != nil {
			return nil, 0, noEOF(err)
		}
	}
	return r, size, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (t fileTensor) open() (elements, error) {
	r, size, err := t.raw()
	if err != nil {
		return nil, err
	}
	return &fileElements{r: r, typ: t.typ, size: size}, nil
}

type fileElements struct {
	r    io.Reader
	typ  string
	size int
	buf  []byte
	wide []float64
}

func (f *fileElements) bytes(n int) ([]byte, error) {
	n *= f.size
	if cap(f.buf) < n {
		f.buf = make([]byte, n)
	}
	b := f.buf[:n]
	if _, err := io.ReadFull(f.r, b); err != nil {
		return nil, noEOF(err)
	}
	return b, nil
}

// littleEndian: this machine keeps numbers as files do.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf is the memory of v.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

func (f *fileElements) read32(dst []float32) error {
	if f.typ == "float64" {
		if cap(f.wide) < len(dst) {
			f.wide = make([]float64, len(dst))
		}
		if err := f.read64(f.wide[:len(dst)]); err != nil {
			return err
		}
		return narrow(dst, f.wide[:len(dst)])
	}
	if f.typ == "float32" && littleEndian {
		if _, err := io.ReadFull(f.r, bytesOf(dst)); err != nil {
			return noEOF(err)
		}
		return nil
	}
	b, err := f.bytes(len(dst))
	if err != nil {
		return err
	}
	switch f.typ {
	case "float32":
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case "float16":
		for i := range dst {
			dst[i] = float16.Frombits(binary.LittleEndian.Uint16(b[2*i:])).Float32()
		}
	case "bfloat16":
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
		}
	}
	return nil
}

func (f *fileElements) read64(dst []float64) error {
	b, err := f.bytes(len(dst))
	if err != nil {
		return err
	}
	switch f.typ {
	case "float64":
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case "float32":
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case "float16":
		for i := range dst {
			dst[i] = float64(float16.Frombits(binary.LittleEndian.Uint16(b[2*i:])).Float32())
		}
	case "bfloat16":
		for i := range dst {
			dst[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
		}
	}
	return nil
}

// rangeError is a finite float64 that float32 cannot hold, at an index of the
// chunk being read.
type rangeError struct {
	index int
	value float64
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("element %d is %g, which float32 cannot hold", e.index, e.value)
}

// narrow rounds src to float32.
func narrow(dst []float32, src []float64) error {
	for i, v := range src {
		dst[i] = float32(v)
		if math.IsInf(float64(dst[i]), 0) && !math.IsInf(v, 0) {
			return &rangeError{i, v}
		}
	}
	return nil
}

// sameBytes reports whether two tensors of a checkpoint hold the same bytes:
// because they are the same memory, or because a program that saved from a GPU
// stored a shared parameter twice.
func sameBytes(a, b fileTensor) (bool, error) {
	if a.typ != b.typ || !slices.Equal(a.dims, b.dims) {
		return false, nil
	}
	if a.memory == b.memory && a.memory.owner != nil {
		return true, nil
	}
	ra, size, err := a.raw()
	if err != nil {
		return false, err
	}
	rb, _, err := b.raw()
	if err != nil {
		return false, err
	}
	left := count(a.dims) * int64(size)
	step := min(left, int64(chunkElements*size))
	pa, pb := make([]byte, step), make([]byte, step)
	for left > 0 {
		n := min(left, step)
		if _, err := io.ReadFull(ra, pa[:n]); err != nil {
			return false, noEOF(err)
		}
		if _, err := io.ReadFull(rb, pb[:n]); err != nil {
			return false, noEOF(err)
		}
		if !bytes.Equal(pa[:n], pb[:n]) {
			return false, nil
		}
		left -= n
	}
	return true, nil
}
