package runtime

import (
	"fmt"

	"memsizer/format"
	"memsizer/ops"
)

// output is the layer from hidden states to scores over the vocabulary.
type output struct {
	vocab int
	// plain
	linear *ops.Linear
	// adaptive: log P(w) = log P_head(w) for the head's words, log
	// P_head(class i) + log P_tail i(w) for the others.
	head  *ops.Linear // [words + tails, d]
	words int
	tails []tail
}

type tail struct {
	project *ops.Linear // [dim, d]
	linear  *ops.Linear // [size, dim]
}

func (l *loader) output(cfg *format.Config) *output {
	o := &output{vocab: cfg.Decoder.Embedding.Vocab}
	if cfg.Output.Kind == format.Plain {
		name := "decoder.output_projection.weight"
		switch {
		case cfg.Output.TiedEmbedding && cfg.ShareEmbeddings:
			name = "encoder.embed_tokens.weight"
		case cfg.Output.TiedEmbedding:
			name = "decoder.embed_tokens.weight"
		}
		var bias []float32
		if cfg.Output.Bias {
			bias = l.vector("decoder.output_projection.bias")
		}
		o.linear = l.linear(bias, name)
		return o
	}
	return l.adaptive(cfg, o)
}

func (l *loader) adaptive(cfg *format.Config, o *output) *output {
	bands := cfg.Output.Bands
	o.words = bands[0].Size
	head := []string{"decoder.adaptive_softmax.head.weight"}
	if cfg.Output.TiedBands {
		head[0] = bandName("decoder", 0) + "weight"
	}
	if len(bands) > 1 {
		head = append(head, "decoder.adaptive_softmax.head.class.weight")
	}
	o.head = l.linear(nil, head...)
	for i := range bands[1:] {
		var t tail
		p := fmt.Sprintf("decoder.adaptive_softmax.tails.%d.", i)
		if cfg.Output.TiedProjections {
			t.project = l.transposed(bandName("decoder", i+1) + "projection")
		} else {
			t.project = l.linear(nil, p+"projection.weight")
		}
		if cfg.Output.TiedBands {
			t.linear = l.linear(nil, bandName("decoder", i+1)+"weight")
		} else {
			t.linear = l.linear(nil, p+"weight")
		}
		o.tails = append(o.tails, t)
	}
	return o
}

// transposed packs Wᵀ of a stored matrix.
func (l *loader) transposed(name string) *ops.Linear {
	w := l.weights(name)
	if l.err != nil {
		return &ops.Linear{}
	}
	return ops.NewLinear([]*ops.Weights{w.Transposed()}, nil)
}

// scores writes unnormalised log-probabilities of the vocabulary for hidden
// states x [R, d] to dst [R, V]: for a plain output the logits, for an
// adaptive one log-probabilities (their log-sum-exp is 0).
func (o *output) scores(c *ops.CPU, w *scratch, dst, x ops.Matrix) {
	if o.linear != nil {
		c.Linear(dst, o.linear, x)
		return
	}
	head := w.wide(x.Rows, o.head.Out)
	c.Linear(head, o.head, x)
	for r := range x.Rows {
		row := head.Row(r)
		shift(row, -ops.LogSumExp(row))
		copy(dst.Row(r), row[:o.words])
	}
	first := o.words
	for i := range o.tails {
		t := &o.tails[i]
		p := w.tails(x.Rows, t.project.Out)
		c.Linear(p, t.project, x)
		y := w.rowsOf(x.Rows, t.linear.Out)
		c.Linear(y, t.linear, p)
		for r := range x.Rows {
			row := y.Row(r)
			shift(row, head.Row(r)[o.words+i]-ops.LogSumExp(row))
			copy(dst.Row(r)[first:], row)
		}
		first += t.linear.Out
	}
}

func shift(x []float32, by float32) {
	for i := range x {
		x[i] += by
	}
}
