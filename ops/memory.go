package ops

import (
	"fmt"
	"math"
	"slices"

	"memsizer/simd"
)

// Memory holds key-value memories M [K, D] of MemSizer attention, one per
// slot: a decoder row's causal memory or a sentence's cross memory. Its
// element order is private to the operators.
type Memory struct {
	K, D int
	data []float32
	// Of memories in halfs: data is empty, and a memory with numbers too large
	// for a half is kept apart.
	half []uint16
	wide map[int32][]float32
}

// NewMemory returns memories for n slots, all zero.
func NewMemory(n, k, d int) *Memory {
	return &Memory{K: k, D: d, data: make([]float32, n*k*d)}
}

// NewHalfMemory returns memories for n slots that [CPU.MemoryBuild] rounds to
// half when they are finished: reading them takes half the time. They cannot
// be updated step by step.
func NewHalfMemory(n, k, d int) *Memory {
	return &Memory{K: k, D: d, half: make([]uint16, n*k*d), wide: map[int32][]float32{}}
}

// Slots is the number of memories.
func (m *Memory) Slots() int { return (len(m.data) + len(m.half)) / (m.K * m.D) }

func (m *Memory) halfSlot(i int32) []uint16 {
	n := m.K * m.D
	return m.half[int(i)*n : (int(i)+1)*n]
}

// largestHalf is the largest number that a half can have.
const largestHalf = 65504

// store keeps a finished memory in slot i.
func (m *Memory) store(i int32, mem []float32) {
	delete(m.wide, i)
	for _, v := range mem {
		if !(v <= largestHalf && v >= -largestHalf) {
			m.wide[i] = slices.Clone(mem)
			return
		}
	}
	simd.F16FromF32(m.halfSlot(i), mem)
}

// read computes y = αᵀ M[i].
func (m *Memory) read(y []float32, i int32, alpha []float32) {
	if m.half == nil {
		simd.MemoryRead(y, m.slot(i), alpha, 1)
	} else if w, ok := m.wide[i]; ok {
		simd.MemoryRead(y, w, alpha, 1)
	} else {
		simd.MemoryReadF16(y, m.halfSlot(i), alpha, 1)
	}
}

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
	alpha := growTo(&c.weights, k)
	simd.SlotSoftmax(alpha, q, len(q)/k)
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
	c.Begin(PhaseAttention)
	defer c.End()
	hk := qkv.Cols - m.K - m.D
	if hk <= 0 || hk%m.K != 0 {
		panic(fmt.Sprintf("ops: memory step: %d columns for K %d, D %d", qkv.Cols, m.K, m.D))
	}
	kappa := growTo(&c.kappa, m.K+m.D)
	nu := kappa[m.K:]
	for r := range qkv.Rows {
		row := qkv.Row(r)
		n.Key.row(kappa[:m.K], row[hk:hk+m.K])
		n.Value.row(nu, row[hk+m.K:])
		alpha := c.slotWeights(row[:hk], m.K)
		src, mem, y := m.slot(from[r]), m.slot(to[r]), dst.Row(r)
		switch {
		case t[r] == 1:
			clear(mem)
		case from[r] != to[r]:
			copy(mem, src)
		}
		simd.MemoryStep(y, mem, kappa[:m.K], nu, alpha, float32(1/math.Sqrt(float64(t[r]))))
	}
}

// MemoryBuild is the memory of a whole source: M[slot] = L^-½ Σ_j κ_j ν_jᵀ
// over the L rows of kv [L, K + D].
func (c *CPU) MemoryBuild(m *Memory, slot int32, kv Matrix, n MemoryNorms) {
	if kv.Cols != m.K+m.D {
		panic(fmt.Sprintf("ops: memory build: %d columns for K %d, D %d", kv.Cols, m.K, m.D))
	}
	c.Begin(PhaseAttention)
	defer c.End()
	var mem []float32
	if m.half == nil {
		mem = m.slot(slot)
	} else {
		mem = growTo(&c.built, m.K*m.D)
	}
	clear(mem)
	kappa := growTo(&c.kappa, m.K+m.D)
	nu := kappa[m.K:]
	for r := range kv.Rows {
		row := kv.Row(r)
		n.Key.row(kappa[:m.K], row[:m.K])
		n.Value.row(nu, row[m.K:])
		simd.MemoryUpdate(mem, kappa[:m.K], nu)
	}
	simd.Scale(mem, mem, float32(1/math.Sqrt(float64(kv.Rows))))
	if m.half != nil {
		m.store(slot, mem)
	}
}

// MemoryRead is MemSizer attention over a finished memory: dst = αᵀ
// M[slots[r]] with q [R, H·K], dst [R, D].
func (c *CPU) MemoryRead(dst, q Matrix, m *Memory, slots []int32) {
	wantShape("memory read", dst, q.Rows, m.D)
	c.Begin(PhaseAttention)
	defer c.End()
	if q.Cols%m.K != 0 {
		panic(fmt.Sprintf("ops: memory read: %d columns for K %d", q.Cols, m.K))
	}
	for r := range q.Rows {
		alpha := c.slotWeights(q.Row(r), m.K)
		m.read(dst.Row(r), slots[r], alpha)
	}
}
