//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// available builds the tables this processor and operating system can run. x/sys/cpu reports the AVX and
// AVX-512 features only if the system saves those registers (XCR0); it tells F16C and FMA without that
// check, so they count only together with AVX2.
func available() []*kernels {
	x := &cpu.X86
	list := []*kernels{&generic}
	if !(x.HasAVX2 && x.HasFMA && x.HasF16C) {
		return list
	}
	k := generic
	k.avx2()
	list = append(list, &k)
	if !(x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512DQ) {
		return list
	}
	k512 := k
	k512.avx512()
	list = append(list, &k512)
	return list
}

// avx2 replaces what AVX2, FMA and F16C do better.
func (k *kernels) avx2() {
	k.name = "avx2"
	k.f32FromF16 = f32FromF16AVX2
	k.f16FromF32 = f16FromF32AVX2
	k.f32FromBF16 = f32FromBF16AVX2
	k.bf16FromF32 = bf16FromF32AVX2
	k.matMulF32 = matMulF32AVX2
	k.matMulF16 = matMulF16AVX2
	k.matMulBF16 = matMulBF16AVX2
}

// avx512 replaces what AVX-512 F, BW, VL and DQ do better.
func (k *kernels) avx512() {
	k.name = "avx512"
	k.matMulF32 = matMulF32AVX512
	k.matMulF16 = matMulF16AVX512
	k.matMulBF16 = matMulBF16AVX512
}
