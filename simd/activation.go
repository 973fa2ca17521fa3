package simd

import "math"

// ReLU sets dst[i] = max(x[i], 0); NaN and -0 stay. dst may be x. It panics if the lengths
// differ; so do the other activations.
func ReLU(dst, x []float32) {
	checkSame("ReLU", len(dst), len(x), len(x))
	active.relu(dst, x)
}

// GELU sets dst[i] = x·Φ(x), Φ the normal distribution (the "erf" form), within 1e-6 relative. dst may be x.
func GELU(dst, x []float32) {
	checkSame("GELU", len(dst), len(x), len(x))
	active.gelu(dst, x)
}

// GELUTanh sets dst[i] = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), computed as x / (1 + e^(-2u)) with u the
// argument of tanh, within 1e-6·(1+|u|) relative. dst may be x. fairseq calls it gelu_fast or gelu_accurate.
func GELUTanh(dst, x []float32) {
	checkSame("GELUTanh", len(dst), len(x), len(x))
	active.geluTanh(dst, x)
}

// Tanh sets dst[i] = tanh(x[i]) within 5e-7 relative. dst may be x.
func Tanh(dst, x []float32) {
	checkSame("Tanh", len(dst), len(x), len(x))
	active.tanh(dst, x)
}

// Swish sets dst[i] = x / (1 + e^-x) within 1e-6 relative. dst may be x.
func Swish(dst, x []float32) {
	checkSame("Swish", len(dst), len(x), len(x))
	active.swish(dst, x)
}

func reluGeneric(dst, x []float32) {
	for i, v := range x {
		if v < 0 {
			v = 0
		}
		dst[i] = v
	}
}

func geluGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = gelu32(v)
	}
}

func geluTanhGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = geluTanh32(v)
	}
}

func tanhGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = tanh32(v)
	}
}

func swishGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = v / (1 + exp32(-v))
	}
}

// 1-Φ(a) = e^(-a²/2)·Σ_j erfcC[j]·t^(j+1) with t = 1/(1+erfcP·a), fitted for 0 ≤ a ≤ 15 to 4e-9 relative;
// beyond geluEnd the exponential is 0.
const (
	geluEnd = 15
	erfcP   = 0.3
)

var erfcC = [10]float32{0.11968672, 0.11957132, 0.110239364, 0.07837214, 0.09620516, -0.079509646, 0.19188389, -0.22828528, 0.112465024, -0.020628707}

func gelu32(x float32) float32 {
	a := abs32(x)
	if geluEnd < a {
		a = geluEnd
	}
	s := float32(a * a)
	low := fma32(a, a, -s) // a² = s + low
	e := exp32(float32(-0.5 * s))
	e = fma32(e, float32(-0.5*low), e)
	t := 1 / fma32(erfcP, a, 1)
	p := erfcC[9]
	for j := 8; j >= 0; j-- {
		p = fma32(p, t, erfcC[j])
	}
	q := float32(float32(p*t) * e) // 1-Φ(a)
	if !signbit(x) {
		q = 1 - q
	}
	return x * q
}

const (
	geluTanhA = 0.044715
	geluTanhB = -1.5957691216 // -2·√(2/π)
)

func geluTanh32(x float32) float32 {
	z := float32(float32(x*x) * geluTanhA)
	u := float32(fma32(z, x, x) * geluTanhB)
	return x / (1 + exp32(u))
}

// tanh(x) = x + x³·(tanhC[0] + tanhC[1]·x² + …) for |x| < tanhSmall, fitted to 4e-9; else 1 - 2/(e^2|x| + 1).
const tanhSmall = 0.625

var tanhC = [5]float32{-0.33333284, 0.13331491, -0.053743497, 0.020650579, -0.005717037}

func tanh32(x float32) float32 {
	a := abs32(x)
	z := float32(a * a)
	p := fma32(tanhC[4], z, tanhC[3])
	p = fma32(p, z, tanhC[2])
	p = fma32(p, z, tanhC[1])
	p = fma32(p, z, tanhC[0])
	y := fma32(float32(p*z), a, a)
	if !(a < tanhSmall) {
		y = 1 - 2/(exp32(a+a)+1)
	}
	return math.Float32frombits(math.Float32bits(y)&0x7fffffff | math.Float32bits(x)&0x80000000)
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) & 0x7fffffff) }

func signbit(x float32) bool { return math.Float32bits(x)>>31 == 1 }
