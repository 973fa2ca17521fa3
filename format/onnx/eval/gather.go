package eval

import (
	"slices"

	"memsizer/format/onnx"
)

// index brings an index into 0 … d−1.
func (c *call) index(v int64, d int) int {
	if v < 0 {
		v += int64(d)
	}
	if v < 0 || v >= int64(d) {
		c.fail("index %d of %d", v, d)
	}
	return int(v)
}

func gather(c *call) []*Tensor {
	t, ids := c.input(0), c.input(1)
	axis := c.axis(c.node.Int("axis", 0), len(t.Shape))
	shape := append(slices.Clone(t.Shape[:axis]), ids.Shape...)
	shape = append(shape, t.Shape[axis+1:]...)
	d, row := t.Shape[axis], product(t.Shape[axis+1:])
	list := c.ints(1)
	if t.view != nil && axis == 0 && (len(ids.Shape) > 0 || row > 1) { // rows of a table
		out := c.like(t, shape)
		for i, v := range list {
			c.must(t.view.Slice(0, int64(c.index(v, d)), 1, 1).Read(out.Floats[i*row : (i+1)*row]))
		}
		return []*Tensor{out}
	}
	out := c.like(t, shape)
	at := 0
	var x []float32
	if t.DType.IsFloat() {
		x = c.floats(0)
	}
	for o := range product(t.Shape[:axis]) {
		for _, v := range list {
			from := (o*d + c.index(v, d)) * row
			if x != nil {
				copy(out.Floats[at:], x[from:from+row])
			} else {
				copy(out.Ints[at:], t.Ints[from:from+row])
			}
			at += row
		}
	}
	return []*Tensor{out}
}

// take copies element from of t to element to of out; x are t's floats.
func take(out *Tensor, to int, t *Tensor, x []float32, from int) {
	if x != nil {
		out.Floats[to] = x[from]
	} else {
		out.Ints[to] = t.Ints[from]
	}
}

func (c *call) floatsIf(i int) []float32 {
	if c.input(i).DType.IsFloat() {
		return c.floats(i)
	}
	return nil
}

func gatherElements(c *call) []*Tensor {
	t, ids := c.input(0), c.input(1)
	axis := c.axis(c.node.Int("axis", 0), len(t.Shape))
	if len(ids.Shape) != len(t.Shape) {
		c.fail("shapes %d and %d", t.Shape, ids.Shape)
	}
	for i, d := range ids.Shape {
		if i != axis && d > t.Shape[i] {
			c.fail("shapes %d and %d", t.Shape, ids.Shape)
		}
	}
	out := c.like(t, ids.Shape)
	x, list, i := c.floatsIf(0), c.ints(1), 0
	own := strides(t.Shape, t.Shape)
	along := own[axis]
	own[axis] = 0
	walk(ids.Shape, func(off []int) {
		take(out, i, t, x, off[0]+c.index(list[i], t.Shape[axis])*along)
		i++
	}, own)
	return []*Tensor{out}
}

// tuples reads index tuples [.., n] into t's first dimensions (after batch
// ones) and calls fn with the offset each stands for.
func (c *call) tuples(t, ids *Tensor, batch int, fn func(i, off, size int)) {
	if len(ids.Shape) == 0 || batch < 0 || batch >= len(ids.Shape) || batch > len(t.Shape) {
		c.fail("shapes %d and %d", t.Shape, ids.Shape)
	}
	n := ids.Shape[len(ids.Shape)-1]
	if n > len(t.Shape)-batch || !slices.Equal(t.Shape[:batch], ids.Shape[:batch]) {
		c.fail("shapes %d and %d", t.Shape, ids.Shape)
	}
	size, whole := product(t.Shape[batch+n:]), product(t.Shape[batch:])
	per := product(ids.Shape[batch : len(ids.Shape)-1])
	for i := range product(ids.Shape[:len(ids.Shape)-1]) {
		off := 0
		for j := range n {
			off = off*t.Shape[batch+j] + c.index(ids.Ints[i*n+j], t.Shape[batch+j])
		}
		fn(i, off*size+i/max(per, 1)*whole, size)
	}
}

func gatherND(c *call) []*Tensor {
	t, ids := c.input(0), c.input(1)
	c.ints(1)
	batch := int(c.node.Int("batch_dims", 0))
	if len(ids.Shape) == 0 || batch < 0 || batch+ids.Shape[len(ids.Shape)-1] > len(t.Shape) {
		c.fail("shapes %d and %d", t.Shape, ids.Shape)
	}
	n := ids.Shape[len(ids.Shape)-1]
	shape := append(slices.Clone(ids.Shape[:len(ids.Shape)-1]), t.Shape[batch+n:]...)
	out := c.like(t, shape)
	x := c.floatsIf(0)
	c.tuples(t, ids, batch, func(i, off, size int) {
		for k := range size {
			take(out, i*size+k, t, x, off+k)
		}
	})
	return []*Tensor{out}
}

// updated returns a copy of input 0, for scattering, and input 2, the updates.
func (c *call) updated() (out, updates *Tensor, x []float32) {
	t, updates := c.input(0), c.input(2)
	if t.DType != updates.DType {
		c.fail("inputs of %v and %v", t.DType, updates.DType)
	}
	if r := c.text("reduction", "none"); r != "none" {
		c.fail("reduction %q", r)
	}
	out = c.like(t, t.Shape)
	copy(out.Floats, c.floatsIf(0))
	copy(out.Ints, t.Ints)
	return out, updates, c.floatsIf(2)
}

func scatterND(c *call) []*Tensor {
	ids := c.input(1)
	c.ints(1)
	out, updates, x := c.updated()
	if len(ids.Shape) == 0 || ids.Shape[len(ids.Shape)-1] > len(out.Shape) {
		c.fail("shapes %d and %d", out.Shape, ids.Shape)
	}
	n := ids.Shape[len(ids.Shape)-1]
	want := append(slices.Clone(ids.Shape[:len(ids.Shape)-1]), out.Shape[n:]...)
	if !slices.Equal(want, updates.Shape) {
		c.fail("updates of shape %d, want %d", updates.Shape, want)
	}
	c.tuples(out, ids, 0, func(i, off, size int) {
		for k := range size {
			take(out, off+k, updates, x, i*size+k)
		}
	})
	return []*Tensor{out}
}

func scatterElements(c *call) []*Tensor {
	ids := c.input(1)
	out, updates, x := c.updated()
	axis := c.axis(c.node.Int("axis", 0), len(out.Shape))
	if !slices.Equal(ids.Shape, updates.Shape) || len(ids.Shape) != len(out.Shape) {
		c.fail("shapes %d, %d and %d", out.Shape, ids.Shape, updates.Shape)
	}
	for i, d := range ids.Shape {
		if i != axis && d > out.Shape[i] {
			c.fail("shapes %d and %d", out.Shape, ids.Shape)
		}
	}
	own := strides(out.Shape, out.Shape)
	along := own[axis]
	own[axis] = 0
	list, i := c.ints(1), 0
	walk(ids.Shape, func(off []int) {
		take(out, off[0]+c.index(list[i], out.Shape[axis])*along, updates, x, i)
		i++
	}, own)
	return []*Tensor{out}
}

func nonZero(c *call) []*Tensor {
	t := c.input(0)
	x := c.floatsIf(0)
	var found []int
	for i := range t.Elements() {
		if x != nil && x[i] != 0 || x == nil && t.Ints[i] != 0 {
			found = append(found, i)
		}
	}
	out := c.typed(onnx.Int64, []int{len(t.Shape), len(found)})
	step := t.Elements()
	for d, n := range t.Shape {
		step /= max(n, 1)
		for j, i := range found {
			out.Ints[d*len(found)+j] = int64(i / max(step, 1) % n)
		}
	}
	return []*Tensor{out}
}

func oneHot(c *call) []*Tensor {
	ids, values := c.input(0), c.input(2)
	depth := c.ints(1)
	if len(depth) != 1 || depth[0] < 1 || depth[0] > int64(c.limit) || values.Elements() != 2 {
		c.fail("a depth of %d", depth)
	}
	n := int(depth[0])
	axis := c.axis(c.node.Int("axis", -1), len(ids.Shape)+1)
	shape := slices.Insert(slices.Clone(ids.Shape), axis, n)
	out := c.like(values, shape)
	x := c.floatsIf(2)
	for i := range out.Elements() {
		take(out, i, values, x, 0)
	}
	list, i := c.ints(0), 0
	own := strides(shape, shape)
	along := own[axis]
	walk(ids.Shape, func(off []int) {
		if v := list[i]; v >= -int64(n) && v < int64(n) {
			take(out, off[0]+c.index(v, n)*along, values, x, 1)
		}
		i++
	}, slices.Delete(slices.Clone(own), axis, axis+1))
	return []*Tensor{out}
}
