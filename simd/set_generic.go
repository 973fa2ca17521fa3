package simd

// generic is the definition of every kernel.
var generic = kernels{
	name: "generic",

	f32FromF16:  f32FromF16Generic,
	f16FromF32:  f16FromF32Generic,
	f32FromBF16: f32FromBF16Generic,
	bf16FromF32: bf16FromF32Generic,
}
