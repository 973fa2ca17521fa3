//go:build !purego && (amd64 || arm64)

package simd

// widenRows returns the rows of x as float32 with the two columns of each pair exchanged, the order in which
// MatMulBF16 sums them, in a buffer of rowsScratch.
func widenRows(x []uint16, ldx, m, k int) *[]float32 {
	wide := rowsScratch.get()
	if cap(*wide) < m*k {
		*wide = make([]float32, m*k)
	}
	*wide = (*wide)[:m*k]
	for r := range m {
		if row := x[r*ldx : r*ldx+k]; k > 0 {
			widenPairs(&(*wide)[r*k], &row[0], k)
		}
	}
	return wide
}

// rowsScratch holds widened activations.
var rowsScratch scratch[[]float32]
