// Package simd holds the kernels: conversions, matrix products with packed weights, and the elementwise
// and row operations of a decoder, all on flat slices.
//
// Every kernel has a definition in plain Go (the files *_generic.go), which exists on every platform, and
// implementations for instruction sets. Which set runs is decided once at start from the features of the
// processor and of the operating system; the variable MEMSIZER_SIMD forces one of the ladder
//
//	generic, avx2, avxvnni, avx512, avx512vnni, avx512bf16, neon, neonfhm, neondot
//
// and the program stops with a message if the name is unknown or the machine lacks the set.
//
// The set neonfhm is that of neon: FEAT_FHM multiplies halfs by halfs, and the activations here are float32,
// whose rounding to half would change the results.
//
// # Agreement
//
// The definitions fix the order of every operation: one accumulation chain per output element of a matrix
// product, k ascending, each step a fused multiply-add; reductions over a row in 32 lanes, element i in
// lane i mod 32, folded by halves. The instruction sets follow that order, so for finite values they give
// the bits of the generic kernel, whatever the number of rows, of columns or of threads. The exceptions
// are stated at the function: the sign of a zero that is the maximum, the payload of a NaN, and numbers
// below 2^-126 in products of bfloat16.
//
// # Conventions
//
// Exported functions check lengths and panic with the prefix "simd: "; the assembly trusts them. Slices
// written must not overlap slices read, except where a function says that dst may be the same slice as an
// argument. Matrices are row-major with a stride ("ld", in elements) between rows. Half numbers are IEEE
// binary16 in a uint16, bfloat16 likewise.
package simd
