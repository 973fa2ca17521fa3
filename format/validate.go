package format

import (
	"fmt"
	"math"
)

// Activations that a feed-forward block may use.
var Activations = []string{"relu", "gelu", "gelu_accurate", "gelu_fast", "tanh", "linear", "swish"}

const maxDim = 1 << 24

// Validate reports the first setting that no model can have or that
// contradicts another one. A valid configuration has a finite, checked list
// of tensors.
func (c *Config) Validate() error {
	if c.Encoder != nil {
		if err := c.Encoder.validate("encoder", nil); err != nil {
			return err
		}
	}
	if err := c.Decoder.validate("decoder", c.Encoder); err != nil {
		return err
	}
	return c.validateOutput()
}

func dim(what string, v, lo, hi int) error {
	if v < lo || v > hi {
		return fmt.Errorf("format: config: %s is %d, want %d to %d", what, v, lo, hi)
	}
	return nil
}

func (t *Stack) validate(p string, encoder *Stack) error {
	for _, c := range []struct {
		name   string
		v      int
		lo, hi int
	}{
		{"layers", t.Layers, 1, 1 << 12},
		{"dim", t.Dim, 1, maxDim},
		{"ffn_dim", t.FFNDim, 1, maxDim},
		{"embedding.vocab", t.Embedding.Vocab, 4, 1 << 28},
		{"output_dim", t.OutputDim, 0, maxDim},
		{"positions.max", t.Positions.Max, 1, 1 << 30},
		{"positions.offset", t.Positions.Offset, 0, 1 << 20},
	} {
		if err := dim(p+"."+c.name, c.v, c.lo, c.hi); err != nil {
			return err
		}
	}
	if !(t.NormEps > 0 && t.NormEps < 1) {
		return fmt.Errorf("format: config: %s.norm_eps is %v, want between 0 and 1", p, t.NormEps)
	}
	if math.IsNaN(float64(t.EmbedScale)) || math.IsInf(float64(t.EmbedScale), 0) || t.EmbedScale == 0 {
		return fmt.Errorf("format: config: %s.embed_scale is %v", p, t.EmbedScale)
	}
	if !contains(Activations, t.Activation) {
		return fmt.Errorf("format: config: %s.activation is %q, want one of %q", p, t.Activation, Activations)
	}
	if err := t.validateInput(p); err != nil {
		return err
	}
	if err := t.Self.validate(p+".self_attention", t.Dim, t.Dim); err != nil {
		return err
	}
	switch {
	case p == "encoder" && t.Cross != nil:
		return fmt.Errorf("format: config: encoder.cross_attention is set")
	case p == "decoder" && (encoder == nil) != (t.Cross == nil):
		return fmt.Errorf("format: config: decoder.cross_attention must be set exactly when there is an encoder")
	case t.Cross != nil:
		return t.Cross.validate(p+".cross_attention", t.Dim, encoder.Dim)
	}
	return nil
}

func (t *Stack) validateInput(p string) error {
	switch t.Embedding.Kind {
	case Plain:
		if err := dim(p+".embedding.dim", t.Embedding.Dim, 1, maxDim); err != nil {
			return err
		}
		if len(t.Embedding.Bands) != 0 {
			return fmt.Errorf("format: config: %s.embedding is plain but has bands", p)
		}
	case Adaptive:
		if t.Embedding.Dim != 0 {
			return fmt.Errorf("format: config: %s.embedding is adaptive but has dim %d", p, t.Embedding.Dim)
		}
		if err := checkBands(p+".embedding", t.Embedding.Bands, t.Embedding.Vocab); err != nil {
			return err
		}
	default:
		return fmt.Errorf("format: config: %s.embedding.kind is %q", p, t.Embedding.Kind)
	}
	switch t.Positions.Kind {
	case NoPositions, SinusoidalPositions:
		if t.Positions.Rows != 0 {
			return fmt.Errorf("format: config: %s.positions are %s but have rows", p, t.Positions.Kind)
		}
	case LearnedPositions:
		if err := dim(p+".positions.rows", t.Positions.Rows, t.Positions.Offset+1, 1<<28); err != nil {
			return err
		}
		if t.Positions.Max > t.Positions.Rows-t.Positions.Offset {
			return fmt.Errorf("format: config: %s.positions.max is %d, but a learned table of %d rows has %d",
				p, t.Positions.Max, t.Positions.Rows, t.Positions.Rows-t.Positions.Offset)
		}
	default:
		return fmt.Errorf("format: config: %s.positions.kind is %q", p, t.Positions.Kind)
	}
	return nil
}

func checkBands(p string, bands []Band, vocab int) error {
	if len(bands) == 0 || len(bands) > 64 {
		return fmt.Errorf("format: config: %s has %d bands, want 1 to 64", p, len(bands))
	}
	sum := 0
	for i, b := range bands {
		if b.Size < 1 || b.Size > vocab || b.Dim < 1 || b.Dim > maxDim {
			return fmt.Errorf("format: config: %s band %d is %d × %d", p, i, b.Size, b.Dim)
		}
		sum += b.Size
	}
	if sum != vocab {
		return fmt.Errorf("format: config: %s bands hold %d words, want the vocabulary's %d", p, sum, vocab)
	}
	return nil
}

func (a *Attention) validate(p string, d, source int) error {
	if err := dim(p+".heads", a.Heads, 1, 1<<16); err != nil {
		return err
	}
	if a.SourceDim != source {
		return fmt.Errorf("format: config: %s.source_dim is %d, want %d", p, a.SourceDim, source)
	}
	switch a.Kind {
	case MemSizer:
		return dim(p+".slots", a.Slots, 1, 1<<20)
	case Softmax:
		if a.Slots != 0 {
			return fmt.Errorf("format: config: %s is softmax but has %d slots", p, a.Slots)
		}
		if d%a.Heads != 0 {
			return fmt.Errorf("format: config: %s has %d heads, which do not divide the dimension %d", p, a.Heads, d)
		}
		return nil
	}
	return fmt.Errorf("format: config: %s.kind is %q, want %q or %q", p, a.Kind, MemSizer, Softmax)
}

func (c *Config) validateOutput() error {
	d := &c.Decoder
	if c.ShareEmbeddings {
		e := c.Encoder
		if e == nil || e.Embedding.Kind != Plain || d.Embedding.Kind != Plain ||
			e.Embedding.Vocab != d.Embedding.Vocab || e.Embedding.Dim != d.Embedding.Dim {
			return fmt.Errorf("format: config: share_embeddings needs an encoder with a plain table of the decoder's shape")
		}
	}
	o := &c.Output
	switch o.Kind {
	case Plain:
		if o.TiedEmbedding && (d.Embedding.Kind != Plain || d.Embedding.Dim != c.OutputInputDim()) {
			return fmt.Errorf("format: config: output.tied_embedding needs a plain decoder embedding of dimension %d", c.OutputInputDim())
		}
		if len(o.Bands) != 0 || o.TiedBands || o.TiedProjections {
			return fmt.Errorf("format: config: output is plain but has adaptive settings")
		}
		return nil
	case Adaptive:
		return c.validateAdaptive()
	}
	return fmt.Errorf("format: config: output.kind is %q", o.Kind)
}

func (c *Config) validateAdaptive() error {
	o, d := &c.Output, &c.Decoder
	if o.TiedEmbedding || o.Bias {
		return fmt.Errorf("format: config: output is adaptive but has plain settings")
	}
	if err := checkBands("output", o.Bands, d.Embedding.Vocab); err != nil {
		return err
	}
	if !o.TiedBands && !o.TiedProjections {
		return nil
	}
	in := d.Embedding.Bands
	if d.Embedding.Kind != Adaptive || len(in) != len(o.Bands) {
		return fmt.Errorf("format: config: a tied adaptive output needs adaptive input with the same bands")
	}
	for i := range in {
		if in[i] != o.Bands[i] {
			return fmt.Errorf("format: config: band %d is %v in the output, %v in the input; tied ones are equal", i, o.Bands[i], in[i])
		}
	}
	if in[0].Dim != c.OutputInputDim() && o.TiedBands {
		return fmt.Errorf("format: config: tied head of dimension %d, want %d", in[0].Dim, c.OutputInputDim())
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
