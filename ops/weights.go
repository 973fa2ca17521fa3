package ops

import (
	"fmt"
	"unsafe"

	"memsizer/simd"
)

// DType is the element type of stored weights.
type DType uint8

// The element types: IEEE single, half, bfloat16, and int8 with one float32
// scale per row.
const (
	F32 DType = iota
	F16
	BF16
	I8
)

// Weights are a stored matrix [Rows, Cols], row-major little-endian, as a
// file holds it: Data starts at an address that suits the element type.
// Scales has one entry per row for I8 and is nil otherwise.
type Weights struct {
	DType      DType
	Rows, Cols int
	Data       []byte
	Scales     []float32
	// Done, if not nil, is told by NewLinear, from any goroutine, that it will
	// not look at the data of rows lo to hi again.
	Done func(lo, hi int)
}

// view is data as elements of T; empty data gives an empty slice.
func view[T float32 | uint16 | int8](data []byte, n int) []T {
	var t T
	if n == 0 {
		return nil
	}
	if size := int(unsafe.Sizeof(t)); len(data) < n*size || uintptr(unsafe.Pointer(&data[0]))%uintptr(size) != 0 {
		panic(fmt.Sprintf("ops: weights: %d bytes at %p for %d elements of %d bytes", len(data), &data[0], n, size))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), n)
}

func (w *Weights) floats() []float32 { return view[float32](w.Data, w.Rows*w.Cols) }
func (w *Weights) halfs() []uint16   { return view[uint16](w.Data, w.Rows*w.Cols) }
func (w *Weights) bytes() []int8     { return view[int8](w.Data, w.Rows*w.Cols) }

// Row writes row i, converted to float32, to dst [Cols].
func (w *Weights) Row(dst []float32, i int) {
	if len(dst) != w.Cols || i < 0 || i >= w.Rows {
		panic(fmt.Sprintf("ops: row %d of [%d %d] into %d floats", i, w.Rows, w.Cols, len(dst)))
	}
	lo, hi := i*w.Cols, (i+1)*w.Cols
	switch w.DType {
	case F32:
		copy(dst, w.floats()[lo:hi])
	case F16:
		simd.F32FromF16(dst, w.halfs()[lo:hi])
	case BF16:
		simd.F32FromBF16(dst, w.halfs()[lo:hi])
	case I8:
		for j, v := range w.bytes()[lo:hi] {
			dst[j] = float32(v) * w.Scales[i]
		}
	}
}

// Floats converts the whole matrix.
func (w *Weights) Floats() []float32 {
	out := make([]float32, w.Rows*w.Cols)
	for i := range w.Rows {
		w.Row(out[i*w.Cols:(i+1)*w.Cols], i)
	}
	return out
}

// Transposed is the matrix [Cols, Rows] as float32 weights.
func (w *Weights) Transposed() *Weights {
	t := make([]float32, w.Rows*w.Cols)
	row := make([]float32, w.Cols)
	for i := range w.Rows {
		w.Row(row, i)
		for j, v := range row {
			t[j*w.Rows+i] = v
		}
	}
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t))), 4*len(t))
	return &Weights{DType: F32, Rows: w.Cols, Cols: w.Rows, Data: data}
}
