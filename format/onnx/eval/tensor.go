package eval

import (
	"fmt"
	"math"
	"slices"

	"memsizer/format/onnx"
)

// Tensor is a value: floats of a float type, ints of an integer type or bool
// (0 and 1), row-major. It is not changed once made.
type Tensor struct {
	DType  onnx.DType
	Shape  []int // empty for a scalar
	Floats []float32
	Ints   []int64

	view *onnx.View // of a file, while Floats is nil
}

// Floats makes a float32 tensor of data, which it keeps.
func Floats(data []float32, shape ...int) *Tensor {
	return &Tensor{DType: onnx.Float, Shape: shape, Floats: data}
}

// Ints makes an int64 tensor of data, which it keeps.
func Ints(data []int64, shape ...int) *Tensor {
	return &Tensor{DType: onnx.Int64, Shape: shape, Ints: data}
}

// FromFile makes a tensor of one in a file. Floats stay there, integers are
// read now.
func FromFile(t *onnx.Tensor) (*Tensor, error) {
	shape := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		if d > math.MaxInt32 {
			return nil, fmt.Errorf("eval: tensor %q has dimensions %d", t.Name, t.Dims)
		}
		shape[i] = int(d)
	}
	v := &Tensor{DType: t.DType, Shape: shape}
	switch {
	case t.DType.IsFloat():
		view := t.View()
		v.view = &view
	case t.DType.IsInteger():
		v.Ints = make([]int64, t.Elements())
		return v, t.Int64s(v.Ints, 0)
	default:
		return nil, fmt.Errorf("eval: tensor %q is of %v", t.Name, t.DType)
	}
	return v, nil
}

// FromView makes a tensor of a view, whose elements stay in the file.
func FromView(view onnx.View) *Tensor {
	shape := make([]int, len(view.Dims()))
	for i, d := range view.Dims() {
		shape[i] = int(d)
	}
	return &Tensor{DType: view.DType(), Shape: shape, view: &view}
}

// View returns the part of a file that the tensor shows, nil if its elements
// are in memory.
func (t *Tensor) View() *onnx.View { return t.view }

// Elements is the product of the shape.
func (t *Tensor) Elements() int { return product(t.Shape) }

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Values returns the elements of a float tensor, read from the file if they
// are there.
func (t *Tensor) Values() ([]float32, error) {
	if t.view == nil {
		return t.Floats, nil
	}
	data := make([]float32, t.Elements())
	return data, t.view.Read(data)
}

// like makes a tensor of a shape with t's type.
func (t *Tensor) like(shape []int) *Tensor {
	out := &Tensor{DType: t.DType, Shape: slices.Clone(shape)}
	out.alloc()
	return out
}

func (t *Tensor) alloc() {
	if t.DType.IsFloat() {
		t.Floats = make([]float32, t.Elements())
	} else {
		t.Ints = make([]int64, t.Elements())
	}
}

// wrap brings an integer into the range of a type.
func wrap(v int64, d onnx.DType) int64 {
	switch d {
	case onnx.Int32:
		return int64(int32(v))
	case onnx.Uint32:
		return int64(uint32(v))
	case onnx.Int16:
		return int64(int16(v))
	case onnx.Uint16:
		return int64(uint16(v))
	case onnx.Int8:
		return int64(int8(v))
	case onnx.Uint8:
		return int64(uint8(v))
	case onnx.Bool:
		if v != 0 {
			return 1
		}
	}
	return v
}
