package ops

import (
	"fmt"
	"math"
)

// Norm is layer normalisation: y = (x − mean(x)) / √(var(x) + Eps) · Weight +
// Bias over a row, with the biased variance.
type Norm struct {
	Weight, Bias []float32
	Eps          float32
}

// LayerNorm normalises every row of x into dst, which may alias x.
func (c *CPU) LayerNorm(dst, x Matrix, n *Norm) {
	sameShape("layer norm", dst, x)
	for i := range x.Rows {
		n.row(dst.Row(i), x.Row(i))
	}
}

func (n *Norm) row(dst, x []float32) {
	if len(n.Weight) != len(x) || len(n.Bias) != len(x) || len(dst) != len(x) {
		panic(fmt.Sprintf("ops: layer norm over %d of %d values", len(n.Weight), len(x)))
	}
	var sum, sq float64
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		sq += d * d
	}
	m := float32(mean)
	r := float32(1 / math.Sqrt(sq/float64(len(x))+float64(n.Eps)))
	for i, v := range x {
		dst[i] = (v-m)*r*n.Weight[i] + n.Bias[i]
	}
}
