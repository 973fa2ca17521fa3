package runtime

import (
	"fmt"

	"memsizer/format"
	"memsizer/ops"
)

// stack is what encoder and decoder have in common: the embedding of their
// tokens and the feed-forward blocks.
type stack struct {
	preNorm   bool
	dim       int
	vocab     int
	embed     *embedding
	positions *positions
	embedNorm *ops.Norm // nil without layernorm_embedding
	final     *ops.Norm // nil without a final norm
}

// feedForward is y = fc2(act(fc1 x)).
type feedForward struct {
	fc1, fc2 *ops.Linear
	act      ops.Activation
}

func (l *loader) stack(p string, t *format.Stack, shared string) stack {
	l.dim = t.Dim
	s := stack{preNorm: t.PreNorm, dim: t.Dim, vocab: t.Embedding.Vocab, embed: l.embedding(p, t, shared)}
	var table *ops.Weights
	if t.Positions.Kind == format.LearnedPositions {
		table = l.weights(p + ".embed_positions.weight")
	}
	s.positions = newPositions(t, table)
	l.eps = t.NormEps
	if t.EmbedNorm {
		s.embedNorm = l.norm(p + ".layernorm_embedding")
	}
	if t.FinalNorm {
		s.final = l.norm(p + ".layer_norm")
	}
	return s
}

func (l *loader) feedForward(p string, t *format.Stack) feedForward {
	act, err := ops.ParseActivation(t.Activation)
	if err != nil {
		l.fail(err)
	}
	return feedForward{l.linears(p + "fc1"), l.linears(p + "fc2"), act}
}

// embedTokens writes the input of the first layer for ids, the i-th at token
// index index[i] (from 0), to x [len(ids), D].
func (s *stack) embedTokens(c *ops.CPU, w *scratch, x ops.Matrix, ids, index []int32) {
	c.Begin(ops.PhaseEmbed)
	defer c.End()
	s.embed.lookup(c, x, ids, w.rowsOf(len(ids), s.embed.narrow()))
	row := w.row(s.dim)
	for i := range ids {
		s.positions.add(x.Row(i), int(index[i]), row)
	}
	if s.embedNorm != nil {
		c.LayerNorm(x, x, s.embedNorm)
	}
}

// hidden is the rows between blocks and a second buffer. A block runs with its
// residual connection and norm, x = LN(x +
// f(x)) post-norm or x = x + f(LN(x)) pre-norm, in three steps: what f reads
// (before), f itself, which writes sum = x + f(·) to the other of two
// buffers, and after.
type hidden struct{ x, sum ops.Matrix }

func (s *stack) before(c *ops.CPU, w *scratch, h *hidden, norm *ops.Norm) ops.Matrix {
	if !s.preNorm {
		return h.x
	}
	in := w.input(h.x.Rows, h.x.Cols)
	c.LayerNorm(in, h.x, norm)
	return in
}

func (s *stack) after(c *ops.CPU, h *hidden, norm *ops.Norm) {
	h.x, h.sum = h.sum, h.x
	if !s.preNorm {
		c.LayerNorm(h.x, h.x, norm)
	}
}

// apply computes dst = residual + fc2(act(fc1 x)).
func (f *feedForward) apply(c *ops.CPU, w *scratch, dst, x, residual ops.Matrix) {
	y := w.wide(x.Rows, f.fc1.Out)
	c.LinearActivation(y, f.fc1, x, f.act)
	c.LinearAdd(dst, f.fc2, y, residual)
}

func bandName(p string, i int) string { return fmt.Sprintf("%s.embed_tokens.bands.%d.", p, i) }
