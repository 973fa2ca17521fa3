package eval

import (
	"slices"

	"memsizer/format/onnx"
)

// view returns a tensor of the elements of t in another shape, shared.
func (c *call) reshaped(t *Tensor, shape []int) *Tensor {
	if product(shape) != t.Elements() {
		c.fail("shape %d does not hold the %d elements of %d", shape, t.Elements(), t.Shape)
	}
	if t.view != nil {
		if v, ok := t.view.Reshape(dims64(shape)); ok {
			return FromView(v)
		}
	}
	out := &Tensor{DType: t.DType, Shape: slices.Clone(shape), Ints: t.Ints}
	if t.DType.IsFloat() {
		x, err := t.Values()
		c.must(err)
		out.Floats = x
	}
	return out
}

func dims64(shape []int) []int64 {
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	return dims
}

// ReshapeTo works out the shape that Reshape makes of elements of shape:
// 0 copies a dimension unless allowZero, −1 is what is left. ok is false if it
// cannot be.
func ReshapeTo(shape []int, want []int64, allowZero bool) (out []int, ok bool) {
	total, known, free := product(shape), 1, -1
	for i, d := range want {
		switch {
		case d == -1 && free < 0:
			free = i
			out = append(out, 1)
			continue
		case d < 0 || d > int64(total) && total > 0:
			return nil, false
		case d == 0 && !allowZero:
			if i >= len(shape) {
				return nil, false
			}
			d = int64(shape[i])
		}
		out = append(out, int(d))
		if d != 0 && known > total/int(d) && total > 0 {
			return nil, false
		}
		known *= int(d)
	}
	if free >= 0 {
		if known == 0 || total%known != 0 {
			return nil, false
		}
		out[free] = total / known
	}
	return out, product(out) == total
}

func reshape(c *call) []*Tensor {
	t := c.input(0)
	shape, ok := ReshapeTo(t.Shape, c.ints(1), c.node.Int("allowzero", 0) != 0)
	if !ok {
		c.fail("shape %d does not reshape to %d", t.Shape, c.ints(1))
	}
	return []*Tensor{c.reshaped(t, shape)}
}

func flatten(c *call) []*Tensor {
	t := c.input(0)
	a := c.node.Int("axis", 1)
	if a < 0 {
		a += int64(len(t.Shape))
	}
	if a < 0 || a > int64(len(t.Shape)) {
		c.fail("axis %d of %d dimensions", a, len(t.Shape))
	}
	return []*Tensor{c.reshaped(t, []int{product(t.Shape[:a]), product(t.Shape[a:])})}
}

func unsqueeze(c *call) []*Tensor {
	t := c.input(0)
	var list []int64
	if a := c.node.Attribute("axes"); a != nil {
		list = a.Ints()
	} else {
		list = c.ints(1)
	}
	rank := len(t.Shape) + len(list)
	if rank > 64 {
		c.fail("%d dimensions", rank)
	}
	shape := make([]int, rank)
	for _, a := range list {
		i := c.axis(a, rank)
		if shape[i] != 0 {
			c.fail("axes %d", list)
		}
		shape[i] = 1
	}
	j := 0
	for i := range shape {
		if shape[i] == 0 {
			shape[i] = t.Shape[j]
			j++
		}
	}
	return []*Tensor{c.reshaped(t, shape)}
}

func squeeze(c *call) []*Tensor {
	t := c.input(0)
	axes := c.axes(1, len(t.Shape))
	shape := []int{}
	for i, d := range t.Shape {
		switch {
		case axes == nil && d == 1:
		case slices.Contains(axes, i) && d != 1:
			c.fail("axis %d of %d is not 1", i, t.Shape)
		case slices.Contains(axes, i):
		default:
			shape = append(shape, d)
		}
	}
	return []*Tensor{c.reshaped(t, shape)}
}

// transposed permutes dimensions.
func (c *call) transposed(t *Tensor, perm []int) *Tensor {
	if t.view != nil {
		return FromView(t.view.Transpose(perm))
	}
	shape := make([]int, len(perm))
	own, s := strides(t.Shape, t.Shape), make([]int, len(perm))
	for i, p := range perm {
		shape[i], s[i] = t.Shape[p], own[p]
	}
	return c.picked(t, shape, s, 0)
}

// picked copies elements of t from base on, with strides.
func (c *call) picked(t *Tensor, shape, s []int, base int) *Tensor {
	out := c.like(t, shape)
	i := 0
	if t.DType.IsFloat() {
		x, err := t.Values()
		c.must(err)
		walk(shape, func(off []int) { out.Floats[i] = x[base+off[0]]; i++ }, s)
	} else {
		walk(shape, func(off []int) { out.Ints[i] = t.Ints[base+off[0]]; i++ }, s)
	}
	return out
}

// Permutation returns the permutation of a Transpose of rank dimensions; ok
// is false if its attribute is not one.
func Permutation(n *onnx.Node, rank int) (perm []int, ok bool) {
	seen := make([]bool, rank)
	a := n.Attribute("perm")
	if a == nil {
		for i := range rank {
			perm = append(perm, rank-1-i)
		}
		return perm, true
	}
	for _, p := range a.Ints() {
		if p < 0 || p >= int64(rank) || seen[p] {
			return nil, false
		}
		seen[p] = true
		perm = append(perm, int(p))
	}
	return perm, len(perm) == rank
}

func transpose(c *call) []*Tensor {
	t := c.input(0)
	perm, ok := Permutation(c.node, len(t.Shape))
	if !ok {
		c.fail("permutation of %d dimensions", len(t.Shape))
	}
	return []*Tensor{c.transposed(t, perm)}
}

func concat(c *call) []*Tensor {
	first := c.input(0)
	axis := c.axis(c.node.Int("axis", 0), len(first.Shape))
	shape := slices.Clone(first.Shape)
	for i := 1; i < len(c.in); i++ {
		t := c.input(i)
		if len(t.Shape) != len(shape) || t.DType != first.DType {
			c.fail("inputs of %v %d and %v %d", first.DType, first.Shape, t.DType, t.Shape)
		}
		for j, d := range t.Shape {
			if j == axis {
				shape[j] += d
			} else if d != shape[j] {
				c.fail("shapes %d and %d", first.Shape, t.Shape)
			}
		}
	}
	out := c.like(first, shape)
	outer := product(shape[:axis])
	row := product(shape[axis:])
	at := 0
	for i := range c.in {
		n := product(c.in[i].Shape[axis:])
		if first.DType.IsFloat() {
			copyRows(out.Floats, c.floats(i), outer, row, n, at)
		} else {
			copyRows(out.Ints, c.in[i].Ints, outer, row, n, at)
		}
		at += n
	}
	return []*Tensor{out}
}

func copyRows[T any](dst, src []T, rows, dstRow, srcRow, at int) {
	for r := range rows {
		copy(dst[r*dstRow+at:][:srcRow], src[r*srcRow:])
	}
}

// cut takes n elements of an axis, from start on, step apart.
func (c *call) cut(t *Tensor, axis, start, step, n int) *Tensor {
	if t.view != nil {
		return FromView(t.view.Slice(axis, int64(start), int64(step), int64(n)))
	}
	shape := slices.Clone(t.Shape)
	s := strides(t.Shape, t.Shape)
	base := start * s[axis]
	s[axis] *= step
	shape[axis] = n
	return c.picked(t, shape, s, base)
}

func split(c *call) []*Tensor {
	t := c.input(0)
	axis := c.axis(c.node.Int("axis", 0), len(t.Shape))
	d := t.Shape[axis]
	var sizes []int64
	if c.has(1) {
		sizes = c.ints(1)
	} else if a := c.node.Attribute("split"); a != nil {
		sizes = a.Ints()
	} else {
		n := int(c.node.Int("num_outputs", int64(len(c.node.Outputs))))
		if n < 1 || n > max(d, 1) {
			c.fail("%d parts of %d", n, d)
		}
		each := (d + n - 1) / n
		for at := 0; len(sizes) < n; at += each {
			sizes = append(sizes, int64(max(0, min(each, d-at))))
		}
	}
	var out []*Tensor
	at := 0
	for _, n := range sizes {
		if n < 0 || n > int64(d-at) {
			c.fail("parts %d of %d", sizes, d)
		}
		out = append(out, c.cut(t, axis, at, 1, int(n)))
		at += int(n)
	}
	if at != d {
		c.fail("parts %d of %d", sizes, d)
	}
	return out
}

func sliceOp(c *call) []*Tensor {
	t := c.input(0)
	starts, ends := c.ints(1), c.ints(2)
	if len(starts) != len(ends) {
		c.fail("%d starts and %d ends", len(starts), len(ends))
	}
	for i := range starts {
		a, step := int64(i), int64(1)
		if c.has(3) {
			if len(c.ints(3)) != len(starts) {
				c.fail("%d axes for %d starts", len(c.ints(3)), len(starts))
			}
			a = c.ints(3)[i]
		}
		if c.has(4) {
			if len(c.ints(4)) != len(starts) {
				c.fail("%d steps for %d starts", len(c.ints(4)), len(starts))
			}
			step = c.ints(4)[i]
		}
		axis := c.axis(a, len(t.Shape))
		start, n, ok := SliceRange(int64(t.Shape[axis]), starts[i], ends[i], step)
		if !ok {
			c.fail("a step of %d", step)
		}
		t = c.cut(t, axis, int(start), int(step), int(n))
	}
	return []*Tensor{t}
}

// SliceRange works out what a slice start:end:step takes of a dimension of d
// elements: the first index and the number. ok is false for a step of 0 or
// one beyond 32 bits.
func SliceRange(d, start, end, step int64) (first, n int64, ok bool) {
	if step == 0 || step != int64(int32(step)) {
		return 0, 0, false
	}
	if start < 0 {
		start += d
	}
	if end < 0 {
		end += d
	}
	if step > 0 {
		start, end = min(max(start, 0), d), min(max(end, 0), d)
		return start, max(0, (end-start+step-1)/step), true
	}
	start, end = min(max(start, 0), d-1), min(max(end, -1), d-1)
	n = max(0, (start-end-step-1)/-step)
	if n == 0 {
		start = 0
	}
	return start, n, true
}
