//go:build !purego

package simd

import "unsafe"

func f32FromF16NEON(dst []float32, src []uint16) {
	n := len(src) &^ 7
	if n > 0 {
		f32FromF16N(&dst[0], &src[0], n)
	}
	f32FromF16Generic(dst[n:], src[n:])
}

func f16FromF32NEON(dst []uint16, src []float32) {
	n := len(src) &^ 7
	if n > 0 {
		f16FromF32N(&dst[0], &src[0], n)
	}
	f16FromF32Generic(dst[n:], src[n:])
}

func f32FromBF16NEON(dst []float32, src []uint16) {
	n := len(src) &^ 7
	if n > 0 {
		f32FromBF16N(&dst[0], &src[0], n)
	}
	f32FromBF16Generic(dst[n:], src[n:])
}

func bf16FromF32NEON(dst []uint16, src []float32) {
	n := len(src) &^ 7
	if n > 0 {
		bf16FromF32N(&dst[0], &src[0], n)
	}
	bf16FromF32Generic(dst[n:], src[n:])
}

func roundRowBF16NEON(dst []uint16, x []float32) {
	n := len(x) &^ 7
	if n > 0 {
		roundRowBF16N(&dst[0], &x[0], n)
	}
	roundRowBF16Generic(dst[n:], x[n:])
}

// widenPairs converts n bfloat16 numbers, n even, and exchanges the two of each pair.
func widenPairs(dst *float32, src *uint16, n int) {
	done := n &^ 7
	if done > 0 {
		widenPairsN(dst, src, done)
	}
	d, s := unsafe.Slice(dst, n), unsafe.Slice(src, n)
	for i := done; i < n; i += 2 {
		d[i], d[i+1] = f32FromBF16(s[i+1]), f32FromBF16(s[i])
	}
}
