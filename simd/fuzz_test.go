package simd

import (
	"encoding/binary"
	"math"
	"testing"
)

// floatsOf reads the fuzzer's bytes as numbers.
func floatsOf(data []byte) []float32 {
	x := make([]float32, len(data)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return x
}

// FuzzRows runs the kernels of one row of any bits, in every set, against the generic ones.
func FuzzRows(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), byte(3))
	f.Add([]byte{0, 0, 0x80, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0x80, 1, 0, 0, 0}, byte(1))
	f.Fuzz(func(t *testing.T, data []byte, heads byte) {
		x := floatsOf(data)
		if len(x) == 0 {
			return
		}
		h := int(heads)%len(x) + 1
		q := x[:len(x)/h*h]
		run := func() map[string][]float32 {
			out := map[string][]float32{}
			row := func(name string, n int, f func(dst []float32)) {
				d := make([]float32, n)
				f(d)
				out[name] = d
			}
			for _, k := range unaryKernels {
				row(k.name, len(x), func(d []float32) { k.f(d, x) })
			}
			row("Softmax", len(x), func(d []float32) { Softmax(d, x) })
			row("LogSoftmax", len(x), func(d []float32) { LogSoftmax(d, x) })
			row("LayerNorm", len(x), func(d []float32) { LayerNorm(d, x, x, x, 1e-5) })
			row("SlotSoftmax", len(q)/h, func(d []float32) { SlotSoftmax(d, q, h) })
			row("Dot", 1, func(d []float32) { d[0] = Dot(x, x) })
			row("TopK", 6, func(d []float32) {
				var at [3]int32
				TopK(d[:3], at[:], x)
				for i, a := range at {
					d[3+i] = float32(a)
				}
			})
			row("Quantize", len(x)+1, func(d []float32) {
				b := make([]uint8, (len(x)+3)&^3)
				QuantizeRows(b, len(b), d, x, len(x), 1, len(x))
				for i := range x {
					d[1+i] = float32(b[i])
				}
			})
			row("F16", len(x), func(d []float32) {
				b := make([]uint16, len(x))
				F16FromF32(b, x)
				F32FromF16(d, b)
			})
			row("BF16", len(x), func(d []float32) {
				b := make([]uint16, len(x))
				BF16FromF32(b, x)
				F32FromBF16(d, b)
			})
			return out
		}
		restore, _ := Force("generic")
		want := run()
		restore()
		for _, set := range Sets()[1:] {
			restore, _ := Force(set)
			for name, got := range run() {
				sameFloats(t, set+" "+name, got, want[name])
			}
			restore()
		}
	})
}

// FuzzMatMul runs products of any shape and bits, in every set, against the generic ones.
func FuzzMatMul(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), byte(3), byte(40), byte(5))
	f.Add([]byte{0, 0, 0x80, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0x80, 1, 0, 0, 0}, byte(17), byte(3), byte(9))
	f.Fuzz(func(t *testing.T, data []byte, rows, columns, depth byte) {
		m, n, k := int(rows)%34, int(columns)%70+1, int(depth)%20+1
		values := floatsOf(data)
		if len(values) == 0 {
			return
		}
		fill := func(count, from int) []float32 {
			x := make([]float32, count)
			for i := range x {
				x[i] = values[(from+i)%len(values)]
			}
			return x
		}
		x, w := fill(m*k+1, 0), fill(n*k, 3)
		f32s, f16s := make([]float32, PackedLen(n, k)), make([]uint16, PackedLen(n, k))
		PackF32(f32s, n, k, 0, w)
		PackF16FromF32(f16s, n, k, 0, w)
		w8, comp, scale := make([]int8, PackedLenI8(n, k)), make([]int32, Panels(n)*Panel), make([]float32, Panels(n)*Panel)
		rows8 := make([]int8, n*k)
		for i := range rows8 {
			rows8[i] = int8(data[i%len(data)])
		}
		PackI8(w8, comp, n, k, 0, rows8)
		copy(scale, fill(n, 1))
		k4 := (k + 3) &^ 3
		x8 := make([]uint8, m*k4+1)
		for i := range x8 {
			x8[i] = data[(i+5)%len(data)]
		}
		run := func() [3][]float32 {
			a, b, c := make([]float32, m*n+1), make([]float32, m*n+1), make([]float32, m*n+1)
			MatMulF32(a, n, x, k, m, f32s, n, k, 0, Panels(n), nil)
			MatMulF16(b, n, x, k, m, f16s, n, k, 0, Panels(n), nil)
			MatMulI8(c, n, x8, k4, fill(m, 2), m, w8, scale, comp, n, k, 0, Panels(n), nil)
			return [3][]float32{a, b, c}
		}
		restore, _ := Force("generic")
		want := run()
		restore()
		for _, set := range Sets()[1:] {
			restore, _ := Force(set)
			for i, got := range run() {
				sameFloats(t, set+[]string{" f32", " f16", " i8"}[i], got, want[i])
			}
			restore()
		}
	})
}
