package simd

import "math"

// QuantizeI8 quantises one row of weights symmetrically: scale = max|src| / 127 and
// dst[i] = round to even(src[i] / scale), between -127 and 127; a row of zeros has scale 0.
// Values must be finite. It panics if dst is shorter than src.
func QuantizeI8(dst []int8, src []float32) (scale float32) {
	if len(dst) < len(src) {
		panic("simd: QuantizeI8: dst is shorter than src")
	}
	peak := float32(0)
	for _, v := range src {
		peak = max(peak, max(v, -v))
	}
	scale = peak / 127
	for i, v := range src {
		q := float64(0)
		if scale > 0 {
			q = math.RoundToEven(float64(v) / float64(scale))
		}
		dst[i] = int8(max(-127, min(127, q)))
	}
	return scale
}

// QuantizeRows quantises the activations of m rows of k numbers for MatMulI8, each row by itself: with
// a = max|x|, scale[r] = a/127 and dst = round to even(x·(127/a)) + 128. A NaN or infinite element
// makes the scale NaN or Inf; 0·Inf and values out of range count as 0. The rows of dst are padded to
// a multiple of 4 with 128 (zero).
//
// x[m,ldx], dst[m,ldd]. It panics if k < 1, ldx < k, ldd < k rounded up to 4, or a slice is too short.
func QuantizeRows(dst []uint8, ldd int, scale []float32, x []float32, ldx, m, k int) {
	if k < 1 {
		panic("simd: QuantizeRows: no columns")
	}
	k4 := (k + 3) &^ 3
	if !holds(len(x), ldx, m, k) || !holds(len(dst), ldd, m, k4) || len(scale) < m {
		panic("simd: QuantizeRows: a slice or a stride is too short")
	}
	for r := range m {
		d := dst[r*ldd : r*ldd+k4]
		scale[r] = active.quantizeRow(d[:k], x[r*ldx:r*ldx+k])
		for i := k; i < k4; i++ {
			d[i] = 128
		}
	}
}

func quantizeRowGeneric(dst []uint8, x []float32) float32 {
	a := maxAbsGeneric(x)
	quantizeBy(dst, x, 127/a)
	return a / 127
}

func quantizeBy(dst []uint8, x []float32, inv float32) {
	for i, v := range x {
		q := math.RoundToEven(float64(float32(v * inv)))
		if !(q >= -128 && q <= 127) {
			q = 0
		}
		dst[i] = uint8(int32(q) + 128)
	}
}

// RoundRowsBF16 rounds the activations of m rows of k numbers to bfloat16 for MatMulBF16: to nearest
// even, numbers below 2^-126 to zero, NaN quieted. The rows of dst are padded to an even length with zeros.
//
// x[m,ldx], dst[m,ldd]. It panics if ldx < k, ldd < k rounded up to 2, or a slice is too short.
func RoundRowsBF16(dst []uint16, ldd int, x []float32, ldx, m, k int) {
	k2 := (k + 1) &^ 1
	if !holds(len(x), ldx, m, k) || !holds(len(dst), ldd, m, k2) {
		panic("simd: RoundRowsBF16: a slice or a stride is too short")
	}
	for r := range m {
		d := dst[r*ldd : r*ldd+k2]
		active.roundRowBF16(d[:k], x[r*ldx:r*ldx+k])
		if k2 > k {
			d[k] = 0
		}
	}
}

func roundRowBF16Generic(dst []uint16, x []float32) {
	for i, v := range x {
		if a := abs32(v); a < 0x1p-126 {
			v = v * 0 // a zero of its sign
		}
		dst[i] = bf16FromF32(v)
	}
}

// holds reports whether a slice of length n holds m rows of k elements with stride ld.
func holds(n, ld, m, k int) bool {
	return m == 0 || m > 0 && k >= 0 && ld >= k && n >= (m-1)*ld+k
}
