package runtime

import (
	"memsizer/format"
	"memsizer/ops"
)

// softmax is fairseq's multi-head attention where queries, keys and values
// come from the same rows.
type softmax struct {
	heads, dim int
	qkv, out   *ops.Linear // [3·D, D], [D, D]
}

func (l *loader) softmax(p string, a *format.Attention) *softmax {
	return &softmax{
		heads: a.Heads, dim: l.dim,
		qkv: l.linears(p+".q_proj", p+".k_proj", p+".v_proj"),
		out: l.linears(p + ".out_proj"),
	}
}

func (m *softmax) attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, starts []int) {
	qkv := s.wide(x.Rows, m.qkv.Out)
	c.Linear(qkv, m.qkv, x)
	y := s.narrow(x.Rows, m.dim)
	c.SelfAttention(y, qkv, starts, m.heads)
	c.LinearAdd(dst, m.out, y, residual)
}

type softmaxCausal struct{ *softmax }

type softmaxState struct {
	*softmax
	cache *ops.Cache
}

func (m softmaxCausal) newState(rows int) causalState {
	return &softmaxState{m.softmax, ops.NewCache(rows, m.dim)}
}

func (m *softmaxState) attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, b *stepBatch) {
	qkv := s.wide(x.Rows, m.qkv.Out)
	c.Linear(qkv, m.qkv, x)
	y := s.narrow(x.Rows, m.dim)
	c.CacheAttention(y, qkv, m.cache, b.to, b.t, b.history, m.heads)
	c.LinearAdd(dst, m.out, y, residual)
}

// softmaxCross is multi-head attention over the encoder's output.
type softmaxCross struct {
	heads, dim int
	q, kv, out *ops.Linear // [D, D], [2·D, encoder D], [D, D]
}

func (l *loader) softmaxCross(p string, a *format.Attention) *softmaxCross {
	return &softmaxCross{
		heads: a.Heads, dim: l.dim,
		q:   l.linears(p + ".q_proj"),
		kv:  l.linears(p+".k_proj", p+".v_proj"),
		out: l.linears(p + ".out_proj"),
	}
}

func (m *softmaxCross) keys(c *ops.CPU, _ *scratch, out ops.Matrix) ops.Matrix {
	kv := ops.NewMatrix(out.Rows, m.kv.Out)
	c.Linear(kv, m.kv, out)
	return kv
}

func (m *softmaxCross) align(c *ops.CPU, s *scratch, w []float32, x, keys ops.Matrix) {
	q := s.wide(1, m.q.Out)
	c.Linear(q, m.q, x)
	c.AttentionWeights(w, q, keys, m.heads)
}

type softmaxCrossState struct {
	*softmaxCross
	sources []ops.Matrix // per sentence [S, 2·D]
	rows    []ops.Matrix // of the current step
}

func (m *softmaxCross) newState(sentences int) crossState {
	return &softmaxCrossState{softmaxCross: m, sources: make([]ops.Matrix, sentences)}
}

func (m *softmaxCrossState) put(c *ops.CPU, _ *scratch, slot int32, out ops.Matrix) {
	kv := &m.sources[slot]
	if len(kv.Data) < out.Rows*kv.Stride || kv.Stride == 0 {
		*kv = ops.NewMatrix(out.Rows, m.kv.Out)
	}
	kv.Rows = out.Rows
	c.Linear(*kv, m.kv, out)
}

func (m *softmaxCrossState) attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, b *stepBatch) {
	q := s.wide(x.Rows, m.q.Out)
	c.Linear(q, m.q, x)
	m.rows = m.rows[:0]
	for _, i := range b.sentence {
		m.rows = append(m.rows, m.sources[i])
	}
	y := s.narrow(x.Rows, m.dim)
	c.SourceAttention(y, q, m.rows, m.heads)
	c.LinearAdd(dst, m.out, y, residual)
}
