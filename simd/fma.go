package simd

import "math"

// fma32 returns x·y + z rounded once to float32, as the fused instructions do. The product of two
// float32 is exact in float64; the sum is rounded to 53 bits and then to 24, which differs from one
// rounding only if the 53 bits lie exactly between two float32 or the result is subnormal. Those cases
// are rounded to odd first, so that the second rounding sees on which side the exact sum lies.
func fma32(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	c := float64(z)
	s := p + c
	const minNormal = 0x1p-126
	u := math.Float64bits(s)
	if u&(1<<29-1) != 1<<28 && (s >= minNormal || s <= -minNormal) {
		return float32(s)
	}
	return float32(roundToOdd(p, c, s))
}

// roundToOdd returns p + c, of which s is the nearest float64, rounded to odd.
func roundToOdd(p, c, s float64) float64 {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return s
	}
	b := s - p
	e := (p - (s - b)) + (c - b) // s + e = p + c exactly
	u := math.Float64bits(s)
	if e == 0 || u&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// lanes is the number of partial results a reduction over a row keeps: element i goes to lane i mod 32.
const lanes = 32

// foldSum adds the lanes by halves: lane i takes lane i+16, then i+8, i+4, i+2, i+1.
func foldSum(l *[lanes]float32) float32 {
	for h := lanes / 2; h > 0; h /= 2 {
		for i := range h {
			l[i] += l[i+h]
		}
	}
	return l[0]
}
