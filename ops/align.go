package ops

import (
	"fmt"
	"math"

	"memsizer/simd"
)

// MemoryWeights writes to w [S] what each source position contributes to a
// read of one query row q [1, H·K]: w_j = S^-½ Σ_k α_k κ_j,k, α the slot
// weights of q and κ_j the key-normed first K columns of kv [S, K + D].
func (c *CPU) MemoryWeights(w []float32, q, kv Matrix, k int, n MemoryNorms) {
	if q.Rows != 1 || len(w) != kv.Rows || q.Cols%k != 0 || kv.Cols < k {
		panic(fmt.Sprintf("ops: memory weights: %d of [%d %d] for [%d %d]", len(w), kv.Rows, kv.Cols, q.Rows, q.Cols))
	}
	alpha := c.slotWeights(q.Row(0), k)
	kappa := growTo(&c.kappa, k)
	scale := float32(1 / math.Sqrt(float64(kv.Rows)))
	for j := range w {
		n.Key.row(kappa, kv.Row(j)[:k])
		w[j] = scale * simd.Dot(alpha, kappa)
	}
}

// AttentionWeights writes to w [S] the mean over the heads of the softmax of
// one query row q [1, D] over the keys of kv [S, 2·D].
func (c *CPU) AttentionWeights(w []float32, q, kv Matrix, heads int) {
	if q.Rows != 1 || len(w) != kv.Rows || kv.Cols != 2*q.Cols {
		panic(fmt.Sprintf("ops: attention weights: %d of [%d %d] for [%d %d]", len(w), kv.Rows, kv.Cols, q.Rows, q.Cols))
	}
	d := q.Cols / heads
	scale := float32(1 / math.Sqrt(float64(d)))
	s := growTo(&c.scores, len(w))
	clear(w)
	for h := range heads {
		simd.Scores(s, q.Row(0)[h*d:(h+1)*d], kv.Data[h*d:], kv.Stride, scale)
		simd.Softmax(s, s)
		simd.AXPY(w, 1/float32(heads), s)
	}
}
