//go:build !purego && (amd64 || arm64)

package simd

import (
	"math/rand/v2"
	"testing"
)

// TestRowParts: no part has fewer rows than a tile, which the tiles that keep widened weights rely on.
func TestRowParts(t *testing.T) {
	for _, rows := range []int{4, 6, 8, 14} {
		for _, size := range []int{4, 2048, 16 << 10, MaxI8Columns} {
			for m := 1; m < 40000; m++ {
				parts := rowParts(m, rows, size)
				if parts > 1 && m/parts < rows {
					t.Fatalf("%d rows of %d bytes: %d parts, fewer rows in each than the %d of a tile", m, size, parts, rows)
				}
			}
		}
	}
}

// TestManyRows: products of more rows than stay in the cache give what each row alone gives.
func TestManyRows(t *testing.T) {
	const n, k = 32, 512
	ms := []int{700, 10587}
	if testing.Short() {
		ms = ms[:1]
	}
	rng := rand.New(rand.NewPCG(31, 32))
	p := newProblem(rng, ms[len(ms)-1], n, k)
	eachSet(t, func(t *testing.T) {
		for _, m := range ms {
			got, want := make([]float32, m*n), make([]float32, n)
			for _, w := range []struct {
				name    string
				product func(dst, x []float32, m int)
			}{
				{"F32", func(dst, x []float32, m int) { MatMulF32(dst, n, x, p.ldx, m, p.f32, n, k, 0, 1, nil) }},
				{"F16", func(dst, x []float32, m int) { MatMulF16(dst, n, x, p.ldx, m, p.f16, n, k, 0, 1, nil) }},
			} {
				w.product(got, p.x, m)
				for _, r := range []int{0, 1, m / 3, m / 2, m - 4, m - 1} {
					w.product(want, p.x[r*p.ldx:], 1)
					sameFloats(t, w.name, got[r*n:(r+1)*n], want)
				}
			}
		}
	})
}
