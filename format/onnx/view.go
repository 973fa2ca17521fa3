package onnx

import (
	"fmt"
	"slices"

	"github.com/x448/float16"
)

// View is a rearrangement of a float tensor whose elements are not read yet:
// a transposition, a slice, a reshaping, or a cast to another float type, of
// a tensor in the file. Views are values; methods return new ones.
type View struct {
	tensor  *Tensor
	dtype   DType
	offset  int64 // of the first element, in elements
	dims    []int64
	strides []int64 // in elements
	rounded []DType // precisions that the elements went through, in order
}

// View returns the tensor as it is.
func (t *Tensor) View() View {
	v := View{tensor: t, dtype: t.DType, dims: slices.Clone(t.Dims)}
	v.strides = contiguous(v.dims)
	return v
}

func contiguous(dims []int64) []int64 {
	s := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= max(dims[i], 1)
	}
	return s
}

// Tensor is the tensor viewed.
func (v View) Tensor() *Tensor { return v.tensor }

// DType is the element type of the view.
func (v View) DType() DType { return v.dtype }

// Dims are the dimensions of the view; the caller must not change them.
func (v View) Dims() []int64 { return v.dims }

// Elements is the product of the dimensions.
func (v View) Elements() int64 {
	n := int64(1)
	for _, d := range v.dims {
		n *= d
	}
	return n
}

// Contiguous reports whether the elements lie in the file in the view's order,
// without gaps.
func (v View) Contiguous() bool {
	w, ok := v.Reshape([]int64{v.Elements()})
	return ok && (w.dims[0] <= 1 || w.strides[0] == 1)
}

// Same reports whether both views show the same elements of the same tensor
// in the same order.
func (v View) Same(w View) bool {
	return v.tensor == w.tensor && v.offset == w.offset && slices.Equal(v.dims, w.dims) &&
		slices.Equal(v.strides, w.strides) && slices.Equal(v.rounded, w.rounded)
}

// Cast returns the view with its elements in another float type.
func (v View) Cast(d DType) View {
	if precision(d) < precision(v.dtype) || d != v.dtype && precision(d) == precision(v.dtype) {
		v.rounded = append(slices.Clone(v.rounded), d)
	}
	v.dtype = d
	return v
}

func precision(d DType) int {
	switch d {
	case Double:
		return 3
	case Float:
		return 2
	}
	return 1 // half and bfloat16: neither holds the other
}

// Transpose permutes the dimensions: the view's dimension i is v's perm[i].
func (v View) Transpose(perm []int) View {
	dims, strides := make([]int64, len(perm)), make([]int64, len(perm))
	for i, p := range perm {
		dims[i], strides[i] = v.dims[p], v.strides[p]
	}
	v.dims, v.strides = dims, strides
	return v
}

// Slice takes n elements of a dimension, from start on, step apart (step may
// be negative). The range must lie within the dimension.
func (v View) Slice(axis int, start, step, n int64) View {
	v.dims, v.strides = slices.Clone(v.dims), slices.Clone(v.strides)
	v.offset += start * v.strides[axis]
	v.dims[axis] = n
	v.strides[axis] *= step
	return v
}

// Reshape returns the view with other dimensions and the same elements in the
// same row-major order; ok is false if no view can show them so.
func (v View) Reshape(dims []int64) (w View, ok bool) {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	if n != v.Elements() {
		return v, false
	}
	strides := contiguous(dims)
	if old := v.squeezed(); n > 0 && !old.regroup(dims, strides) {
		return v, false
	}
	v.dims, v.strides = slices.Clone(dims), strides
	return v, true
}

// regroup finds the strides of new dimensions with the same product: from the
// front, the smallest groups of old and new dimensions with equal products,
// of which the old ones must be evenly strided. v has no dimension of 1.
func (v View) regroup(dims, strides []int64) bool {
	i, j := 0, 0 // next new and old dimension
	for i < len(dims) && j < len(v.dims) {
		newN, oldN, i1, j1 := dims[i], v.dims[j], i+1, j+1
		for newN != oldN {
			if newN < oldN {
				newN *= dims[i1]
				i1++
			} else {
				oldN *= v.dims[j1]
				j1++
			}
		}
		for k := j; k < j1-1; k++ {
			if v.strides[k] != v.dims[k+1]*v.strides[k+1] {
				return false
			}
		}
		s := v.strides[j1-1]
		for k := i1 - 1; k >= i; k-- {
			strides[k] = s
			s *= dims[k]
		}
		i, j = i1, j1
	}
	return true
}

// maxBand bounds the elements held while a transposed view is read.
const maxBand = 1 << 20

// Stream calls fn with the view's elements in row-major order as float32, in
// chunks that fn must not keep. A tensor stored in row-major order passes
// through a small buffer, a transposed matrix in bands of rows.
func (v View) Stream(fn func([]float32) error) error {
	n := v.Elements()
	if n == 0 {
		return nil
	}
	if v.tensor.Sequential() {
		return v.gather(fn)
	}
	if v.Contiguous() {
		buf := make([]float32, min(n, chunk))
		return v.run(v.offset, n, buf, fn)
	}
	w := v.squeezed()
	switch {
	case len(w.dims) > 0 && w.strides[len(w.dims)-1] == 1:
		return w.rows(fn)
	case len(w.dims) == 2 && w.strides[0] == 1 && w.strides[1] >= w.dims[0]:
		return w.transposed(fn)
	}
	return v.gather(fn)
}

// Read reads the whole view, len(dst) elements.
func (v View) Read(dst []float32) error {
	if int64(len(dst)) != v.Elements() {
		return fmt.Errorf("onnx: %q: tensor %q: %d elements wanted of a view of %d", v.tensor.file.Name, v.tensor.Name, len(dst), v.Elements())
	}
	return v.Stream(func(c []float32) error {
		dst = dst[copy(dst, c):]
		return nil
	})
}

func (v View) round(x []float32) {
	for _, d := range v.rounded {
		RoundTo(x, d)
	}
}

// RoundTo rounds x to the values of a float type, to nearest even.
func RoundTo(x []float32, d DType) {
	switch d {
	case Float16:
		for i, f := range x {
			x[i] = float16.Fromfloat32(f).Float32()
		}
	case BFloat16:
		for i, f := range x {
			x[i] = roundBFloat16(f)
		}
	}
}

func (v View) run(off, n int64, buf []float32, fn func([]float32) error) error {
	for n > 0 {
		b := buf[:min(n, int64(len(buf)))]
		if err := v.tensor.Float32s(b, off); err != nil {
			return err
		}
		v.round(b)
		if err := fn(b); err != nil {
			return err
		}
		off += int64(len(b))
		n -= int64(len(b))
	}
	return nil
}

// squeezed drops dimensions of one element.
func (v View) squeezed() View {
	var dims, strides []int64
	for i, d := range v.dims {
		if d != 1 {
			dims, strides = append(dims, d), append(strides, v.strides[i])
		}
	}
	v.dims, v.strides = dims, strides
	return v
}

// rows streams a view whose rows are stored in one piece each.
func (v View) rows(fn func([]float32) error) error {
	last := len(v.dims) - 1
	buf := make([]float32, min(v.dims[last], chunk))
	return v.each(last, v.offset, 0, func(off int64) error { return v.run(off, v.dims[last], buf, fn) })
}

// each calls fn with the offset of each index of dimensions axis … upto−1.
func (v View) each(upto int, off int64, axis int, fn func(int64) error) error {
	if axis == upto {
		return fn(off)
	}
	for i := range v.dims[axis] {
		if err := v.each(upto, off+i*v.strides[axis], axis+1, fn); err != nil {
			return err
		}
	}
	return nil
}

// tile is how many stored columns are turned at a time: a cache line.
const tile = 16

// transposed streams a matrix that is stored column by column.
func (v View) transposed(fn func([]float32) error) error {
	rows, cols := v.dims[0], v.dims[1]
	band := max(1, min(rows, maxBand/cols))
	stored, out := make([]float32, band*tile), make([]float32, band*cols)
	for r := int64(0); r < rows; r += band {
		n := min(band, rows-r)
		for c := int64(0); c < cols; c += tile {
			k := min(tile, cols-c)
			for j := range k {
				if err := v.tensor.Float32s(stored[j*band:j*band+n], v.offset+r+(c+j)*v.strides[1]); err != nil {
					return err
				}
			}
			for i := range n {
				line := out[i*cols+c:][:k]
				for j := range line {
					line[j] = stored[int64(j)*band+i]
				}
			}
		}
		v.round(out[:n*cols])
		if err := fn(out[:n*cols]); err != nil {
			return err
		}
	}
	return nil
}

// gather reads the whole tensor first.
func (v View) gather(fn func([]float32) error) error {
	all := make([]float32, v.tensor.Elements())
	if err := v.tensor.Float32s(all, 0); err != nil {
		return err
	}
	buf := make([]float32, 0, chunk)
	flush := func() error {
		v.round(buf)
		err := fn(buf)
		buf = buf[:0]
		return err
	}
	err := v.each(len(v.dims), v.offset, 0, func(off int64) error {
		if buf = append(buf, all[off]); len(buf) < chunk {
			return nil
		}
		return flush()
	})
	if err == nil && len(buf) > 0 {
		err = flush()
	}
	return err
}
