package runtime

import (
	"fmt"

	"memsizer/format"
	"memsizer/ops"
)

// decoder is the recurrent half: one step reads a token per row and updates
// the rows' states.
type decoder struct {
	stack
	layers     []decoderLayer
	projectOut *ops.Linear // nil unless the output dimension differs
	// history: some layer keeps a cache whose cells beams share.
	history bool
}

type decoderLayer struct {
	self      causalAttention
	selfNorm  *ops.Norm
	cross     crossAttention // nil in a language model
	crossNorm *ops.Norm
	ffn       feedForward
	finalNorm *ops.Norm
}

func (l *loader) decoder(cfg *format.Config) *decoder {
	t := &cfg.Decoder
	shared := ""
	if cfg.ShareEmbeddings {
		shared = "encoder.embed_tokens.weight"
	}
	d := &decoder{stack: l.stack("decoder", t, shared), history: t.Self.Kind == format.Softmax}
	for i := range t.Layers {
		p := fmt.Sprintf("decoder.layers.%d.", i)
		y := decoderLayer{
			self:      l.causalAttention(p+"self_attn", &t.Self),
			selfNorm:  l.norm(p + "self_attn_layer_norm"),
			ffn:       l.feedForward(p, t),
			finalNorm: l.norm(p + "final_layer_norm"),
		}
		if t.Cross != nil {
			y.cross = l.crossAttention(p+"encoder_attn", t.Cross)
			y.crossNorm = l.norm(p + "encoder_attn_layer_norm")
		}
		d.layers = append(d.layers, y)
	}
	if t.OutputDim != 0 && t.OutputDim != t.Dim {
		d.projectOut = l.linear(nil, "decoder.project_out_dim.weight")
	}
	return d
}

// State is what decoding has accumulated for up to a number of rows and
// sentences, for every layer: MemSizer memories of K·D floats whatever the
// length, or softmax caches. One goroutine uses a State at a time.
type State struct {
	causal []causalState
	cross  []crossState
}

func (d *decoder) newState(rows, sentences int) *State {
	s := &State{}
	for i := range d.layers {
		s.causal = append(s.causal, d.layers[i].self.newState(rows))
		if d.layers[i].cross != nil {
			s.cross = append(s.cross, d.layers[i].cross.newState(sentences))
		}
	}
	return s
}

// putSource stores an encoded sentence [S, encoder D] for cross-attention.
func (s *State) putSource(c *ops.CPU, w *scratch, slot int32, out ops.Matrix) {
	for _, x := range s.cross {
		x.put(c, w, slot, out)
	}
}

// stepBatch is the rows of one decoder step. Rows may belong to different
// sentences and stand at different positions; several rows in order may also
// be consecutive tokens of one sequence.
type stepBatch struct {
	ids      []int32 // the token each row reads
	t        []int32 // its 1-based position
	index    []int32 // t-1
	from, to []int32 // state slots: where the row's past is, where it goes on
	sentence []int32 // cross slot
	// history[r][i] is the slot that holds position i of row r's past; only
	// softmax self-attention reads it.
	history [][]int32
	// observe, if not nil, sees the rows that the last layer's
	// cross-attention reads.
	observe func(in ops.Matrix)
}

func (b *stepBatch) reset() {
	b.ids, b.t, b.index = b.ids[:0], b.t[:0], b.index[:0]
	b.from, b.to, b.sentence = b.from[:0], b.to[:0], b.sentence[:0]
	b.history = b.history[:0]
}

func (b *stepBatch) add(id, t, from, to, sentence int32, history []int32) {
	b.ids = append(b.ids, id)
	b.t = append(b.t, t)
	b.index = append(b.index, t-1)
	b.from = append(b.from, from)
	b.to = append(b.to, to)
	b.sentence = append(b.sentence, sentence)
	b.history = append(b.history, history)
}

// step advances the rows of b by one token and returns their last hidden
// states [R, output dim], valid until the next step with the same scratch.
func (d *decoder) step(c *ops.CPU, w *scratch, s *State, b *stepBatch, trace Trace) ops.Matrix {
	h := w.hidden(len(b.ids), d.dim)
	d.embedTokens(c, w, h.x, b.ids, b.index)
	trace.record("decoder_inner", 0, h.x)
	for i := range d.layers {
		l := &d.layers[i]
		in := d.before(c, w, &h, l.selfNorm)
		s.causal[i].attend(c, w, h.sum, in, h.x, b)
		d.after(c, &h, l.selfNorm)
		if l.cross != nil {
			in = d.before(c, w, &h, l.crossNorm)
			if b.observe != nil && i == len(d.layers)-1 {
				b.observe(in)
			}
			s.cross[i].attend(c, w, h.sum, in, h.x, b)
			d.after(c, &h, l.crossNorm)
		}
		in = d.before(c, w, &h, l.finalNorm)
		l.ffn.apply(c, w, h.sum, in, h.x)
		d.after(c, &h, l.finalNorm)
		trace.record("decoder_inner", i+1, h.x)
	}
	if d.final != nil {
		c.LayerNorm(h.x, h.x, d.final)
	}
	if d.projectOut != nil {
		y := w.narrow(h.x.Rows, d.projectOut.Out)
		c.Linear(y, d.projectOut, h.x)
		return y
	}
	return h.x
}
