package simd

// piece is the number of elements an assembly loop handles at most in one call: a goroutine can only be
// stopped between calls, and a garbage collection waits for it.
const piece = 1 << 16

// inPieces converts src to dst piece by piece.
func inPieces[D, S any](convert func([]D, []S), dst []D, src []S) {
	for len(src) > piece {
		convert(dst[:piece], src[:piece])
		dst, src = dst[piece:], src[piece:]
	}
	convert(dst[:len(src)], src)
}

// F32FromF16 converts len(src) halfs exactly: dst[i] = float32(src[i]). A signalling NaN becomes quiet.
// It panics if dst is shorter than src.
func F32FromF16(dst []float32, src []uint16) {
	if len(dst) < len(src) {
		panic("simd: F32FromF16: dst is shorter than src")
	}
	inPieces(active.f32FromF16, dst, src)
}

// F16FromF32 rounds len(src) numbers to half, to nearest, ties to even; beyond ±65519.996 they become
// ±Inf, a NaN stays a (quiet) NaN. It panics if dst is shorter than src.
func F16FromF32(dst []uint16, src []float32) {
	if len(dst) < len(src) {
		panic("simd: F16FromF32: dst is shorter than src")
	}
	inPieces(active.f16FromF32, dst, src)
}

// F32FromBF16 converts len(src) bfloat16 numbers exactly, NaN payloads included.
// It panics if dst is shorter than src.
func F32FromBF16(dst []float32, src []uint16) {
	if len(dst) < len(src) {
		panic("simd: F32FromBF16: dst is shorter than src")
	}
	inPieces(active.f32FromBF16, dst, src)
}

// BF16FromF32 rounds len(src) numbers to bfloat16, to nearest, ties to even; a NaN stays a NaN and
// becomes quiet, subnormal numbers are kept. It panics if dst is shorter than src.
func BF16FromF32(dst []uint16, src []float32) {
	if len(dst) < len(src) {
		panic("simd: BF16FromF32: dst is shorter than src")
	}
	inPieces(active.bf16FromF32, dst, src)
}
