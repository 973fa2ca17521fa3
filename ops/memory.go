package ops

import (
	"fmt"
	"math"
)

// Memory holds key-value memories M [K, D] of MemSizer attention, one per
// slot: a decoder row's causal memory or a sentence's cross memory. Its
// element order is private to the operators.
type Memory struct {
	K, D int
	data []float32
}

// NewMemory returns memories for n slots, all zero.
func NewMemory(n, k, d int) *Memory {
	return &Memory{K: k, D: d, data: make([]float32, n*k*d)}
}

// Slots is the number of memories.
func (m *Memory) Slots() int { return len(m.data) / (m.K * m.D) }

func (m *Memory) slot(i int32) []float32 {
	n := m.K * m.D
	return m.data[int(i)*n : (int(i)+1)*n]
}

// MemoryNorms are the layer norms of a MemSizer attention, over the K keys
// and the D values of a row.
type MemoryNorms struct{ Key, Value *Norm }

// slotWeights writes α = mean over heads of softmax(q_head) to c.weights:
// q [H·K], α [K] (Zhang & Cai 2022, arXiv:2203.12644; not scaled by 1/√H).
func (c *CPU) slotWeights(q []float32, k int) []float32 {
	alpha := grow(&c.weights, k)
	clear(alpha)
	heads := len(q) / k
	for h := range heads {
		s := q[h*k : (h+1)*k]
		top := float32(math.Inf(-1))
		for _, v := range s {
			top = max(top, v)
		}
		var sum float32
		e := grow(&c.scores, k)
		for i, v := range s {
			e[i] = float32(math.Exp(float64(v - top)))
			sum += e[i]
		}
		for i := range e {
			alpha[i] += e[i] / sum
		}
	}
	for i := range alpha {
		alpha[i] /= float32(heads)
	}
	return alpha
}

// MemoryStep is causal MemSizer attention for R rows, in order: with κ =
// LN_k(k), ν = LN_v(v) and α the slot weights of q,
//
//	M[to] = M[from] + κ νᵀ;  dst = t^-½ · αᵀ M[to]
//
// where t (1-based) is the row's position. qkv [R, H·K + K + D] holds the
// projections side by side; dst [R, D]. A row with from ≠ to leaves M[from]
// as it is: a beam that was copied. Rows that share a memory are processed
// in order, so that a whole sequence may be given at once. Before the first
// token (t = 1) the memory is zero whatever the slot holds.
func (c *CPU) MemoryStep(dst, qkv Matrix, m *Memory, from, to, t []int32, n MemoryNorms) {
	wantShape("memory step", dst, qkv.Rows, m.D)
	hk := qkv.Cols - m.K - m.D
	if hk <= 0 || hk%m.K != 0 {
		panic(fmt.Sprintf("ops: memory step: %d columns for K %d, D %d", qkv.Cols, m.K, m.D))
	}
	kappa := grow(&c.kappa, m.K+m.D)
	nu := kappa[m.K:]
	for r := range qkv.Rows {
		row := qkv.Row(r)
		n.Key.row(kappa[:m.K], row[hk:hk+m.K])
		n.Value.row(nu, row[hk+m.K:])
		alpha := c.slotWeights(row[:hk], m.K)
		src, mem, y := m.slot(from[r]), m.slot(to[r]), dst.Row(r)
		scale := float32(1 / math.Sqrt(float64(t[r])))
		clear(y)
		if t[r] == 1 {
			src = mem
			clear(mem)
		}
		for k := range m.K {
			a, b, w := src[k*m.D:(k+1)*m.D], mem[k*m.D:(k+1)*m.D], kappa[k]
			for j, v := range nu {
				b[j] = a[j] + w*v
				y[j] += alpha[k] * b[j]
			}
		}
		for j := range y {
			y[j] *= scale
		}
	}
}

// MemoryBuild is the memory of a whole source: M[slot] = L^-½ Σ_j κ_j ν_jᵀ
// over the L rows of kv [L, K + D].
func (c *CPU) MemoryBuild(m *Memory, slot int32, kv Matrix, n MemoryNorms) {
	if kv.Cols != m.K+m.D {
		panic(fmt.Sprintf("ops: memory build: %d columns for K %d, D %d", kv.Cols, m.K, m.D))
	}
	mem := m.slot(slot)
	clear(mem)
	kappa := grow(&c.kappa, m.K+m.D)
	nu := kappa[m.K:]
	for r := range kv.Rows {
		row := kv.Row(r)
		n.Key.row(kappa[:m.K], row[:m.K])
		n.Value.row(nu, row[m.K:])
		for k := range m.K {
			b := mem[k*m.D : (k+1)*m.D]
			for j, v := range nu {
				b[j] += kappa[k] * v
			}
		}
	}
	scale := float32(1 / math.Sqrt(float64(kv.Rows)))
	for i := range mem {
		mem[i] *= scale
	}
}

// MemoryRead is MemSizer attention over a finished memory: dst = αᵀ
// M[slots[r]] with q [R, H·K], dst [R, D].
func (c *CPU) MemoryRead(dst, q Matrix, m *Memory, slots []int32) {
	wantShape("memory read", dst, q.Rows, m.D)
	if q.Cols%m.K != 0 {
		panic(fmt.Sprintf("ops: memory read: %d columns for K %d", q.Cols, m.K))
	}
	for r := range q.Rows {
		alpha := c.slotWeights(q.Row(r), m.K)
		mem, y := m.slot(slots[r]), dst.Row(r)
		clear(y)
		for k := range m.K {
			for j, v := range mem[k*m.D : (k+1)*m.D] {
				y[j] += alpha[k] * v
			}
		}
	}
}
