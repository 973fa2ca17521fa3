package pytorch

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// maxDims is the most dimensions that a tensor may have, as in torch.
const maxDims = 64

// expandable is the most bytes of a tensor that may be larger than its storage
// (because of strides that are 0). A larger one would make the reader of a
// small file allocate as much as that file likes.
const expandable = 1 << 20

// view is a part of a legacy storage that has an identity of its own.
type view struct {
	storage *Storage
	offset  int64
	size    int64
}

// dims returns the integers of a shape, none negative.
func (m *machine) dims(v any) ([]int, error) {
	list, ok := items(v)
	if !ok {
		return nil, m.corrupt("a shape or strides are %s, want a tuple", kind(v))
	}
	if len(list) > maxDims {
		return nil, m.corrupt("%d dimensions, at most %d", len(list), maxDims)
	}
	dims := make([]int, len(list))
	for i, item := range list {
		n, ok := item.(int64)
		if !ok {
			return nil, m.corrupt("dimension %d is %s, want an integer", i, kind(item))
		}
		if n < 0 || n > math.MaxInt {
			return nil, m.corrupt("dimension %d or its stride is %d", i, n)
		}
		dims[i] = int(n)
	}
	return dims, nil
}

// product returns the product of dims, or false if it overflows.
func product(dims []int) (int64, bool) {
	if slices.Contains(dims, 0) {
		return 0, true
	}
	n := uint64(1)
	for _, d := range dims {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, false
		}
		n = lo
	}
	return int64(n), true
}

// span returns one more than the largest index in the storage of a tensor that
// has elements, or false if that overflows.
func span(offset int64, shape, strides []int) (int64, bool) {
	end := uint64(offset) + 1
	for i, d := range shape {
		hi, lo := bits.Mul64(uint64(d-1), uint64(strides[i]))
		if hi != 0 || lo > math.MaxInt64 || end+lo > math.MaxInt64 {
			return 0, false
		}
		end += lo
	}
	return int64(end), true
}

// rebuildTensor makes a tensor of storage, offset, shape, strides and, from
// version 2 on, whether it requires a gradient, hooks, and more; the element
// type is the storage's, except that version 3 names it after those.
func rebuildTensor(m *machine, args []any) (any, bool, error) {
	if len(args) < 4 {
		return nil, false, m.corrupt("a tensor is made of %d values, want at least 4", len(args))
	}
	t := &Tensor{}
	extent := int64(0)
	switch s := args[0].(type) {
	case *Storage:
		t.Storage, extent = s, s.Elements
	case *Object: // a part of a legacy storage
		v, ok := m.views[s]
		if !ok {
			return nil, false, m.corrupt("a tensor is made of %s, want a storage", kind(args[0]))
		}
		t.Storage, t.Offset, extent = v.storage, v.offset, v.size
	default:
		return nil, false, m.corrupt("a tensor is made of %s, want a storage", kind(args[0]))
	}
	t.DType = t.Storage.DType
	if len(args) > 4 {
		t.RequiresGrad, _ = args[4].(bool)
	}
	if len(args) > 6 {
		if g, ok := args[6].(*Global); ok && g.Module == "torch" { // version 3
			if t.DType = dtypeNames[g.Name]; t.DType == Invalid {
				return m.undescribed("element type " + g.String())
			}
		}
	}
	if why := t.Storage.why; why != "" {
		return m.undescribed(why)
	}
	return m.describe(t, extent, args[1:4])
}

// undescribed leaves a tensor an inert object with a note.
func (m *machine) undescribed(why string) (any, bool, error) {
	return &Object{Module: "torch", Name: "Tensor", Note: why + " is not supported"}, true, nil
}

// describe checks offset, shape and strides against the storage, of which extent
// elements, from t.Offset on, are the tensor's to use, and sets them in t.
func (m *machine) describe(t *Tensor, extent int64, args []any) (any, bool, error) {
	offset, ok := args[0].(int64)
	if !ok || offset < 0 {
		return nil, false, m.corrupt("storage offset %v of a tensor", args[0])
	}
	var err error
	if t.Shape, err = m.dims(args[1]); err != nil {
		return nil, false, err
	}
	if t.Strides, err = m.dims(args[2]); err != nil {
		return nil, false, err
	}
	if len(t.Shape) != len(t.Strides) {
		return nil, false, m.corrupt("a tensor of %d dimensions has %d strides", len(t.Shape), len(t.Strides))
	}
	what := func() string {
		return fmt.Sprintf("a tensor of shape %v, strides %v and offset %d", t.Shape, t.Strides, offset)
	}
	n, ok := product(t.Shape)
	size := int64(t.DType.Size())
	if !ok || n > math.MaxInt64/size {
		return nil, false, m.corrupt("%s has too many elements", what())
	}
	bytes := t.Storage.Elements * int64(t.Storage.DType.Size()) // was checked
	if t.DType != t.Storage.DType {
		extent = extent * int64(t.Storage.DType.Size()) / size
	}
	if n > 0 {
		if end, ok := span(offset, t.Shape, t.Strides); !ok || end > extent {
			return nil, false, m.corrupt("%s leaves its storage %q of %d elements", what(), t.Storage.Key, extent)
		}
	} else if offset > extent {
		return nil, false, m.corrupt("%s starts after its storage %q of %d elements", what(), t.Storage.Key, extent)
	}
	if n*size > max(bytes, expandable) {
		return m.undescribed(fmt.Sprintf("a tensor of shape %v and strides %v, larger than its storage of %d bytes,", t.Shape, t.Strides, bytes))
	}
	t.Offset += offset
	return t, true, m.charge(32 * len(t.Shape))
}

// rebuildParameter marks the tensor that is its first argument as a parameter.
func rebuildParameter(_ *machine, args []any) (any, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	t, ok := args[0].(*Tensor)
	if !ok {
		_, ok := args[0].(*Object) // one that is not described
		return args[0], ok, nil
	}
	p := *t
	p.Parameter = true
	if len(args) > 1 {
		p.RequiresGrad, _ = args[1].(bool)
	}
	return &p, true, nil
}

// rebuildBuffer takes the tensor that is its first argument.
func rebuildBuffer(_ *machine, args []any) (any, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	t, ok := args[0].(*Tensor)
	return t, ok, nil
}

// rebuildFromType makes a tensor of a subclass: of the function that makes the
// tensor, the class, the function's arguments, and a state. Class and state are
// left out.
func rebuildFromType(m *machine, args []any) (any, bool, error) {
	if len(args) < 3 {
		return nil, false, nil
	}
	g, ok1 := args[0].(*Global)
	t, ok2 := args[2].(*Tuple)
	if !ok1 || !ok2 || g.Module != "torch._utils" {
		return nil, false, nil
	}
	switch name, _ := strings.CutPrefix(g.Name, "_rebuild_"); name {
	case "tensor", "tensor_v2", "tensor_v3":
		return rebuildTensor(m, t.Items)
	case "parameter", "parameter_with_state":
		return rebuildParameter(m, t.Items)
	}
	return nil, false, nil
}
