package ops

// Add computes dst += x, the residual connection of an operator that does
// not add by itself.
func (c *CPU) Add(dst, x Matrix) {
	sameShape("add", dst, x)
	for i := range x.Rows {
		d := dst.Row(i)
		for j, v := range x.Row(i) {
			d[j] += v
		}
	}
}
