package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkCold is a linear layer 1024×4096 over weights of 256 MB in turn, as a decoder step reads them, beside
// the multiply-add peak and a plain read of as many bytes.
func BenchmarkCold(b *testing.B) {
	const n, k, total = 4096, 1024, 256 << 20
	const count16, count8 = total / (2 * n * k), total / (n * k)
	w16, w8 := make([]uint16, total/2), make([]int8, total)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range w16 {
		w16[i] = uint16(rng.Uint32())&0x83ff | 0x2c00 // ±1/16 to 1/8
	}
	for i := range w8 {
		w8[i] = int8(rng.Uint32())
	}
	plain := make([]byte, total)
	for i := 0; i < total; i += 4096 {
		plain[i] = 1
	}
	ldx, ld := k+16, n+16
	x, dst := randomFloats(rng, 256*ldx), make([]float32, 256*ld)
	byte8, comp, scale := make([]uint8, 256*ldx), make([]int32, n), make([]float32, n)
	for i := range byte8 {
		byte8[i] = uint8(rng.Uint32())
	}
	benchEachSet(b, func(b *testing.B) {
		for _, m := range []int{1, 2, 5, 8, 14, 16, 32, 64, 256} {
			b.Run(fmt.Sprintf("f16/m=%d", m), func(b *testing.B) {
				cold(b, 2*m*n*k, plain[:2*n*k], PeakFMA, func(i int) {
					i %= count16
					MatMulF16(dst, ld, x, ldx, m, w16[i*n*k:(i+1)*n*k], n, k, 0, n/Panel, nil)
				})
			})
			b.Run(fmt.Sprintf("i8/m=%d", m), func(b *testing.B) {
				cold(b, 2*m*n*k, plain[:n*k], PeakI8, func(i int) {
					i %= count8
					MatMulI8(dst, ld, byte8, ldx, scale, m, w8[i*n*k:(i+1)*n*k], scale, comp, n, k, 0, n/Panel, nil)
				})
			})
		}
	})
}

// cold runs f on one matrix after the other and reports its rate, the bytes of weights it reads a second, and
// the larger of the parts of the peak and of the reading speed it reaches. The rates are medians of passes
// over all matrices.
func cold(b *testing.B, ops int, plain []byte, peak func(int) int, f func(i int)) {
	bytes := len(plain)
	passes := (256 << 20) / bytes
	all := plain[:256<<20]
	var work, read, top []float64
	for b.Loop() {
		start := time.Now()
		for i := range passes {
			f(i)
		}
		middle := time.Now()
		ReadMemory(all)
		last := time.Now()
		n := peak(100000)
		work = append(work, float64(middle.Sub(start))/float64(passes))
		read = append(read, float64(last.Sub(middle))/float64(passes))
		top = append(top, float64(time.Since(last))/float64(max(n, 1)))
	}
	t := median(work)
	b.ReportMetric(float64(ops)/t, "Gop/s")
	b.ReportMetric(float64(bytes)/t, "GB/s")
	b.ReportMetric(100*max(median(read), median(top)*float64(ops))/t, "%roof")
	b.ReportMetric(0, "ns/op")
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
