package runtime

import (
	"fmt"

	"memsizer/format"
	"memsizer/ops"
)

// encoder turns source tokens into hidden states. Batches are ragged: the
// sentences' rows follow each other, no padding is computed.
type encoder struct {
	stack
	layers []encoderLayer
}

type encoderLayer struct {
	self      sourceAttention
	selfNorm  *ops.Norm
	ffn       feedForward
	finalNorm *ops.Norm
}

func (l *loader) encoder(t *format.Stack) *encoder {
	e := &encoder{stack: l.stack("encoder", t, "")}
	for i := range t.Layers {
		p := fmt.Sprintf("encoder.layers.%d.", i)
		e.layers = append(e.layers, encoderLayer{
			self:      l.sourceAttention(p+"self_attn", &t.Self),
			selfNorm:  l.norm(p + "self_attn_layer_norm"),
			ffn:       l.feedForward(p, t),
			finalNorm: l.norm(p + "final_layer_norm"),
		})
	}
	return e
}

// encode runs sentences (each its token ids with eos) through the encoder.
// It returns their hidden states [R, D], rows starts[i] to starts[i+1] for
// sentence i, valid until the scratch is used for the next batch.
func (e *encoder) encode(c *ops.CPU, w *scratch, sentences [][]int32, trace Trace) (out ops.Matrix, starts []int) {
	starts = make([]int, 1, len(sentences)+1)
	var ids []int32
	var index []int32
	for _, s := range sentences {
		for i, id := range s {
			ids = append(ids, id)
			index = append(index, int32(i))
		}
		starts = append(starts, len(ids))
	}
	h := w.hidden(len(ids), e.dim)
	e.embedTokens(c, w, h.x, ids, index)
	for i := range e.layers {
		l := &e.layers[i]
		in := e.before(c, w, &h, l.selfNorm)
		l.self.attend(c, w, h.sum, in, h.x, starts)
		e.after(c, &h, l.selfNorm)
		in = e.before(c, w, &h, l.finalNorm)
		l.ffn.apply(c, w, h.sum, in, h.x)
		e.after(c, &h, l.finalNorm)
		trace.record("encoder_layer", i, h.x)
	}
	if e.final != nil {
		c.LayerNorm(h.x, h.x, e.final)
	}
	trace.record("encoder_out", -1, h.x)
	return h.x, starts
}
