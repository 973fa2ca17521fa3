package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// problem is a random product with its packed weights in every type.
type problem struct {
	m, n, k, ldx int
	x            []float32
	w            []float32 // [n,k], as rounded to half
	f32          []float32
	f16          []uint16
}

func newProblem(rng *rand.Rand, m, n, k int) *problem {
	p := &problem{m: m, n: n, k: k, ldx: k + rng.IntN(3)}
	p.x = randomFloats(rng, max(1, m*p.ldx))
	p.w = randomFloats(rng, n*k)
	half := make([]uint16, n*k)
	F16FromF32(half, p.w)
	F32FromF16(p.w, half)
	p.f32 = make([]float32, PackedLen(n, k))
	p.f16 = make([]uint16, PackedLen(n, k))
	cut := rng.IntN(n + 1)
	PackF32(p.f32, n, k, 0, p.w[:cut*k])
	PackF32(p.f32, n, k, cut, p.w[cut*k:])
	PackF16(p.f16, n, k, 0, half)
	return p
}

func randomFloats(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// canary is what surrounds every result.
const canary = 12345

// canvas returns a dst [m,ldd] with canaries in it and after it, and a check that only the given columns
// were written.
func canvas(m, ldd, c0, c1 int) ([]float32, func(t *testing.T)) {
	d := make([]float32, m*ldd+8)
	for i := range d {
		d[i] = canary
	}
	return d, func(t *testing.T) {
		t.Helper()
		for i, v := range d {
			c := i % ldd
			if (i >= m*ldd || c < c0 || c >= c1) && v != canary {
				t.Fatalf("wrote outside: row %d, column %d", i/ldd, c)
			}
		}
	}
}

// shapes are m, n, k around every tile and block limit.
func shapes() [][3]int {
	var list [][3]int
	for m := range 18 {
		list = append(list, [3]int{m, 97, 33}, [3]int{m, 288, 40}, [3]int{m, 31, 7})
	}
	for k := 1; k <= 17; k++ {
		list = append(list, [3]int{1, 161, k}, [3]int{5, 65, k}, [3]int{29, 33, k})
	}
	for _, n := range []int{1, 2, 15, 16, 17, 32, 48, 63, 64, 128, 130, 160} {
		list = append(list, [3]int{1, n, 20}, [3]int{2, n, 19}, [3]int{3, n, 9}, [3]int{4, n, 5}, [3]int{43, n, 6})
	}
	list = append(list, [3]int{1, 160, 1030}, [3]int{3, 70, 1030}, [3]int{15, 64, 1030}, [3]int{30, 40, 600}, [3]int{6, 33, 513})
	return list
}

func TestMatMulFloat(t *testing.T) {
	for _, s := range shapes() {
		m, n, k := s[0], s[1], s[2]
		rng := rand.New(rand.NewPCG(uint64(m), uint64(n*1000+k)))
		p := newProblem(rng, m, n, k)
		ldd := n + rng.IntN(3)
		p0 := rng.IntN(Panels(n))
		p1 := p0 + 1 + rng.IntN(Panels(n)-p0)
		if rng.IntN(2) == 0 {
			p0, p1 = 0, Panels(n)
		}
		c0, c1 := p0*Panel, min(p1*Panel, n)
		e := randomEpilogue(rng, m, n)
		want, _ := canvas(m, ldd, c0, c1)
		matMulF32Generic(want, ldd, p.x, p.ldx, m, p.f32, n, k, p0, p1, nil)
		checkReference(t, p, want, ldd, c0, c1)
		e.apply(want, ldd, 0, m, c0, c1)
		for _, name := range Sets() {
			restore, err := Force(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, half := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%dx%dx%d/half=%v", name, m, n, k, half), func(t *testing.T) {
					got, clean := canvas(m, ldd, c0, c1)
					if half {
						MatMulF16(got, ldd, p.x, p.ldx, m, p.f16, n, k, p0, p1, e)
					} else {
						MatMulF32(got, ldd, p.x, p.ldx, m, p.f32, n, k, p0, p1, e)
					}
					clean(t)
					checkBits(t, got, want)
				})
			}
			restore()
		}
	}
}

func randomEpilogue(rng *rand.Rand, m, n int) *Epilogue {
	if rng.IntN(4) == 0 {
		return nil
	}
	e := &Epilogue{Activation: Activation(rng.IntN(6))}
	if rng.IntN(2) == 0 {
		e.Bias = randomFloats(rng, n)
	}
	if rng.IntN(2) == 0 {
		e.LdResidual = n + rng.IntN(3)
		e.Residual = randomFloats(rng, m*e.LdResidual+1)
	}
	return e
}

// checkReference compares with sums in float64 within k·2^-24·Σ|x·w|, the bound of a chain of k roundings.
func checkReference(t *testing.T, p *problem, got []float32, ldd, c0, c1 int) {
	t.Helper()
	for r := range p.m {
		for c := c0; c < c1; c++ {
			sum, abs := 0.0, 0.0
			for i := range p.k {
				v := float64(p.x[r*p.ldx+i]) * float64(p.w[c*p.k+i])
				sum += v
				abs += math.Abs(v)
			}
			if d := math.Abs(float64(got[r*ldd+c]) - sum); d > float64(p.k)*0x1p-24*abs {
				t.Fatalf("row %d, column %d: got %g, want %g", r, c, got[r*ldd+c], sum)
			}
		}
	}
}
