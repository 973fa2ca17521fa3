//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// available builds the tables this processor and operating system can run. x/sys/cpu reports the AVX and
// AVX-512 features only if the system saves those registers (XCR0); it tells F16C and FMA without that
// check, so they count only together with AVX2.
func available() []*kernels {
	x := &cpu.X86
	list := []*kernels{&generic}
	add := func(k kernels, improve func(*kernels)) kernels {
		improve(&k)
		list = append(list, &k)
		return k
	}
	if !(x.HasAVX2 && x.HasFMA && x.HasF16C) {
		return list
	}
	avx2 := add(generic, (*kernels).avx2)
	if x.HasAVXVNNI {
		add(avx2, (*kernels).avxvnni)
	}
	if !(x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512DQ) {
		return list
	}
	k := add(avx2, (*kernels).avx512)
	if x.HasAVX512VNNI {
		k = add(k, (*kernels).avx512vnni)
		if x.HasAVX512BF16 {
			add(k, (*kernels).avx512bf16)
		}
	}
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
	k.matMulI8 = matMulI8AVX2
	vectorsAVX2.use(k)
	k.roundRowBF16 = roundRowBF16AVX2
	k.peakFMA = peakFMAAVX2
	k.read = readAVX2
}

// avxvnni adds the VEX form of VPDPBUSD.
func (k *kernels) avxvnni() {
	k.name = "avxvnni"
	k.matMulI8 = matMulI8AVXVNNI
	k.peakI8 = peakI8AVXVNNI
}

// avx512 replaces what AVX-512 F, BW, VL and DQ do better.
func (k *kernels) avx512() {
	k.name = "avx512"
	k.matMulF32 = matMulF32AVX512
	k.matMulF16 = matMulF16AVX512
	k.matMulBF16 = matMulBF16AVX512
	k.matMulI8 = matMulI8AVX512
	vectorsAVX512.use(k)
	k.peakFMA = peakFMAAVX512
	k.read = readAVX512
}

// avx512vnni adds VPDPBUSD.
func (k *kernels) avx512vnni() {
	k.name = "avx512vnni"
	k.matMulI8 = matMulI8AVX512VNNI
	k.peakI8 = peakI8AVX512VNNI
}

// avx512bf16 adds VDPBF16PS, where it is worth having: some processors do widened multiply-adds faster.
func (k *kernels) avx512bf16() {
	k.name = "avx512bf16"
	k.peakBF16 = peakBF16AVX512
	k.roundRowBF16 = roundRowBF16AVX512
	if bfloatIsFast() {
		k.matMulBF16 = matMulBF16AVX512BF16
	}
}
