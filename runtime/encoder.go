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
	x := w.hidden(len(ids), e.dim)
	e.embedTokens(c, w, x, ids, index)
	for i := range e.layers {
		l := &e.layers[i]
		in := e.begin(c, w, x, l.selfNorm)
		l.self.addTo(c, w, x, in, starts)
		e.end(c, x, l.selfNorm)
		in = e.begin(c, w, x, l.finalNorm)
		l.ffn.addTo(c, w, x, in)
		e.end(c, x, l.finalNorm)
		trace.record("encoder_layer", i, x)
	}
	if e.final != nil {
		c.LayerNorm(x, x, e.final)
	}
	trace.record("encoder_out", -1, x)
	return x, starts
}
