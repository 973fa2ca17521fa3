package ops

import "memsizer/simd"

// Norm is layer normalisation: y = (x − mean(x)) / √(var(x) + Eps) · Weight +
// Bias over a row, with the biased variance.
type Norm struct {
	Weight, Bias []float32
	Eps          float32
}

// LayerNorm normalises every row of x into dst, which may alias x.
func (c *CPU) LayerNorm(dst, x Matrix, n *Norm) {
	sameShape("layer norm", dst, x)
	c.Begin(PhaseNorm)
	defer c.End()
	for i := range x.Rows {
		n.row(dst.Row(i), x.Row(i))
	}
}

func (n *Norm) row(dst, x []float32) { simd.LayerNorm(dst, x, n.Weight, n.Bias, n.Eps) }
