package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// perCall reports the time of the fastest call in nanoseconds.
func perCall(b *testing.B, name string, f func()) {
	b.Run(name, func(b *testing.B) {
		least := time.Duration(1 << 62)
		for b.Loop() {
			start := time.Now()
			for range 8 {
				f()
			}
			least = min(least, time.Since(start))
		}
		b.ReportMetric(float64(least)/8, "best-ns")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkRow measures the kernels of a decode step of the paper's sizes: d 1024, 16 heads, 4 and 32 slots,
// vocabulary 32,768.
func BenchmarkRow(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const d, vocabulary = 1024, 32768
	x, g, y := randomFloats(rng, d), randomFloats(rng, d), make([]float32, d)
	logits, large := randomFloats(rng, vocabulary), randomFloats(rng, 267744)
	memory, half := randomFloats(rng, 32*d), make([]uint16, 32*d)
	alpha := make([]float32, 32)
	q8, q16 := make([]uint8, d), make([]uint16, d)
	values, indices := make([]float32, 10), make([]int32, 10)
	keys := randomFloats(rng, 64*64)
	benchEachSet(b, func(b *testing.B) {
		if Set() == "avxvnni" || Set() == "avx512vnni" || Set() == "avx512bf16" {
			b.Skip("as the set below it")
		}
		perCall(b, "LayerNorm", func() { LayerNorm(y, x, g, g, 1e-5) })
		perCall(b, "Add", func() { Add(y, x, g) })
		perCall(b, "GELU", func() { GELU(y, x) })
		perCall(b, "Tanh", func() { Tanh(y, x) })
		perCall(b, "Exp", func() { Exp(y, x) })
		perCall(b, "QuantizeRows", func() { QuantizeRows(q8, d, alpha, x, d, 1, d) })
		perCall(b, "RoundRowsBF16", func() { RoundRowsBF16(q16, d, x, d, 1, d) })
		perCall(b, "SlotSoftmax/16x4", func() { SlotSoftmax(alpha[:4], x[:64], 16) })
		perCall(b, "SlotSoftmax/16x32", func() { SlotSoftmax(alpha, x[:512], 16) })
		perCall(b, "MemoryStep/4", func() { MemoryStep(y, memory[:4*d], alpha[:4], x, alpha[4:8], 0.5) })
		perCall(b, "MemoryRead/32", func() { MemoryRead(y, memory, alpha, 1) })
		perCall(b, "MemoryReadF16/32", func() { MemoryReadF16(y, half, alpha, 1) })
		perCall(b, "Scores/64x64", func() { Scores(y[:64], x[:64], keys, 64, 1) })
		perCall(b, "WeightedSum/64x64", func() { WeightedSum(y[:64], x[:64], keys, 64, 1) })
		perCall(b, "LogNormalizer/32768", func() { LogNormalizer(logits) })
		for _, k := range []int{1, 10} {
			perCall(b, fmt.Sprintf("TopK/%d of 32768", k), func() { TopK(values[:k], indices, logits) })
			perCall(b, fmt.Sprintf("TopK/%d of 267744", k), func() { TopK(values[:k], indices, large) })
		}
	})
}

// BenchmarkDRAM multiplies one row with matrices that exceed the caches together, so that their reading is the
// limit, in turn with a plain read of as many bytes.
func BenchmarkDRAM(b *testing.B) {
	const n, k, count = 1024, 4096, 160 // 8 MB each as halfs, 1.3 GB together
	weights := make([]uint16, count*n*k)
	for i := 0; i < len(weights); i += 2048 {
		weights[i] = 1
	}
	x, dst := make([]float32, k), make([]float32, n)
	plain := make([]byte, 1<<30)
	for i := 0; i < len(plain); i += 4096 {
		plain[i] = 1
	}
	benchEachSet(b, func(b *testing.B) {
		least, limit := time.Hour, time.Hour
		for i := 0; b.Loop(); i++ {
			w := weights[i%count*n*k : (i%count+1)*n*k]
			start := time.Now()
			MatMulF16(dst, n, x, k, 1, w, n, k, 0, Panels(n), nil)
			middle := time.Now()
			ReadMemory(plain[i%count%128*len(plain)/128:][:len(plain)/128])
			least, limit = min(least, middle.Sub(start)), min(limit, time.Since(middle))
		}
		rate, top := float64(2*n*k)/float64(least), float64(len(plain)/128)/float64(limit)
		b.ReportMetric(rate, "GB/s")
		b.ReportMetric(100*rate/top, "%read")
		b.ReportMetric(0, "ns/op")
	})
}
