package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// TestBatchInvariance wants the bits of a row to be the same whatever the number of rows, its place among
// them, and the panels asked for at once.
func TestBatchInvariance(t *testing.T) {
	const n, most = 232, 64
	k := enough(1100, 600)
	rng := rand.New(rand.NewPCG(21, 22))
	p := newProblem(rng, most, n, k)
	bf, wbf := make([]uint16, most*k), make([]uint16, PackedLenBF16(n, k))
	RoundRowsBF16(bf, k, p.x, p.ldx, most, k)
	PackBF16FromF32(wbf, n, k, 0, p.w)
	products := map[string]func(dst []float32, r0, m, p0, p1 int){
		"f32": func(dst []float32, r0, m, p0, p1 int) {
			MatMulF32(dst, n, p.x[r0*p.ldx:], p.ldx, m, p.f32, n, k, p0, p1, nil)
		},
		"f16": func(dst []float32, r0, m, p0, p1 int) {
			MatMulF16(dst, n, p.x[r0*p.ldx:], p.ldx, m, p.f16, n, k, p0, p1, nil)
		},
		"bf16": func(dst []float32, r0, m, p0, p1 int) {
			MatMulBF16(dst, n, bf[r0*k:], k, m, wbf, n, k, p0, p1, nil)
		},
	}
	eachSet(t, func(t *testing.T) {
		if Set() == "generic" {
			t.Skip("one loop for every shape")
		}
		for name, product := range products {
			all := make([]float32, most*n)
			product(all, 0, most, 0, Panels(n))
			for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 8, 13, 14, 15, 29, 33} {
				for _, r0 := range []int{0, 1, most - m}[enough(0, 1):] {
					got := make([]float32, m*n)
					for at := 0; at < Panels(n); {
						next := min(at+1+rng.IntN(5), Panels(n))
						product(got, r0, m, at, next)
						at = next
					}
					sameFloats(t, fmt.Sprintf("%s, %d rows from %d", name, m, r0), got, all[r0*n:(r0+m)*n])
				}
			}
		}
	})
}

// TestMatMulBLAS compares with gonum's BLAS, another implementation of the same sum.
func TestMatMulBLAS(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	const m, n, k = 37, 100, 515
	p := newProblem(rng, m, n, k)
	want := make([]float32, m*n)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, m, n, k, 1, p.x, p.ldx, p.w, k, 0, want, n)
	eachSet(t, func(t *testing.T) {
		got := make([]float32, m*n)
		MatMulF32(got, n, p.x, p.ldx, m, p.f32, n, k, 0, Panels(n), nil)
		for r := range m {
			for c := range n {
				abs := 0.0
				for i := range k {
					abs += math.Abs(float64(p.x[r*p.ldx+i]) * float64(p.w[c*k+i]))
				}
				if d := math.Abs(float64(got[r*n+c] - want[r*n+c])); d > 2*k*0x1p-24*abs {
					t.Fatalf("row %d, column %d: got %g, want %g", r, c, got[r*n+c], want[r*n+c])
				}
			}
		}
	})
}

// TestNoAllocation wants the kernels of a decode step to allocate nothing.
func TestNoAllocation(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	const m, n, k = 16, 100, 64
	p := newProblem(rng, m, n, k)
	dst, row := make([]float32, m*n), make([]float32, 64)
	bias := randomFloats(rng, n)
	e := &Epilogue{Bias: bias, Activation: ActReLU}
	x8, scale, w8, comp := make([]uint8, m*k), make([]float32, Panels(n)*Panel), make([]int8, PackedLenI8(n, k)), make([]int32, Panels(n)*Panel)
	x16, w16 := make([]uint16, m*k), make([]uint16, PackedLenBF16(n, k))
	values, indices := make([]float32, 5), make([]int32, 5)
	eachSet(t, func(t *testing.T) {
		allocs := testing.AllocsPerRun(20, func() {
			MatMulF32(dst, n, p.x, p.ldx, m, p.f32, n, k, 0, Panels(n), e)
			MatMulF16(dst, n, p.x, p.ldx, m, p.f16, n, k, 0, Panels(n), e)
			MatMulBF16(dst, n, x16, k, m, w16, n, k, 0, Panels(n), e)
			QuantizeRows(x8, k, scale, p.x, p.ldx, m, k)
			RoundRowsBF16(x16, k, p.x, p.ldx, m, k)
			MatMulI8(dst, n, x8, k, scale, m, w8, scale, comp, n, k, 0, Panels(n), e)
			LayerNorm(row, row, bias[:64], bias[:64], 1e-5)
			Softmax(row, row)
			SlotSoftmax(row[:4], dst[:64], 16)
			SlotSoftmax(row[:40], dst[:160], 4)
			TopK(values, indices, dst)
			GELU(row, row)
			MemoryStep(row[:16], dst[:64], row[:4], bias[:16], row[4:8], 0.5)
		})
		if allocs != 0 {
			t.Errorf("got %v allocations, want 0", allocs)
		}
	})
}
