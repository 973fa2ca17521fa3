package simd

import "github.com/x448/float16"

func matMulF32Generic(dst []float32, ldd int, x []float32, ldx, m int, w []float32, n, k, p0, p1 int, e *Epilogue) {
	for p := p0; p < p1; p++ {
		c0, c1 := p*Panel, min((p+1)*Panel, n)
		panel := w[p*Panel*k : (p+1)*Panel*k]
		for r := range m {
			var acc [Panel]float32
			for i, v := range x[r*ldx : r*ldx+k] {
				for j, wj := range panel[i*Panel : (i+1)*Panel] {
					acc[j] = fma32(v, wj, acc[j])
				}
			}
			copy(dst[r*ldd+c0:r*ldd+c1], acc[:])
		}
		e.apply(dst, ldd, 0, m, c0, c1)
	}
}

func matMulF16Generic(dst []float32, ldd int, x []float32, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	for p := p0; p < p1; p++ {
		c0, c1 := p*Panel, min((p+1)*Panel, n)
		panel := w[p*Panel*k : (p+1)*Panel*k]
		for r := range m {
			var acc [Panel]float32
			for i, v := range x[r*ldx : r*ldx+k] {
				for j, wj := range panel[i*Panel : (i+1)*Panel] {
					acc[j] = fma32(v, float16.Frombits(wj).Float32(), acc[j])
				}
			}
			copy(dst[r*ldd+c0:r*ldd+c1], acc[:])
		}
		e.apply(dst, ldd, 0, m, c0, c1)
	}
}

func matMulBF16Generic(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	k = (k + 1) &^ 1
	for p := p0; p < p1; p++ {
		c0, c1 := p*Panel, min((p+1)*Panel, n)
		panel := w[p*Panel*k : (p+1)*Panel*k]
		for r := range m {
			var acc [Panel]float32
			row := x[r*ldx : r*ldx+k]
			for i := 0; i < k; i += 2 {
				even, odd := f32FromBF16(row[i]), f32FromBF16(row[i+1])
				pair := panel[i*Panel : (i+2)*Panel]
				for j := range acc {
					s := fma32(odd, f32FromBF16(pair[2*j+1]), acc[j])
					acc[j] = fma32(even, f32FromBF16(pair[2*j]), s)
				}
			}
			copy(dst[r*ldd+c0:r*ldd+c1], acc[:])
		}
		e.apply(dst, ldd, 0, m, c0, c1)
	}
}

func matMulI8Generic(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	k = (k + 3) &^ 3
	for p := p0; p < p1; p++ {
		c0, c1 := p*Panel, min((p+1)*Panel, n)
		panel := w[p*Panel*k : (p+1)*Panel*k]
		for r := range m {
			acc := [Panel]int32(comp[p*Panel:])
			row := x[r*ldx : r*ldx+k]
			for i := 0; i < k; i += 4 {
				four := panel[i*Panel : (i+4)*Panel]
				for j := range acc {
					acc[j] += int32(row[i])*int32(four[4*j]) + int32(row[i+1])*int32(four[4*j+1]) +
						int32(row[i+2])*int32(four[4*j+2]) + int32(row[i+3])*int32(four[4*j+3])
				}
			}
			for c := c0; c < c1; c++ {
				dst[r*ldd+c] = float32(float32(acc[c-c0])*xscale[r]) * scale[c]
			}
		}
		e.apply(dst, ldd, 0, m, c0, c1)
	}
}
