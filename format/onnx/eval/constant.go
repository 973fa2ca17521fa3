package eval

import (
	"math"

	"memsizer/format/onnx"
)

// ConstantOf returns the value of a Constant node.
func ConstantOf(n *onnx.Node) (*Tensor, error) {
	out, err := Apply(n, nil, 0, DefaultLimit)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func constant(c *call) []*Tensor {
	for i := range c.node.Attributes {
		a := &c.node.Attributes[i]
		switch a.Name {
		case "value":
			if a.Tensor() == nil {
				c.fail("no tensor")
			}
			t, err := FromFile(a.Tensor())
			c.must(err)
			return []*Tensor{t}
		case "value_float":
			return []*Tensor{Floats([]float32{a.Float()})}
		case "value_int":
			return []*Tensor{Ints([]int64{a.Int()})}
		case "value_floats":
			return []*Tensor{Floats(a.Floats(), len(a.Floats()))}
		case "value_ints":
			return []*Tensor{Ints(a.Ints(), len(a.Ints()))}
		}
	}
	c.fail("no value that is read")
	return nil
}

func constantOfShape(c *call) []*Tensor {
	shape := c.shape(0)
	a := c.node.Attribute("value")
	if a == nil || a.Tensor() == nil {
		return []*Tensor{c.typed(onnx.Float, shape)}
	}
	if a.Tensor().Elements() != 1 {
		c.fail("a value of %d elements", a.Tensor().Elements())
	}
	v, err := FromFile(a.Tensor())
	c.must(err)
	out := c.like(v, shape)
	x, err := v.Values()
	c.must(err)
	for i := range out.Elements() {
		take(out, i, v, x, 0)
	}
	return []*Tensor{out}
}

func rangeOp(c *call) []*Tensor {
	start, end, step := c.input(0), c.scalar(1), c.scalar(2)
	if start.Elements() != 1 {
		c.fail("a start of shape %d", start.Shape)
	}
	if start.DType.IsFloat() {
		a, b, d := float64(c.floats(0)[0]), float64(c.floats(1)[0]), float64(c.floats(2)[0])
		n := math.Ceil((b - a) / d)
		if !(n < float64(c.limit)) {
			c.fail("a range from %v to %v by %v", a, b, d)
		}
		out := c.like(start, []int{int(max(n, 0))})
		for i := range out.Floats {
			out.Floats[i] = float32(a + float64(i)*d)
		}
		return []*Tensor{out}
	}
	a, b, d := start.Ints[0], end.Ints[0], step.Ints[0]
	if d == 0 || d == math.MinInt64 || a > math.MaxInt64/4 || a < -math.MaxInt64/4 || b > math.MaxInt64/4 || b < -math.MaxInt64/4 {
		c.fail("a range from %d to %d by %d", a, b, d)
	}
	n := (b - a) / d
	if a+n*d != b && (n > 0 || (b > a) == (d > 0)) {
		n++
	}
	if n > int64(c.limit) {
		c.fail("a range from %d to %d by %d", a, b, d)
	}
	out := c.like(start, []int{int(max(n, 0))})
	for i := range out.Ints {
		out.Ints[i] = a + int64(i)*d
	}
	return []*Tensor{out}
}

func eyeLike(c *call) []*Tensor {
	t := c.input(0)
	if len(t.Shape) != 2 {
		c.fail("%d dimensions", len(t.Shape))
	}
	out := c.typed(onnx.DType(c.node.Int("dtype", int64(t.DType))), t.Shape)
	k := c.node.Int("k", 0)
	for i := range t.Shape[0] {
		j := int64(i) + k
		if j < 0 || j >= int64(t.Shape[1]) {
			continue
		}
		if out.DType.IsFloat() {
			out.Floats[i*t.Shape[1]+int(j)] = 1
		} else {
			out.Ints[i*t.Shape[1]+int(j)] = 1
		}
	}
	return []*Tensor{out}
}

func identity(c *call) []*Tensor { return []*Tensor{c.input(0)} }

// dropout is Dropout outside training: nothing is dropped.
func dropout(c *call) []*Tensor {
	if c.has(2) && len(c.ints(2)) == 1 && c.ints(2)[0] != 0 {
		c.fail("dropout in training")
	}
	t := c.input(0)
	mask := c.typed(onnx.Bool, t.Shape)
	for i := range mask.Ints {
		mask.Ints[i] = 1
	}
	return []*Tensor{t, mask}
}

func shapeOp(c *call) []*Tensor {
	t := c.input(0)
	rank := int64(len(t.Shape))
	bound := func(v int64) int64 {
		if v < 0 {
			v += rank
		}
		return min(max(v, 0), rank)
	}
	start, end := bound(c.node.Int("start", 0)), bound(c.node.Int("end", rank))
	out := []int64{}
	for i := start; i < end; i++ {
		out = append(out, int64(t.Shape[i]))
	}
	return []*Tensor{Ints(out, len(out))}
}

func sizeOp(c *call) []*Tensor {
	return []*Tensor{Ints([]int64{int64(c.input(0).Elements())})}
}
