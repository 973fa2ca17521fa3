package ops

import "memsizer/simd"

// Add computes dst = a + b, the residual connection of an operator that does
// not add by itself. dst may alias a or b.
func (c *CPU) Add(dst, a, b Matrix) {
	sameShape("add", dst, a)
	sameShape("add", dst, b)
	c.Begin(PhaseNorm)
	defer c.End()
	for i := range dst.Rows {
		simd.Add(dst.Row(i), a.Row(i), b.Row(i))
	}
}
