package simd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA32 compares with exact arithmetic, with many sums exactly at or beside the middle of two float32
// and many subnormal ones.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(x, y, z float32) {
		t.Helper()
		p := new(big.Float).SetPrec(300).SetFloat64(float64(x))
		p.Mul(p, new(big.Float).SetPrec(300).SetFloat64(float64(y)))
		p.Add(p, new(big.Float).SetPrec(300).SetFloat64(float64(z)))
		want, _ := p.Float32()
		if got := fma32(x, y, z); got != want {
			t.Fatalf("fma32(%g, %g, %g): got %g, want %g", x, y, z, got, want)
		}
	}
	number := func(exp int) float32 {
		m := 1 + rng.Float64()
		if rng.IntN(2) == 0 {
			m = 1 + float64(rng.IntN(8))/8
		}
		if rng.IntN(2) == 0 {
			m = -m
		}
		return float32(math.Ldexp(m, exp))
	}
	for range enough(300000, 50000) {
		e := rng.IntN(40) - 20
		check(number(e), number(rng.IntN(8)), number(e+rng.IntN(60)-30))
		check(number(-70), number(-70+rng.IntN(20)), number(-126-rng.IntN(20)))
	}
	one := float32(1)
	check(one+0x1p-23, one+0x1p-23, -one)
	check(0x1p-12+0x1p-35, 0x1p-12, 1)
	check(0x1p-12-0x1p-35, 0x1p-12, 1)
	check(math.MaxFloat32, 1, 0x1p103)
	if got := fma32(float32(math.Inf(1)), 0, 1); got == got {
		t.Errorf("Inf·0 + 1: got %g, want NaN", got)
	}
}
