package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// benchEachSet runs a benchmark with every set.
func benchEachSet(b *testing.B, f func(b *testing.B)) {
	for _, name := range Sets()[1:] {
		b.Run(name, func(b *testing.B) {
			restore, err := Force(name)
			if err != nil {
				b.Fatal(err)
			}
			defer restore()
			f(b)
		})
	}
}

func BenchmarkPeak(b *testing.B) {
	report := func(b *testing.B, name string, f func(int) int) {
		if ops := f(1000); ops > 0 {
			b.Run(name, func(b *testing.B) { best(b, ops, func() { f(1000) }) })
		}
	}
	benchEachSet(b, func(b *testing.B) {
		report(b, "FMA", PeakFMA)
		report(b, "I8", PeakI8)
		report(b, "BF16", PeakBF16)
	})
}

func BenchmarkReadMemory(b *testing.B) {
	for _, size := range []int{32 << 10, 1 << 20, 16 << 20, 1 << 30} {
		p := make([]byte, size)
		for i := 0; i < size; i += 4096 {
			p[i] = 1
		}
		b.Run(fmt.Sprintf("%dK", size>>10), func(b *testing.B) {
			best(b, size, func() { ReadMemory(p) })
		})
	}
}

// BenchmarkMatMul is the linear layer 1024×1024, hot.
func BenchmarkMatMul(b *testing.B) {
	const n, k = 1024, 1024
	rng := rand.New(rand.NewPCG(1, 1))
	ms := []int{1, 2, 4, 8, 14, 16, 32, 64, 256}
	p := newProblem(rng, 256, n, k)
	ld := k + 16
	x := randomFloats(rng, 256*ld)
	dst := make([]float32, 256*ld)
	half, byte8, comp, scale := make([]uint16, 256*ld), make([]uint8, 256*ld), make([]int32, n), make([]float32, n)
	w16, w8 := make([]uint16, PackedLenBF16(n, k)), make([]int8, PackedLenI8(n, k))
	benchEachSet(b, func(b *testing.B) {
		for _, m := range ms {
			b.Run(fmt.Sprintf("f16/m=%d", m), func(b *testing.B) {
				fraction(b, 2*m*n*k, func() { MatMulF16(dst, ld, x, ld, m, p.f16, n, k, 0, n/Panel, nil) }, PeakFMA)
			})
		}
		for _, m := range ms {
			b.Run(fmt.Sprintf("f32/m=%d", m), func(b *testing.B) {
				fraction(b, 2*m*n*k, func() { MatMulF32(dst, ld, x, ld, m, p.f32, n, k, 0, n/Panel, nil) }, PeakFMA)
			})
		}
		for _, m := range ms {
			b.Run(fmt.Sprintf("bf16/m=%d", m), func(b *testing.B) {
				fraction(b, 2*m*n*k, func() { MatMulBF16(dst, ld, half, ld, m, w16, n, k, 0, n/Panel, nil) }, PeakFMA)
			})
		}
		for _, m := range ms {
			b.Run(fmt.Sprintf("i8/m=%d", m), func(b *testing.B) {
				fraction(b, 2*m*n*k, func() { MatMulI8(dst, ld, byte8, ld, scale, m, w8, scale, comp, n, k, 0, n/Panel, nil) }, PeakI8)
			})
		}
	})
}

// fraction runs f, of the given operations, in turn with the peak loop and reports both rates, each of the
// fastest run, and their ratio.
func fraction(b *testing.B, ops int, f func(), peak func(int) int) {
	least, limit, work := time.Duration(1<<62), time.Duration(1<<62), 0
	for b.Loop() {
		start := time.Now()
		f()
		middle := time.Now()
		work = peak(4000)
		least, limit = min(least, middle.Sub(start)), min(limit, time.Since(middle))
	}
	rate, top := float64(ops)/float64(least), float64(work)/float64(limit)
	b.ReportMetric(rate, "Gop/s")
	if work > 0 {
		b.ReportMetric(100*rate/top, "%peak")
	}
	b.ReportMetric(0, "ns/op")
}

// best runs f, of the given operations, and reports the rate of the fastest run: on a machine with other
// work the mean says little.
func best(b *testing.B, ops int, f func()) {
	least := time.Duration(1 << 62)
	for b.Loop() {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(ops)/float64(least), "Gop/s")
	b.ReportMetric(0, "ns/op")
}
