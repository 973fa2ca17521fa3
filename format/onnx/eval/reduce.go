package eval

import (
	"math"
	"slices"

	"memsizer/format/onnx"
)

// reduction folds elements: each value into the accumulator, then the end.
type reduction struct {
	start float64
	fold  func(acc, x float64) float64
	end   func(acc float64, n int) float64
}

func sum(acc, x float64) float64       { return acc + x }
func keep(acc float64, _ int) float64  { return acc }
func square(acc, x float64) float64    { return acc + x*x }
func largest(acc, x float64) float64   { return max(acc, x) }
func smallest(acc, x float64) float64  { return min(acc, x) }
func mean(acc float64, n int) float64  { return acc / float64(n) }
func root(acc float64, _ int) float64  { return math.Sqrt(acc) }
func logOf(acc float64, _ int) float64 { return math.Log(acc) }
func absSum(acc, x float64) float64    { return acc + math.Abs(x) }
func multiply(acc, x float64) float64  { return acc * x }
func exponents(acc, x float64) float64 { return acc + math.Exp(x) }

var reductions = map[string]reduction{
	"ReduceMean":      {0, sum, mean},
	"ReduceSum":       {0, sum, keep},
	"ReduceMax":       {math.Inf(-1), largest, keep},
	"ReduceMin":       {math.Inf(1), smallest, keep},
	"ReduceProd":      {1, multiply, keep},
	"ReduceL1":        {0, absSum, keep},
	"ReduceL2":        {0, square, root},
	"ReduceSumSquare": {0, square, keep},
	"ReduceLogSum":    {0, sum, logOf},
	"ReduceLogSumExp": {0, exponents, logOf},
}

func reduce(c *call) []*Tensor {
	t := c.input(0)
	rank := len(t.Shape)
	axes := c.axes(1, rank)
	if len(axes) == 0 {
		if c.node.Int("noop_with_empty_axes", 0) != 0 {
			return []*Tensor{t}
		}
		for i := range rank {
			axes = append(axes, i)
		}
	}
	kept, shape := make([]int, rank), []int{}
	n := 1
	for i, d := range t.Shape {
		kept[i] = d
		if slices.Contains(axes, i) {
			kept[i] = 1
			n *= d
			if c.node.Int("keepdims", 1) != 0 {
				shape = append(shape, 1)
			}
		} else {
			shape = append(shape, d)
		}
	}
	out := c.like(t, shape)
	r := reductions[c.node.OpType]
	acc := make([]float64, out.Elements())
	for i := range acc {
		acc[i] = r.start
	}
	i := 0
	if t.DType.IsFloat() {
		x := c.floats(0)
		walk(t.Shape, func(off []int) { acc[off[0]] = r.fold(acc[off[0]], float64(x[i])); i++ }, strides(kept, t.Shape))
	} else {
		walk(t.Shape, func(off []int) { acc[off[0]] = r.fold(acc[off[0]], float64(t.Ints[i])); i++ }, strides(kept, t.Shape))
	}
	for i, a := range acc {
		if t.DType.IsFloat() {
			out.Floats[i] = float32(r.end(a, n))
		} else {
			out.Ints[i] = wrap(int64(r.end(a, n)), t.DType)
		}
	}
	return []*Tensor{out}
}

// lanes calls fn with the offset of every line of elements along an axis; n is
// its length and step the distance of neighbours.
func lanes(shape []int, axis int, fn func(off, n, step int)) {
	n, step := shape[axis], product(shape[axis+1:])
	for o := range product(shape[:axis]) {
		for i := range step {
			fn(o*n*step+i, n, step)
		}
	}
}

func cumSum(c *call) []*Tensor {
	t := c.input(0)
	a := c.ints(1)
	if len(a) != 1 {
		c.fail("an axis of %d elements", len(a))
	}
	axis := c.axis(a[0], len(t.Shape))
	exclusive, reverse := c.node.Int("exclusive", 0) != 0, c.node.Int("reverse", 0) != 0
	out := c.like(t, t.Shape)
	var x []float32
	if t.DType.IsFloat() {
		x = c.floats(0)
	}
	lanes(t.Shape, axis, func(off, n, step int) {
		if reverse {
			off, step = off+(n-1)*step, -step
		}
		var f float64
		var k int64
		for range n {
			if exclusive && x != nil {
				out.Floats[off] = float32(f)
			} else if exclusive {
				out.Ints[off] = k
			}
			if x != nil {
				f += float64(x[off])
			} else {
				k += t.Ints[off]
			}
			if !exclusive && x != nil {
				out.Floats[off] = float32(f)
			} else if !exclusive {
				out.Ints[off] = wrap(k, t.DType)
			}
			off += step
		}
	})
	return []*Tensor{out}
}

func argMax(c *call) []*Tensor {
	t := c.input(0)
	axis := c.axis(c.node.Int("axis", 0), len(t.Shape))
	shape := slices.Clone(t.Shape)
	shape[axis] = 1
	if t.Shape[axis] == 0 {
		c.fail("the largest of none")
	}
	last, low := c.node.Int("select_last_index", 0) != 0, c.node.OpType == "ArgMin"
	out := c.typed(onnx.Int64, shape)
	at := func(i int) float64 { return float64(t.Ints[i]) }
	if t.DType.IsFloat() {
		x := c.floats(0)
		at = func(i int) float64 { return float64(x[i]) }
	}
	i := 0
	lanes(t.Shape, axis, func(off, n, step int) {
		best := 0
		for j := range n {
			d := at(off+j*step) - at(off+best*step)
			if low {
				d = -d
			}
			if d > 0 || d == 0 && last {
				best = j
			}
		}
		out.Ints[i] = int64(best)
		i++
	})
	if c.node.Int("keepdims", 1) == 0 {
		out.Shape = slices.Delete(out.Shape, axis, axis+1)
	}
	return []*Tensor{out}
}
