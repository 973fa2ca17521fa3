package runtime

import (
	"memsizer/format"
	"memsizer/ops"
)

// memsizer is MemSizer attention where queries, keys and values come from
// the same rows.
type memsizer struct {
	heads, slots, dim int
	qkv               *ops.Linear // [H·K + K + D, D]
	norms             ops.MemoryNorms
}

func (l *loader) memsizer(p string, a *format.Attention) *memsizer {
	return &memsizer{
		heads: a.Heads, slots: a.Slots, dim: l.dim,
		qkv:   l.linears(p+".q_proj", p+".k_proj", p+".v_proj"),
		norms: ops.MemoryNorms{Key: l.norm(p + ".k_layer_norm"), Value: l.norm(p + ".v_layer_norm")},
	}
}

// attend builds each sentence's memory from its own rows and reads it with
// them: the cross form with query = key = x.
func (m *memsizer) attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, starts []int) {
	qkv := s.wide(x.Rows, m.qkv.Out)
	c.Linear(qkv, m.qkv, x)
	if s.memory == nil || s.memory.K != m.slots || s.memory.D != m.dim {
		s.memory = ops.NewMemory(1, m.slots, m.dim)
	}
	y := s.narrow(x.Rows, m.dim)
	hk := m.heads * m.slots
	for i := range len(starts) - 1 {
		rows := qkv.Slice(starts[i], starts[i+1])
		c.MemoryBuild(s.memory, 0, rows.Columns(hk, rows.Cols), m.norms)
		c.MemoryRead(y.Slice(starts[i], starts[i+1]), rows.Columns(0, hk), s.memory, s.zeros(rows.Rows))
	}
	c.Add(dst, residual, y)
}

type memsizerCausal struct{ *memsizer }

type memsizerState struct {
	*memsizer
	memory *ops.Memory
}

func (m memsizerCausal) newState(rows int) causalState {
	return &memsizerState{m.memsizer, ops.NewMemory(rows, m.slots, m.dim)}
}

func (m *memsizerState) attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, b *stepBatch) {
	qkv := s.wide(x.Rows, m.qkv.Out)
	c.Linear(qkv, m.qkv, x)
	y := s.narrow(x.Rows, m.dim)
	c.MemoryStep(y, qkv, m.memory, b.from, b.to, b.t, m.norms)
	c.Add(dst, residual, y)
}

// memsizerCross is MemSizer attention over the encoder's output.
type memsizerCross struct {
	slots, dim int
	q, kv      *ops.Linear // [H·K, D], [K + D, encoder D]
	norms      ops.MemoryNorms
}

func (l *loader) memsizerCross(p string, a *format.Attention) *memsizerCross {
	return &memsizerCross{
		slots: a.Slots, dim: l.dim,
		q:     l.linears(p + ".q_proj"),
		kv:    l.linears(p+".k_proj", p+".v_proj"),
		norms: ops.MemoryNorms{Key: l.norm(p + ".k_layer_norm"), Value: l.norm(p + ".v_layer_norm")},
	}
}

func (m *memsizerCross) keys(c *ops.CPU, _ *scratch, out ops.Matrix) ops.Matrix {
	kv := ops.NewMatrix(out.Rows, m.kv.Out)
	c.Linear(kv, m.kv, out)
	return kv
}

func (m *memsizerCross) align(c *ops.CPU, s *scratch, w []float32, x, keys ops.Matrix) {
	q := s.wide(1, m.q.Out)
	c.Linear(q, m.q, x)
	c.MemoryWeights(w, q, keys, m.slots, m.norms)
}

type memsizerCrossState struct {
	*memsizerCross
	memory *ops.Memory
}

// newState keeps the memories in halfs unless the model is in float32: what
// that rounds is less than what rounding the weights did.
func (m *memsizerCross) newState(sentences int) crossState {
	if m.kv.DType() == ops.F32 {
		return &memsizerCrossState{m, ops.NewMemory(sentences, m.slots, m.dim)}
	}
	return &memsizerCrossState{m, ops.NewHalfMemory(sentences, m.slots, m.dim)}
}

func (m *memsizerCrossState) put(c *ops.CPU, s *scratch, slot int32, out ops.Matrix) {
	kv := s.wide(out.Rows, m.kv.Out)
	c.Linear(kv, m.kv, out)
	c.MemoryBuild(m.memory, slot, kv, m.norms)
}

func (m *memsizerCrossState) attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, b *stepBatch) {
	q := s.wide(x.Rows, m.q.Out)
	c.Linear(q, m.q, x)
	y := s.narrow(x.Rows, m.dim)
	c.MemoryRead(y, q, m.memory, b.sentence)
	c.Add(dst, residual, y)
}
