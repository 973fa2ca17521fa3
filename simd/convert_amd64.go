//go:build !purego

package simd

func f32FromF16AVX2(dst []float32, src []uint16) {
	n := len(src) &^ 7
	if n > 0 {
		f32FromF16AVX2Asm(&dst[0], &src[0], n)
	}
	f32FromF16Generic(dst[n:], src[n:])
}

func f16FromF32AVX2(dst []uint16, src []float32) {
	n := len(src) &^ 7
	if n > 0 {
		f16FromF32AVX2Asm(&dst[0], &src[0], n)
	}
	f16FromF32Generic(dst[n:], src[n:])
}

func f32FromBF16AVX2(dst []float32, src []uint16) {
	n := len(src) &^ 7
	if n > 0 {
		f32FromBF16AVX2Asm(&dst[0], &src[0], n)
	}
	f32FromBF16Generic(dst[n:], src[n:])
}

func bf16FromF32AVX2(dst []uint16, src []float32) {
	n := len(src) &^ 7
	if n > 0 {
		bf16FromF32AVX2Asm(&dst[0], &src[0], n)
	}
	bf16FromF32Generic(dst[n:], src[n:])
}

func roundRowBF16AVX2(dst []uint16, x []float32) {
	n := len(x) &^ 7
	if n > 0 {
		roundRowBF16AVX2Asm(&dst[0], &x[0], n)
	}
	roundRowBF16Generic(dst[n:], x[n:])
}

func roundRowBF16AVX512(dst []uint16, x []float32) {
	n := len(x) &^ 31
	if n > 0 {
		roundRowBF16Z(&dst[0], &x[0], n)
	}
	roundRowBF16AVX2(dst[n:], x[n:])
}
