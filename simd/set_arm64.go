//go:build !purego

package simd

import (
	goruntime "runtime"

	"golang.org/x/sys/cpu"
)

// available builds the tables this processor can run. NEON itself belongs to every arm64; FEAT_FHM and
// FEAT_DotProd are asked for, but macOS before 12 cannot tell and runs only on processors that have both.
func available() []*kernels {
	apple := goruntime.GOOS == "darwin"
	list := []*kernels{&generic}
	add := func(k kernels, improve func(*kernels)) {
		improve(&k)
		list = append(list, &k)
	}
	neon := generic
	neon.neon()
	list = append(list, &neon)
	if cpu.ARM64.HasASIMDFHM || apple {
		add(neon, (*kernels).neonfhm)
	}
	if cpu.ARM64.HasASIMDDP || apple {
		add(neon, (*kernels).neondot)
	}
	return list
}

// neon replaces what the instructions do better that every arm64 processor has.
func (k *kernels) neon() {
	k.name = "neon"
	k.f32FromF16 = f32FromF16NEON
	k.f16FromF32 = f16FromF32NEON
	k.f32FromBF16 = f32FromBF16NEON
	k.bf16FromF32 = bf16FromF32NEON
	k.roundRowBF16 = roundRowBF16NEON
	k.matMulF32 = matMulF32NEON
	k.matMulF16 = matMulF16NEON
	k.matMulBF16 = matMulBF16NEON
	k.matMulI8 = matMulI8NEON
	vectorsNEON.use(k)
	k.peakFMA = peakFMANEON
	k.read = readNEON
}

// neonfhm has the kernels of neon. FEAT_FHM multiplies halfs by halfs (FMLAL), but the activations of
// MatMulF16 are float32: rounding them would change the results, and the exact product of a float32 and
// a half by parts would need three chains.
func (k *kernels) neonfhm() { k.name = "neonfhm" }

// neondot adds SDOT.
func (k *kernels) neondot() {
	k.name = "neondot"
	k.matMulI8 = matMulI8NEONDot
	k.peakI8 = peakI8NEONDot
}
