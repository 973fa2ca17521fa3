package eval

import (
	"slices"
)

func tile(c *call) []*Tensor {
	t := c.input(0)
	repeats := c.ints(1)
	if len(repeats) != len(t.Shape) {
		c.fail("%d repeats of %d dimensions", len(repeats), len(t.Shape))
	}
	// Each dimension [d] becomes [repeat, d], the first with stride 0.
	var shape, merged, s []int
	own := strides(t.Shape, t.Shape)
	for i, r := range repeats {
		if r < 0 || r > int64(c.limit) {
			c.fail("repeats %d", repeats)
		}
		shape = append(shape, int(r), t.Shape[i])
		s = append(s, 0, own[i])
		c.room([]int{int(r), t.Shape[i]})
		merged = append(merged, int(r)*t.Shape[i])
	}
	out := c.picked(t, shape, s, 0)
	out.Shape = merged
	return []*Tensor{out}
}

func trilu(c *call) []*Tensor {
	t := c.input(0)
	if len(t.Shape) < 2 {
		c.fail("%d dimensions", len(t.Shape))
	}
	k := int64(0)
	if c.has(1) {
		if k = 0; len(c.ints(1)) != 1 {
			c.fail("a diagonal of %d elements", len(c.ints(1)))
		}
		k = c.ints(1)[0]
	}
	upper := c.node.Int("upper", 1) != 0
	rows, cols := t.Shape[len(t.Shape)-2], t.Shape[len(t.Shape)-1]
	out := c.like(t, t.Shape)
	var x []float32
	if t.DType.IsFloat() {
		x = c.floats(0)
	}
	for i := range out.Elements() {
		r, col := int64(i/cols%rows), int64(i%cols)
		if upper && col < r+k || !upper && col > r+k {
			continue
		}
		if x != nil {
			out.Floats[i] = x[i]
		} else {
			out.Ints[i] = t.Ints[i]
		}
	}
	return []*Tensor{out}
}

// pad is Pad with a constant.
func pad(c *call) []*Tensor {
	t := c.input(0)
	if mode := c.text("mode", "constant"); mode != "constant" {
		c.fail("mode %q", mode)
	}
	pads := c.ints(1)
	axes := make([]int, 0, len(t.Shape))
	if c.has(3) {
		for _, a := range c.ints(3) {
			axes = append(axes, c.axis(a, len(t.Shape)))
		}
	} else {
		for i := range t.Shape {
			axes = append(axes, i)
		}
	}
	if len(pads) != 2*len(axes) {
		c.fail("%d pads of %d axes", len(pads), len(axes))
	}
	shape, before := slices.Clone(t.Shape), make([]int, len(t.Shape))
	for i, a := range axes {
		lo, hi := pads[i], pads[len(axes)+i]
		if lo < 0 || hi < 0 || lo > int64(c.limit) || hi > int64(c.limit) {
			c.fail("pads %d", pads)
		}
		before[a] += int(lo)
		shape[a] += int(lo) + int(hi)
	}
	out := c.like(t, shape)
	if c.has(2) {
		c.scalar(2)
		for i := range out.Floats {
			out.Floats[i] = c.floats(2)[0]
		}
		for i := range out.Ints {
			out.Ints[i] = c.ints(2)[0]
		}
	}
	own := strides(shape, shape)
	base := 0
	for i, b := range before {
		base += b * own[i]
	}
	var x []float32
	if t.DType.IsFloat() {
		x = c.floats(0)
	}
	i := 0
	walk(t.Shape, func(off []int) {
		if x != nil {
			out.Floats[base+off[0]] = x[i]
		} else {
			out.Ints[base+off[0]] = t.Ints[i]
		}
		i++
	}, own)
	return []*Tensor{out}
}
