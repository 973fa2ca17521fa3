//go:build !purego

package simd

import "unsafe"

var f32TilesNEON = tiles{
	rows: 6, step: 128, xstep: 4,
	one:  [15]tileFunc{nil, mulF32N1x8, mulF32N2x8, mulF32N3x8},
	half: [15]tileFunc{nil, nil, nil, nil, mulF32N4x4, mulF32N5x4, mulF32N6x4},
	few:  [5]tileFunc{1: mulF32N1x16},
	fewN: [5]int{1: 2},
}

var f16TilesNEON = tiles{
	rows: 6, step: 64, xstep: 4,
	one:  [15]tileFunc{nil, mulF16N1x8, mulF16N2x8, mulF16N3x8},
	half: [15]tileFunc{nil, nil, nil, nil, mulF16N4x4, mulF16N5x4, mulF16N6x4},
	few:  [5]tileFunc{1: mulF16N1x16},
	fewN: [5]int{1: 2},
	keep: [15]keepFunc{nil, nil, nil, mulF16KeepN3x8, mulF16KeepN4x4, mulF16KeepN5x4, mulF16KeepN6x4},
	wide: &f32TilesNEON,
}

var bf16TilesNEON = tiles{
	rows: 6, step: 128, xstep: 8,
	one:  [15]tileFunc{nil, mulBFN1x8, mulBFN2x8, mulBFN3x8},
	half: [15]tileFunc{nil, nil, nil, nil, mulBFN4x4, mulBFN5x4, mulBFN6x4},
	few:  [5]tileFunc{1: mulBFN1x16},
	fewN: [5]int{1: 2},
	keep: [15]keepFunc{nil, nil, nil, mulBFKeepN3x8, mulBFKeepN4x4, mulBFKeepN5x4, mulBFKeepN6x4},
	wide: &f32TilesNEON,
}

func matMulF32NEON(dst []float32, ldd int, x []float32, ldx, m int, w []float32, n, k, p0, p1 int, e *Epilogue) {
	f32TilesNEON.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * ldx, m, n, k, p0, p1, e})
}

func matMulF16NEON(dst []float32, ldd int, x []float32, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	f16TilesNEON.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * ldx, m, n, k, p0, p1, e})
}

func matMulBF16NEON(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	k = (k + 1) &^ 1
	wide := widenRows(x, ldx, m, k)
	defer rowsScratch.put(wide)
	bf16TilesNEON.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&(*wide)[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * k, m, n, k / 2, p0, p1, e})
}

var i8TilesNEONDot = tilesI8{
	rows: 6,
	one:  [15]tileI8Func{nil, mulI8D1x8, mulI8D2x8, mulI8D3x8},
	half: [15]tileI8Func{nil, nil, nil, nil, mulI8D4x4, mulI8D5x4, mulI8D6x4},
	few:  [5]tileI8Func{1: mulI8D1x16},
	fewN: [5]int{1: 2},
}

func matMulI8NEONDot(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	i8TilesNEONDot.run(&productI8{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, ldx,
		unsafe.Pointer(&comp[0]), unsafe.Pointer(&scale[0]), unsafe.Pointer(&xscale[0]), m, n, (k + 3) / 4, p0, p1, e})
}

var i8TilesNEON = tilesI8{
	rows: 2,
	one:  [15]tileI8Func{nil, mulI8N1x8},
	half: [15]tileI8Func{nil, nil, mulI8N2x4},
}

func matMulI8NEON(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	i8TilesNEON.run(&productI8{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, ldx,
		unsafe.Pointer(&comp[0]), unsafe.Pointer(&scale[0]), unsafe.Pointer(&xscale[0]), m, n, (k + 3) / 4, p0, p1, e})
}
