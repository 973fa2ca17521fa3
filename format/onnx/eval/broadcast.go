package eval

import "memsizer/format/onnx"

// broadcast returns the common shape of inputs by numpy's rules.
func (c *call) broadcast(shapes ...[]int) []int {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, d := range s {
			o := &out[rank-len(s)+i]
			switch {
			case *o == 1:
				*o = d
			case d != 1 && d != *o:
				c.fail("shapes %d do not broadcast", shapes)
			}
		}
	}
	c.room(out)
	return out
}

// strides of a tensor of shape, as the dimensions of out run; 0 where it is
// repeated. len(shape) ≤ len(out).
func strides(shape, out []int) []int {
	s := make([]int, len(out))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 {
			s[len(out)-len(shape)+i] = n
		}
		n *= shape[i]
	}
	return s
}

// walk calls fn with the offsets of every element of a tensor of shape, in
// row-major order, under each of the strides.
func walk(shape []int, fn func(off []int), all ...[]int) {
	if product(shape) == 0 {
		return
	}
	index, off := make([]int, len(shape)), make([]int, len(all))
	for {
		fn(off)
		d := len(shape) - 1
		for ; d >= 0; d-- {
			index[d]++
			for k, s := range all {
				off[k] += s[d]
			}
			if index[d] < shape[d] {
				break
			}
			for k, s := range all {
				off[k] -= s[d] * shape[d]
			}
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// number is an element of any type.
type number interface{ ~float32 | ~int64 }

func zip[A, B number](c *call, out []B, shape []int, a, b []A, sa, sb []int, fn func(A, A) B) {
	if len(a) == len(out) && len(b) == len(out) {
		for i := range out {
			out[i] = fn(a[i], b[i])
		}
		return
	}
	i := 0
	walk(shape, func(off []int) {
		out[i] = fn(a[off[0]], b[off[1]])
		i++
	}, strides(sa, shape), strides(sb, shape))
}

func where(c *call) []*Tensor {
	cond, a, b := c.input(0), c.input(1), c.input(2)
	if a.DType != b.DType {
		c.fail("inputs of %v and %v", a.DType, b.DType)
	}
	shape := c.broadcast(cond.Shape, a.Shape, b.Shape)
	mask := c.ints(0)
	out := c.like(a, shape)
	i := 0
	if a.DType.IsFloat() {
		x, y := c.floats(1), c.floats(2)
		walk(shape, func(off []int) {
			out.Floats[i] = y[off[2]]
			if mask[off[0]] != 0 {
				out.Floats[i] = x[off[1]]
			}
			i++
		}, strides(cond.Shape, shape), strides(a.Shape, shape), strides(b.Shape, shape))
		return []*Tensor{out}
	}
	walk(shape, func(off []int) {
		out.Ints[i] = b.Ints[off[2]]
		if mask[off[0]] != 0 {
			out.Ints[i] = a.Ints[off[1]]
		}
		i++
	}, strides(cond.Shape, shape), strides(a.Shape, shape), strides(b.Shape, shape))
	return []*Tensor{out}
}

func expand(c *call) []*Tensor {
	t := c.input(0)
	shape := c.broadcast(t.Shape, c.shape(1))
	out := c.like(t, shape)
	i := 0
	if t.DType.IsFloat() {
		x := c.floats(0)
		walk(shape, func(off []int) { out.Floats[i] = x[off[0]]; i++ }, strides(t.Shape, shape))
	} else {
		walk(shape, func(off []int) { out.Ints[i] = t.Ints[off[0]]; i++ }, strides(t.Shape, shape))
	}
	return []*Tensor{out}
}

// shape returns input i as a shape.
func (c *call) shape(i int) []int {
	list := c.ints(i)
	shape := make([]int, len(list))
	for j, d := range list {
		if d < 0 || d > int64(c.limit) {
			c.fail("shape %d", list)
		}
		shape[j] = int(d)
	}
	c.room(shape)
	return shape
}

func cast(c *call) []*Tensor { return c.cast(onnx.DType(c.node.Int("to", 0))) }

func castLike(c *call) []*Tensor { return c.cast(c.input(1).DType) }

func (c *call) cast(d onnx.DType) []*Tensor {
	t := c.input(0)
	if !d.IsFloat() && !d.IsInteger() {
		c.fail("cast to %v", d)
	}
	if t.view != nil && d.IsFloat() {
		return []*Tensor{FromView(t.view.Cast(d))}
	}
	out := &Tensor{DType: d, Shape: t.Shape}
	switch {
	case t.DType.IsFloat() && d.IsFloat():
		if d == t.DType {
			return []*Tensor{t}
		}
		out.Floats = append([]float32(nil), t.Floats...)
	case t.DType.IsFloat():
		x := c.floats(0)
		out.Ints = make([]int64, len(x))
		for i, v := range x {
			switch {
			case d == onnx.Bool && v != 0:
				out.Ints[i] = 1
			case d != onnx.Bool:
				out.Ints[i] = wrap(int64(v), d)
			}
		}
	case d.IsFloat():
		out.Floats = make([]float32, len(t.Ints))
		for i, v := range t.Ints {
			out.Floats[i] = float32(v)
		}
	default:
		out.Ints = make([]int64, len(t.Ints))
		for i, v := range t.Ints {
			out.Ints[i] = wrap(v, d)
		}
	}
	return []*Tensor{out}
}
