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
	return list
}

// avx2 replaces what AVX2, FMA and F16C do better.
func (k *kernels) avx2() {
	k.name = "avx2"
	k.f32FromF16 = f32FromF16AVX2
	k.f16FromF32 = f16FromF32AVX2
	k.f32FromBF16 = f32FromBF16AVX2
	k.bf16FromF32 = bf16FromF32AVX2
}
