package eval

import (
	"math"
	"slices"
)

// softmax is Softmax and LogSoftmax of opset 13 and later: along one axis.
func softmax(c *call) []*Tensor {
	t := c.input(0)
	axis := c.axis(c.node.Int("axis", -1), len(t.Shape))
	x := c.floats(0)
	out := c.like(t, t.Shape)
	logs := c.node.OpType == "LogSoftmax"
	lanes(t.Shape, axis, func(off, n, step int) {
		top := float32(math.Inf(-1))
		for j := range n {
			top = max(top, x[off+j*step])
		}
		var sum float64
		for j := range n {
			sum += math.Exp(float64(x[off+j*step]) - float64(top))
		}
		for j := range n {
			d := float64(x[off+j*step]) - float64(top)
			if logs {
				out.Floats[off+j*step] = float32(d - math.Log(sum))
			} else {
				out.Floats[off+j*step] = float32(math.Exp(d) / sum)
			}
		}
	})
	return []*Tensor{out}
}

func layerNorm(c *call) []*Tensor {
	t := c.input(0)
	axis := c.axis(c.node.Int("axis", -1), len(t.Shape))
	eps := float64(c.node.Float("epsilon", 1e-5))
	n := product(t.Shape[axis:])
	x, w := c.floats(0), c.floats(1)
	var b []float32
	if c.has(2) {
		b = c.floats(2)
	}
	c.fits(1, t.Shape[axis:])
	if b != nil {
		c.fits(2, t.Shape[axis:])
	}
	out := c.like(t, t.Shape)
	stats := slices.Clone(t.Shape)
	for i := axis; i < len(stats); i++ {
		stats[i] = 1
	}
	means, inverse := c.like(t, stats), c.like(t, stats)
	for r := 0; n > 0 && r < len(x)/n; r++ {
		row := x[r*n : (r+1)*n]
		var sum, squares float64
		for _, v := range row {
			sum += float64(v)
		}
		mean := sum / float64(n)
		for _, v := range row {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		inv := 1 / math.Sqrt(squares/float64(n)+eps)
		means.Floats[r], inverse.Floats[r] = float32(mean), float32(inv)
		for i, v := range row {
			y := (float64(v) - mean) * inv * float64(w[i%len(w)])
			if b != nil {
				y += float64(b[i%len(b)])
			}
			out.Floats[r*n+i] = float32(y)
		}
	}
	return []*Tensor{out, means, inverse}
}

// fits checks that a scale or bias is a vector of the normalised elements, or
// one number.
func (c *call) fits(i int, shape []int) {
	if n := c.input(i).Elements(); n != product(shape) && n != 1 {
		c.fail("input %d has shape %d, want %d", i, c.input(i).Shape, shape)
	}
}
