package ops

import (
	"math"
	"math/rand/v2"
	"testing"
)

func randomMatrix(r *rand.Rand, rows, cols int) Matrix {
	m := NewMatrix(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	return m
}

func unitNorm(n int) *Norm {
	w := make([]float32, n)
	for i := range w {
		w[i] = 1
	}
	return &Norm{Weight: w, Bias: make([]float32, n), Eps: 1e-5}
}

// The weights of a source's positions times their values are what the memory
// gives to the query.
func TestMemoryWeightsAreTheRead(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const s, k, d, heads = 11, 7, 36, 3
	q, kv := randomMatrix(r, 1, heads*k), randomMatrix(r, s, k+d)
	n := MemoryNorms{unitNorm(k), unitNorm(d)}
	c := NewCPU()
	m := NewMemory(1, k, d)
	c.MemoryBuild(m, 0, kv, n)
	want := NewMatrix(1, d)
	c.MemoryRead(want, q, m, []int32{0})
	w := make([]float32, s)
	c.MemoryWeights(w, q, kv, k, n)
	got := make([]float64, d)
	nu := make([]float32, d)
	for j := range s {
		n.Value.row(nu, kv.Row(j)[k:])
		for i, v := range nu {
			got[i] += float64(w[j]) * float64(v)
		}
	}
	for i, v := range want.Row(0) {
		if math.Abs(got[i]-float64(v)) > 1e-5 {
			t.Errorf("column %d: %v, want %v", i, got[i], v)
		}
	}
}

// Of one head, the weights times the values are the attention's output; over
// several they sum to 1.
func TestAttentionWeightsAreTheRead(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const s, d = 9, 20
	q, kv := randomMatrix(r, 1, d), randomMatrix(r, s, 2*d)
	c := NewCPU()
	want := NewMatrix(1, d)
	c.SourceAttention(want, q, []Matrix{kv}, 1)
	w := make([]float32, s)
	c.AttentionWeights(w, q, kv, 1)
	for i, v := range want.Row(0) {
		var got float64
		for j := range s {
			got += float64(w[j]) * float64(kv.Row(j)[d+i])
		}
		if math.Abs(got-float64(v)) > 1e-5 {
			t.Errorf("column %d: %v, want %v", i, got, v)
		}
	}
	c.AttentionWeights(w, q, kv, 5)
	var sum float64
	for _, v := range w {
		sum += float64(v)
	}
	if math.Abs(sum-1) > 1e-5 {
		t.Errorf("the weights sum to %v, want 1", sum)
	}
}
