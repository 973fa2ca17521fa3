package runtime

import (
	"memsizer/format"
	"memsizer/ops"
)

// A kind of attention is one implementation of these interfaces: of
// sourceAttention for encoders, causalAttention and crossAttention for
// decoders. Each holds weights only; what a stream accumulates lives in the
// state that it makes.

// sourceAttention is self-attention among the tokens of each source sentence
// of a ragged batch.
type sourceAttention interface {
	// attend computes dst = residual + attention(x) for rows starts[i] …
	// starts[i+1] of each sentence i; dst, x, residual [R, D]. dst aliases
	// neither, x may be residual.
	attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, starts []int)
}

// causalAttention is the decoder's self-attention, one token at a time.
type causalAttention interface {
	newState(rows int) causalState
}

// causalState is the past of up to `rows` sequences.
type causalState interface {
	// attend computes dst = residual + attention(x) for the rows of b, in
	// order.
	attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, b *stepBatch)
}

// crossAttention is the decoder's attention over the encoded source.
type crossAttention interface {
	newState(sentences int) crossState
	// keys are the projections of an encoded source [S, encoder D] that
	// align looks at; align writes the weight of each source position for
	// one decoder row x [1, D] to w [S].
	keys(c *ops.CPU, s *scratch, out ops.Matrix) ops.Matrix
	align(c *ops.CPU, s *scratch, w []float32, x, keys ops.Matrix)
}

// crossState is what cross-attention keeps of up to `sentences` sources.
type crossState interface {
	// put computes and stores what slot needs from its encoded source
	// out [S, encoder D].
	put(c *ops.CPU, s *scratch, slot int32, out ops.Matrix)
	// attend computes dst = residual + attention(x) for the rows of b.
	attend(c *ops.CPU, s *scratch, dst, x, residual ops.Matrix, b *stepBatch)
}

func (l *loader) sourceAttention(p string, a *format.Attention) sourceAttention {
	if a.Kind == format.MemSizer {
		return l.memsizer(p, a)
	}
	return l.softmax(p, a)
}

func (l *loader) causalAttention(p string, a *format.Attention) causalAttention {
	if a.Kind == format.MemSizer {
		return memsizerCausal{l.memsizer(p, a)}
	}
	return softmaxCausal{l.softmax(p, a)}
}

func (l *loader) crossAttention(p string, a *format.Attention) crossAttention {
	if a.Kind == format.MemSizer {
		return l.memsizerCross(p, a)
	}
	return l.softmaxCross(p, a)
}
