package simd

import (
	"math"

	"github.com/x448/float16"
)

func f32FromF16Generic(dst []float32, src []uint16) {
	for i, h := range src {
		dst[i] = float16.Frombits(h).Float32()
	}
}

func f16FromF32Generic(dst []uint16, src []float32) {
	for i, f := range src {
		dst[i] = float16.Fromfloat32(f).Bits()
	}
}

func f32FromBF16Generic(dst []float32, src []uint16) {
	for i, b := range src {
		dst[i] = f32FromBF16(b)
	}
}

func bf16FromF32Generic(dst []uint16, src []float32) {
	for i, f := range src {
		dst[i] = bf16FromF32(f)
	}
}

func f32FromBF16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

func bf16FromF32(f float32) uint16 {
	u := math.Float32bits(f)
	if f != f {
		return uint16(u>>16) | 0x40
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}
