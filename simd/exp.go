package simd

import "math"

// The constants of exp32: the range beyond which the result is 0 or Inf, log2(e), -ln(2) in two parts, and
// the polynomial exp(r) ≈ 1 + r + r²·(c2 + c3·r + …) for |r| ≤ ln(2)/2, fitted for the least relative error
// (3e-9).
const (
	expLow   = -104
	expHigh  = 89
	expLog2e = 1.44269504
	expLn2Hi = -0.693145751953125
	expLn2Lo = -1.42860682030941723212e-6
	expC2    = 0.49999994
	expC3    = 0.1666652
	expC4    = 0.041668408
	expC5    = 0.008368899
	expC6    = 0.0013814219
)

// exp32 returns e^x within 2 units in the last place; below expLow it is 0, above 88.72… Inf, NaN stays
// NaN. Subnormal results are rounded correctly from the value above.
func exp32(x float32) float32 {
	if expLow > x {
		x = expLow
	}
	if expHigh < x {
		x = expHigh
	}
	if x != x {
		return x
	}
	n := float32(math.RoundToEven(float64(float32(x * expLog2e))))
	r := fma32(n, expLn2Hi, x)
	r = fma32(n, expLn2Lo, r)
	p := fma32(expC6, r, expC5)
	p = fma32(p, r, expC4)
	p = fma32(p, r, expC3)
	p = fma32(p, r, expC2)
	p = fma32(p, r, 1)
	p = fma32(p, r, 1)
	h := int32(n) >> 1
	return float32(p*power2(h)) * power2(int32(n)-h)
}

// power2 returns 2^n for the exponents of normal numbers.
func power2(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

// Exp sets dst[i] = e^x[i] within 2 units in the last place; overflow gives Inf, underflow 0 or a subnormal
// number, NaN stays. dst may be x. It panics if the lengths differ.
func Exp(dst, x []float32) {
	checkSame("Exp", len(dst), len(x), len(x))
	active.exp(dst, x)
}

func expGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = exp32(v)
	}
}
