package recognize

import (
	"fmt"

	"memsizer/format"
)

// builder turns stacks into the canonical configuration and tensors.
type builder struct {
	opts    Options
	config  format.Config
	tensors map[string]weight
	notes   []string
	sums    sums
}

// defaultMax is the longest sequence of a model whose graph sets no limit:
// fairseq's default.
const defaultMax = 1024

// fill describes a stack in c and names its tensors under prefix p.
func (b *builder) fill(c *format.Stack, s *stack, p string) error {
	first := &s.blocks[0]
	group := 2
	if p == "decoder" && b.config.Encoder != nil {
		group = 3
	}
	if len(s.blocks)%group != 0 {
		return first.at.error("the %s has %d blocks, which is no multiple of the %d of a layer", p, len(s.blocks), group)
	}
	c.Layers = len(s.blocks) / group
	c.PreNorm, c.FinalNorm = s.preNorm, s.finalNorm != nil
	c.NormEps = float32(first.norm.eps)
	if err := b.embed(c, s, p); err != nil {
		return err
	}
	for i := range s.blocks {
		layer := fmt.Sprintf("%s.layers.%d.", p, i/group)
		if err := b.block(c, &s.blocks[i], layer, i%group, group, i < group); err != nil {
			return err
		}
	}
	if s.finalNorm != nil {
		return b.norm(c, s.finalNorm, p+".layer_norm", c.Dim)
	}
	return nil
}

// embed describes the input of a stack.
func (b *builder) embed(c *format.Stack, s *stack, p string) error {
	e := s.start.embedding
	c.EmbedScale = float32(s.start.scale)
	if e.bands != nil {
		if err := b.bands(c, e, p); err != nil {
			return err
		}
	} else {
		c.Embedding = format.Embedding{Kind: format.Plain, Vocab: e.table.Shape[0], Dim: e.table.Shape[1]}
		c.Dim = c.Embedding.Dim
		b.tensors[p+".embed_tokens.weight"] = e.table
	}
	if m := s.start.project; m != nil {
		if e.bands != nil {
			return m.at.error("a projection of an adaptive embedding, which has projections of its own")
		}
		c.Dim = m.out.size
		b.tensors[p+".project_in_dim.weight"] = m.weight
	}
	if err := b.positions(c, s.start, p); err != nil {
		return err
	}
	if s.embedNorm != nil {
		c.EmbedNorm = true
		return b.norm(c, s.embedNorm, p+".layernorm_embedding", c.Dim)
	}
	return nil
}

func (b *builder) positions(c *format.Stack, start *base, p string) error {
	limit := b.opts.MaxTarget
	if p == "encoder" {
		limit = b.opts.MaxSource
	}
	t := start.placed
	if t == nil {
		c.Positions = format.Positions{Kind: format.NoPositions, Max: defaultMax}
		if limit > 0 {
			c.Positions.Max = limit
		}
		return nil
	}
	if t.offset < 0 {
		b.notes = append(b.notes, fmt.Sprintf("%s: the first position is given from outside; taken as %d", p, format.Pad+1))
		t.offset = format.Pad + 1
	}
	c.Positions.Offset = t.offset
	c.Positions.Max = defaultMax
	if t.table != nil {
		if t.table.Shape[1] != c.Dim || t.limit <= t.offset {
			return t.at.error("position embeddings of shape %d; expected %d columns and more than %d rows", t.table.Shape, c.Dim, t.offset)
		}
		c.Positions.Max = t.limit - t.offset
	}
	switch {
	case t.computed || isSinusoid(t.table, 0):
		c.Positions.Kind = format.SinusoidalPositions
		if limit > 0 {
			c.Positions.Max = limit
		}
	default:
		c.Positions.Kind = format.LearnedPositions
		c.Positions.Rows = t.limit
		if limit > 0 {
			c.Positions.Max = min(limit, c.Positions.Max)
		}
		b.tensors[p+".embed_positions.weight"] = weight{t.table}
	}
	return nil
}

// norm names the tensors of a layer norm over n features.
func (b *builder) norm(c *format.Stack, n *norm, name string, size int) error {
	if float32(n.eps) != c.NormEps {
		return n.at.error("a layer norm with epsilon %g; expected %g as in the others", n.eps, c.NormEps)
	}
	if n.weight.Shape[0] != size {
		return n.at.error("a layer norm of %d features; expected %d", n.weight.Shape[0], size)
	}
	b.tensors[name+".weight"], b.tensors[name+".bias"] = n.weight, n.bias
	return nil
}

func (b *builder) linear(m *linear, name string, out, in int) error {
	if m.weight.Shape[0] != out || m.weight.Shape[1] != in || m.bias == nil {
		return m.at.error("a linear layer from %d to %d; expected %d to %d, with a bias", m.weight.Shape[1], m.weight.Shape[0], in, out)
	}
	b.tensors[name+".weight"], b.tensors[name+".bias"] = m.weight, *m.bias
	return nil
}

// block describes block number i of the group that makes a layer.
func (b *builder) block(c *format.Stack, s *sublayer, layer string, i, group int, first bool) error {
	switch {
	case i == group-1:
		return b.feedForward(c, s, layer, first)
	case s.attention == nil:
		return s.at.error("a feed-forward block; expected attention, as in a layer of %d blocks", group)
	case i == 0:
		if err := b.attention(&c.Self, s.attention, s, layer+"self_attn", c.Dim, c.Dim, first); err != nil {
			return err
		}
		return b.norm(c, s.norm, layer+"self_attn_layer_norm", c.Dim)
	}
	if first {
		c.Cross = new(format.Attention)
	}
	if err := b.attention(c.Cross, s.attention, s, layer+"encoder_attn", c.Dim, b.config.Encoder.Dim, first); err != nil {
		return err
	}
	return b.norm(c, s.norm, layer+"encoder_attn_layer_norm", c.Dim)
}

func (b *builder) feedForward(c *format.Stack, s *sublayer, layer string, first bool) error {
	if s.attention != nil {
		return s.at.error("attention; expected the feed-forward block of the layer")
	}
	if first {
		c.FFNDim, c.Activation = s.fc1.out.size, s.activation
	}
	if s.activation != c.Activation {
		return s.at.error("activation %s; expected %s as in the first layer", s.activation, c.Activation)
	}
	if err := b.linear(s.fc1, layer+"fc1", c.FFNDim, c.Dim); err != nil {
		return err
	}
	if err := b.linear(s.fc2, layer+"fc2", c.Dim, c.FFNDim); err != nil {
		return err
	}
	return b.norm(c, s.norm, layer+"final_layer_norm", c.Dim)
}

func (b *builder) attention(c *format.Attention, a *attentionBlock, s *sublayer, name string, dim, source int, first bool) error {
	spec := format.Attention{Kind: a.kind, Heads: a.heads, Slots: a.slots, SourceDim: source}
	if first {
		*c = spec
	}
	if *c != spec {
		return s.at.error("%s attention with %d heads and %d slots; expected %s, %d and %d as in the first layer",
			spec.Kind, spec.Heads, spec.Slots, c.Kind, c.Heads, c.Slots)
	}
	if a.key == nil {
		return s.at.error("this reads a memory that is an input, and no other file makes it")
	}
	if a.kind == format.Softmax {
		for _, l := range []struct {
			m    *linear
			name string
			in   int
		}{{a.query, "q_proj", dim}, {a.key, "k_proj", source}, {a.value, "v_proj", source}, {a.out, "out_proj", dim}} {
			if err := b.linear(l.m, name+"."+l.name, dim, l.in); err != nil {
				return err
			}
		}
		return nil
	}
	if err := b.linear(a.query, name+".q_proj", a.heads*a.slots, dim); err != nil {
		return err
	}
	if err := b.linear(a.key, name+".k_proj", a.slots, source); err != nil {
		return err
	}
	if err := b.linear(a.value, name+".v_proj", dim, source); err != nil {
		return err
	}
	stack := &b.config.Decoder
	if b.config.Encoder != nil && c == &b.config.Encoder.Self {
		stack = b.config.Encoder
	}
	if err := b.norm(stack, a.keyNorm, name+".k_layer_norm", a.slots); err != nil {
		return err
	}
	return b.norm(stack, a.valueNorm, name+".v_layer_norm", dim)
}

// output describes the layer after the decoder.
func (b *builder) output(f *found) error {
	d := &b.config.Decoder
	last, projectOut := f.output, f.projectOut
	width := d.Dim
	if projectOut != nil {
		d.OutputDim = projectOut.out.size
		width = d.OutputDim
		b.tensors["decoder.project_out_dim.weight"] = projectOut.weight
	}
	if f.adaptive != nil {
		return b.adaptive(f.adaptive, width)
	}
	if last.weight.Shape[0] != d.Embedding.Vocab || last.weight.Shape[1] != width {
		return last.at.error("an output layer from %d to %d; expected %d to the vocabulary's %d", last.weight.Shape[1], last.weight.Shape[0], width, d.Embedding.Vocab)
	}
	o := &b.config.Output
	o.Kind = format.Plain
	if d.Embedding.Kind == format.Plain {
		tied, err := b.tensors["decoder.embed_tokens.weight"].equal(last.weight, b.sums)
		if err != nil {
			return err
		}
		o.TiedEmbedding = tied
	}
	if !o.TiedEmbedding {
		b.tensors["decoder.output_projection.weight"] = last.weight
	}
	if last.bias != nil {
		o.Bias = true
		b.tensors["decoder.output_projection.bias"] = *last.bias
	}
	return nil
}

// share finds out whether encoder and decoder have one table.
func (b *builder) share() error {
	if b.config.Encoder == nil || b.config.Encoder.Embedding.Kind != format.Plain || b.config.Decoder.Embedding.Kind != format.Plain {
		return nil
	}
	shared, err := b.tensors["encoder.embed_tokens.weight"].equal(b.tensors["decoder.embed_tokens.weight"], b.sums)
	b.config.ShareEmbeddings = shared
	return err
}
