package simd

import "math"

// LayerNorm normalises one row of n = len(x) numbers:
//
//	mean = Σx/n,  var = Σ(x-mean)²/n,  dst = ((x-mean)·(1/√(var+eps)))·gamma + beta
//
// in two passes; the sums in 32 lanes folded by halves, squares and the last step fused. dst may be x.
// It panics if the lengths of dst, x, gamma and beta differ.
func LayerNorm(dst, x, gamma, beta []float32, eps float32) {
	checkSame("LayerNorm", len(dst), len(x), len(x))
	checkSame("LayerNorm", len(dst), len(gamma), len(beta))
	if len(x) > 0 {
		active.layerNorm(dst, x, gamma, beta, eps)
	}
}

func layerNormGeneric(dst, x, gamma, beta []float32, eps float32) {
	n := float32(len(x))
	var l [lanes]float32
	for i, v := range x {
		l[i%lanes] += v
	}
	mean := foldSum(&l) / n
	l = [lanes]float32{}
	for i, v := range x {
		d := v - mean
		l[i%lanes] = fma32(d, d, l[i%lanes])
	}
	v := foldSum(&l) / n
	r := 1 / sqrt32(v+eps)
	for i, v := range x {
		dst[i] = fma32(float32((v-mean)*r), gamma[i], beta[i])
	}
}

// sqrt32 is the correctly rounded square root: 53 bits are enough for that.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }
