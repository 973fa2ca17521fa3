package simd

import "unsafe"

// Panel is the number of columns (rows of the weight matrix, outputs) that packed weights keep together.
const Panel = 32

// Packed layouts, the same for all instruction sets. A weight matrix [n,k], row-major, one row per output,
// is cut into panels of 32 rows; n is padded to Panels(n)·32 rows of zeros:
//
//	float32, half  [n/32][k][32]       element (r,c) at ((r/32)·k + c)·32 + r%32
//	bfloat16       [n/32][k/2][32][2]  k padded to even with zeros
//	int8           [n/32][k/4][32][4]  k padded to a multiple of 4 with zeros
//
// The destination must be zero where it is padding (make gives that). The pack functions write the rows
// row … row+len(src)/k-1, so that matrices can be stacked (q|k|v), streamed, or packed by several
// goroutines: different rows are different elements.

// Panels returns the number of panels of n rows: n/32 rounded up.
func Panels(n int) int { return (n + Panel - 1) / Panel }

// PackedLen returns the elements of a packed float32 or half matrix [n,k].
func PackedLen(n, k int) int { return Panels(n) * Panel * k }

// PackedLenBF16 returns the elements of a packed bfloat16 matrix [n,k].
func PackedLenBF16(n, k int) int { return Panels(n) * Panel * ((k + 1) &^ 1) }

// PackedLenI8 returns the elements of a packed int8 matrix [n,k].
func PackedLenI8(n, k int) int { return Panels(n) * Panel * ((k + 3) &^ 3) }

// PackF32 packs rows of float32. It panics if dst is not PackedLen(n, k) long, src is not whole rows, or
// the rows row … exceed n; so do the other pack functions with their lengths.
func PackF32(dst []float32, n, k, row int, src []float32) {
	checkPack("PackF32", len(dst), PackedLen(n, k), n, k, row, len(src))
	pack(dst, k, 1, row, src)
}

// PackF16 packs rows of halfs as they are.
func PackF16(dst []uint16, n, k, row int, src []uint16) {
	checkPack("PackF16", len(dst), PackedLen(n, k), n, k, row, len(src))
	pack(dst, k, 1, row, src)
}

// PackBF16 packs rows of bfloat16. Subnormal numbers (below 2^-126) become zero, as the instructions
// for bfloat16 take them.
func PackBF16(dst []uint16, n, k, row int, src []uint16) {
	checkPack("PackBF16", len(dst), PackedLenBF16(n, k), n, k, row, len(src))
	packRows(k, row, src, func(line []uint16, row int, src []uint16) {
		copy(line, src)
		flushBF16(line)
		pack(dst, k, 2, row, line)
	})
}

// PackI8 packs rows of int8 and sets comp[r] = −128·Σ src[r], the start of the accumulators of row r:
// activations are stored with zero point 128. It panics if comp is not Panels(n)·32 long.
func PackI8(dst []int8, comp []int32, n, k, row int, src []int8) {
	checkPack("PackI8", len(dst), PackedLenI8(n, k), n, k, row, len(src))
	if len(comp) != Panels(n)*Panel {
		panic("simd: PackI8: length of comp")
	}
	pack(dst, k, 4, row, src)
	for i := range len(src) / k {
		comp[row+i] = -128 * sumI8(src[i*k:i*k+k])
	}
}

// sumI8 adds in four chains, which do not wait for each other.
func sumI8(x []int8) int32 {
	var a, b, c, d int32
	for ; len(x) >= 4; x = x[4:] {
		a += int32(x[0])
		b += int32(x[1])
		c += int32(x[2])
		d += int32(x[3])
	}
	for _, v := range x {
		a += int32(v)
	}
	return a + b + c + d
}

// PackF16FromF32 rounds rows of float32 to half (F16FromF32) and packs them.
func PackF16FromF32(dst []uint16, n, k, row int, src []float32) {
	checkPack("PackF16FromF32", len(dst), PackedLen(n, k), n, k, row, len(src))
	packRows(k, row, src, func(line []uint16, row int, src []float32) {
		F16FromF32(line, src)
		pack(dst, k, 1, row, line)
	})
}

// PackBF16FromF32 rounds rows of float32 to bfloat16, numbers below 2^-126 to zero, and packs them.
func PackBF16FromF32(dst []uint16, n, k, row int, src []float32) {
	checkPack("PackBF16FromF32", len(dst), PackedLenBF16(n, k), n, k, row, len(src))
	packRows(k, row, src, func(line []uint16, row int, src []float32) {
		active.roundRowBF16(line, src)
		pack(dst, k, 2, row, line)
	})
}

// PackF32FromF16 widens rows of halfs and packs them as float32.
func PackF32FromF16(dst []float32, n, k, row int, src []uint16) {
	checkPack("PackF32FromF16", len(dst), PackedLen(n, k), n, k, row, len(src))
	packRows(k, row, src, func(line []float32, row int, src []uint16) {
		F32FromF16(line, src)
		pack(dst, k, 1, row, line)
	})
}

// PackF32FromBF16 widens rows of bfloat16 and packs them as float32.
func PackF32FromBF16(dst []float32, n, k, row int, src []uint16) {
	checkPack("PackF32FromBF16", len(dst), PackedLen(n, k), n, k, row, len(src))
	packRows(k, row, src, func(line []float32, row int, src []uint16) {
		F32FromBF16(line, src)
		pack(dst, k, 1, row, line)
	})
}

// PackColumnsF32 packs a matrix given by columns, src[k,n] row-major: what PackF32 does with its
// transpose. A memory M [K,D] packed so (n = D, k = K) is read for several α at once by MatMulF32.
func PackColumnsF32(dst []float32, n, k int, src []float32) {
	checkPack("PackColumnsF32", len(dst), PackedLen(n, k), n, k, 0, len(src))
	for c := range k {
		for r := 0; r < n; r += Panel {
			end := min(r+Panel, n)
			copy(dst[(r/Panel*k+c)*Panel:], src[c*n+r:c*n+end])
		}
	}
}

// PackColumnsF16FromF32 rounds a matrix given by columns, src[k,n] row-major, to half and packs it.
func PackColumnsF16FromF32(dst []uint16, n, k int, src []float32) {
	checkPack("PackColumnsF16FromF32", len(dst), PackedLen(n, k), n, k, 0, len(src))
	for c := range k {
		for r := 0; r < n; r += Panel {
			end := min(r+Panel, n)
			F16FromF32(dst[(r/Panel*k+c)*Panel:], src[c*n+r:c*n+end])
		}
	}
}

func checkPack(name string, got, want, n, k, row, src int) {
	switch {
	case n < 1 || k < 1:
		panic("simd: " + name + ": no rows or no columns")
	case got != want:
		panic("simd: " + name + ": length of dst")
	case src%k != 0:
		panic("simd: " + name + ": src is not whole rows")
	case row < 0 || row+src/k > n:
		panic("simd: " + name + ": rows out of range")
	}
}

// packRows calls f for each row of src with a line of k elements to convert it into.
func packRows[D, S any](k, row int, src []S, f func(line []D, row int, src []S)) {
	line := make([]D, k)
	for i := range len(src) / k {
		f(line, row+i, src[i*k:i*k+k])
	}
}

// pack writes whole rows of src into dst; g columns of a row stay together.
func pack[T float32 | uint16 | int8](dst []T, k, g, row int, src []T) {
	for len(src) > 0 {
		if row%Panel == 0 && len(src) >= Panel*k && k%g == 0 {
			packPanel(dst[row*k:(row+Panel)*k], src[:Panel*k], g)
			row, src = row+Panel, src[Panel*k:]
			continue
		}
		p := dst[row/Panel*Panel*((k+g-1)/g*g)+row%Panel*g:]
		for c := 0; c < k; c += g {
			copy(p[c*Panel:], src[c:min(c+g, k)])
		}
		row, src = row+1, src[k:]
	}
}

// packPanel is pack for the rows of one panel. The g columns that stay together are moved as one number of
// two or four bytes.
func packPanel[T float32 | uint16 | int8](dst, src []T, g int) {
	to, from, n := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(src)/g
	switch int(unsafe.Sizeof(src[0])) * g {
	case 2:
		transpose(unsafe.Slice((*uint16)(to), n), unsafe.Slice((*uint16)(from), n))
	case 4:
		transpose(unsafe.Slice((*uint32)(to), n), unsafe.Slice((*uint32)(from), n))
	default:
		panic("simd: pack: size of a group")
	}
}

// transpose writes src [Panel,k] to dst [k,Panel], 32 columns of all rows at a time: they fill and are
// read in whole cache lines.
func transpose[U uint16 | uint32](dst, src []U) {
	k := len(src) / Panel
	for c := 0; c < k; c += Panel {
		n := min(Panel, k-c)
		block := dst[c*Panel : (c+n)*Panel]
		for r := range Panel {
			for i, v := range src[r*k+c : r*k+c+n] {
				block[i*Panel+r] = v
			}
		}
	}
}

// flushBF16 replaces subnormal numbers by zeros of their sign.
func flushBF16(x []uint16) {
	for i, b := range x {
		if b&0x7f80 == 0 {
			x[i] = b & 0x8000
		}
	}
}
