//go:build !purego

package simd

import "unsafe"

var f32TilesAVX512 = tiles{
	rows: 14, step: 128, xstep: 4,
	one:  [15]tileFunc{nil, mulF32Z1x2, mulF32Z2x2, mulF32Z3x2, mulF32Z4x2, mulF32Z5x2, mulF32Z6x2, mulF32Z7x2, mulF32Z8x2, mulF32Z9x2, mulF32Z10x2, mulF32Z11x2, mulF32Z12x2, mulF32Z13x2, mulF32Z14x2},
	few:  [5]tileFunc{1: mulF32Z1x8, 2: mulF32Z2x8, 3: mulF32Z3x4, 4: mulF32Z4x4},
	fewN: [5]int{1: 4, 2: 4, 3: 2, 4: 2},
	pair: [7]tileFunc{5: mulF32Z5x4, 6: mulF32Z6x4},
}

var f32TilesAVX2 = tiles{
	rows: 6, step: 128, xstep: 4,
	one:  [15]tileFunc{nil, mulF32Y1x4, mulF32Y2x4, mulF32Y3x4},
	half: [15]tileFunc{nil, nil, nil, nil, mulF32Y4x2, mulF32Y5x2, mulF32Y6x2},
	few:  [5]tileFunc{1: mulF32Y1x8},
	fewN: [5]int{1: 2},
}

var f16TilesAVX512 = tiles{
	rows: 14, step: 64, xstep: 4,
	one:  [15]tileFunc{nil, mulF16Z1x2, mulF16Z2x2, mulF16Z3x2, mulF16Z4x2, mulF16Z5x2, mulF16Z6x2, mulF16Z7x2, mulF16Z8x2, mulF16Z9x2, mulF16Z10x2, mulF16Z11x2, mulF16Z12x2, mulF16Z13x2, mulF16Z14x2},
	few:  [5]tileFunc{1: mulF16Z1x8, 2: mulF16Z2x8, 3: mulF16Z3x4, 4: mulF16Z4x4},
	fewN: [5]int{1: 4, 2: 4, 3: 2, 4: 2},
	pair: [7]tileFunc{5: mulF16Z5x4, 6: mulF16Z6x4},
	keep: [15]keepFunc{nil, nil, nil, nil, nil, nil, nil, mulF16KeepZ7x2, mulF16KeepZ8x2, mulF16KeepZ9x2, mulF16KeepZ10x2, mulF16KeepZ11x2, mulF16KeepZ12x2, mulF16KeepZ13x2, mulF16KeepZ14x2},
	wide: &f32TilesAVX512,
}

var f16TilesAVX2 = tiles{
	rows: 6, step: 64, xstep: 4,
	one:  [15]tileFunc{nil, mulF16Y1x4, mulF16Y2x4, mulF16Y3x4},
	half: [15]tileFunc{nil, nil, nil, nil, mulF16Y4x2, mulF16Y5x2, mulF16Y6x2},
	few:  [5]tileFunc{1: mulF16Y1x8},
	fewN: [5]int{1: 2},
	keep: [15]keepFunc{nil, nil, nil, mulF16KeepY3x4, mulF16KeepY4x2, mulF16KeepY5x2, mulF16KeepY6x2},
	wide: &f32TilesAVX2,
}

var bf16TilesAVX512 = tiles{
	rows: 14, step: 128, xstep: 8,
	one:  [15]tileFunc{nil, mulBFSZ1x2, mulBFSZ2x2, mulBFSZ3x2, mulBFSZ4x2, mulBFSZ5x2, mulBFSZ6x2, mulBFSZ7x2, mulBFSZ8x2, mulBFSZ9x2, mulBFSZ10x2, mulBFSZ11x2, mulBFSZ12x2, mulBFSZ13x2, mulBFSZ14x2},
	few:  [5]tileFunc{1: mulBFSZ1x8, 2: mulBFSZ2x8, 3: mulBFSZ3x4, 4: mulBFSZ4x4},
	fewN: [5]int{1: 4, 2: 4, 3: 2, 4: 2},
	pair: [7]tileFunc{5: mulBFSZ5x4, 6: mulBFSZ6x4},
	keep: [15]keepFunc{nil, nil, nil, nil, nil, nil, nil, mulBFSKeepZ7x2, mulBFSKeepZ8x2, mulBFSKeepZ9x2, mulBFSKeepZ10x2, mulBFSKeepZ11x2, mulBFSKeepZ12x2, mulBFSKeepZ13x2, mulBFSKeepZ14x2},
	wide: &f32TilesAVX512,
}

var bf16TilesAVX2 = tiles{
	rows: 6, step: 128, xstep: 8,
	one:  [15]tileFunc{nil, mulBFSY1x4, mulBFSY2x4, mulBFSY3x4},
	half: [15]tileFunc{nil, nil, nil, nil, mulBFSY4x2, mulBFSY5x2, mulBFSY6x2},
	few:  [5]tileFunc{1: mulBFSY1x8},
	fewN: [5]int{1: 2},
	keep: [15]keepFunc{nil, nil, nil, mulBFSKeepY3x4, mulBFSKeepY4x2, mulBFSKeepY5x2, mulBFSKeepY6x2},
	wide: &f32TilesAVX2,
}

func matMulF32AVX512(dst []float32, ldd int, x []float32, ldx, m int, w []float32, n, k, p0, p1 int, e *Epilogue) {
	f32TilesAVX512.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * ldx, m, n, k, p0, p1, e})
}

func matMulF16AVX512(dst []float32, ldd int, x []float32, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	f16TilesAVX512.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * ldx, m, n, k, p0, p1, e})
}

func matMulBF16AVX512(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	k = (k + 1) &^ 1
	wide := widenRows(x, ldx, m, k)
	defer rowsScratch.put(wide)
	bf16TilesAVX512.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&(*wide)[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * k, m, n, k / 2, p0, p1, e})
}

func matMulF32AVX2(dst []float32, ldd int, x []float32, ldx, m int, w []float32, n, k, p0, p1 int, e *Epilogue) {
	f32TilesAVX2.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * ldx, m, n, k, p0, p1, e})
}

func matMulF16AVX2(dst []float32, ldd int, x []float32, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	f16TilesAVX2.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * ldx, m, n, k, p0, p1, e})
}

func matMulBF16AVX2(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	k = (k + 1) &^ 1
	wide := widenRows(x, ldx, m, k)
	defer rowsScratch.put(wide)
	bf16TilesAVX2.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&(*wide)[0]), unsafe.Pointer(&w[0]), 4 * ldd, 4 * k, m, n, k / 2, p0, p1, e})
}

var bf16TilesBF16 = tiles{
	rows: 14, step: 128, xstep: 4,
	one:  [15]tileFunc{nil, mulBFZ1x2, mulBFZ2x2, mulBFZ3x2, mulBFZ4x2, mulBFZ5x2, mulBFZ6x2, mulBFZ7x2, mulBFZ8x2, mulBFZ9x2, mulBFZ10x2, mulBFZ11x2, mulBFZ12x2, mulBFZ13x2, mulBFZ14x2},
	few:  [5]tileFunc{1: mulBFZ1x8, 2: mulBFZ2x8, 3: mulBFZ3x4, 4: mulBFZ4x4},
	fewN: [5]int{1: 4, 2: 4, 3: 2, 4: 2},
	pair: [7]tileFunc{5: mulBFZ5x4, 6: mulBFZ6x4},
}

func matMulBF16AVX512BF16(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	bf16TilesBF16.run(&product{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, 2 * ldx, m, n, (k + 1) / 2, p0, p1, e})
}

var i8TilesAVX512VNNI = tilesI8{
	rows: 14,
	one:  [15]tileI8Func{nil, mulI8Z1x2, mulI8Z2x2, mulI8Z3x2, mulI8Z4x2, mulI8Z5x2, mulI8Z6x2, mulI8Z7x2, mulI8Z8x2, mulI8Z9x2, mulI8Z10x2, mulI8Z11x2, mulI8Z12x2, mulI8Z13x2, mulI8Z14x2},
	few:  [5]tileI8Func{1: mulI8Z1x8, 2: mulI8Z2x8, 3: mulI8Z3x4, 4: mulI8Z4x4},
	fewN: [5]int{1: 4, 2: 4, 3: 2, 4: 2},
	pair: [7]tileI8Func{5: mulI8Z5x4, 6: mulI8Z6x4},
}

func matMulI8AVX512VNNI(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	i8TilesAVX512VNNI.run(&productI8{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, ldx,
		unsafe.Pointer(&comp[0]), unsafe.Pointer(&scale[0]), unsafe.Pointer(&xscale[0]), m, n, (k + 3) / 4, p0, p1, e})
}

var i8TilesAVX512 = tilesI8{
	rows: 8,
	one:  [15]tileI8Func{nil, mulI8WZ1x2, mulI8WZ2x2, mulI8WZ3x2, mulI8WZ4x2, mulI8WZ5x2, mulI8WZ6x2, mulI8WZ7x2, mulI8WZ8x2},
}

func matMulI8AVX512(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	i8TilesAVX512.run(&productI8{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, ldx,
		unsafe.Pointer(&comp[0]), unsafe.Pointer(&scale[0]), unsafe.Pointer(&xscale[0]), m, n, (k + 3) / 4, p0, p1, e})
}

var i8TilesAVXVNNI = tilesI8{
	rows: 6,
	one:  [15]tileI8Func{nil, mulI8Y1x4, mulI8Y2x4, mulI8Y3x4},
	half: [15]tileI8Func{nil, nil, nil, nil, mulI8Y4x2, mulI8Y5x2, mulI8Y6x2},
	few:  [5]tileI8Func{1: mulI8Y1x8},
	fewN: [5]int{1: 2},
}

func matMulI8AVXVNNI(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	i8TilesAVXVNNI.run(&productI8{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, ldx,
		unsafe.Pointer(&comp[0]), unsafe.Pointer(&scale[0]), unsafe.Pointer(&xscale[0]), m, n, (k + 3) / 4, p0, p1, e})
}

var i8TilesAVX2 = tilesI8{
	rows: 4,
	half: [15]tileI8Func{nil, mulI8WY1x2, mulI8WY2x2, mulI8WY3x2, mulI8WY4x2},
}

func matMulI8AVX2(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	i8TilesAVX2.run(&productI8{dst, ldd, unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), 4 * ldd, ldx,
		unsafe.Pointer(&comp[0]), unsafe.Pointer(&scale[0]), unsafe.Pointer(&xscale[0]), m, n, (k + 3) / 4, p0, p1, e})
}
