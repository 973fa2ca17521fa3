package recognize

import (
	"fmt"

	"memsizer/format"
)

// bands describes an adaptive embedding.
func (b *builder) bands(c *format.Stack, e *embedding, p string) error {
	ends, err := e.vocabulary()
	if err != nil {
		return err
	}
	c.Embedding = format.Embedding{Kind: format.Adaptive, Vocab: ends[len(ends)-1]}
	c.Dim = e.dim.size
	for i, m := range e.bands {
		table := m.x.(*bandRows).table
		c.Embedding.Bands = append(c.Embedding.Bands, format.Band{Size: table.Shape[0], Dim: table.Shape[1]})
		b.tensors[fmt.Sprintf("%s.embed_tokens.bands.%d.weight", p, i)] = table
		b.tensors[fmt.Sprintf("%s.embed_tokens.bands.%d.projection", p, i)] = m.weight
	}
	return nil
}

// adaptive describes an adaptive softmax over a width.
func (b *builder) adaptive(a *adaptiveOutput, width int) error {
	d, o := &b.config.Decoder, &b.config.Output
	if a.headWidth != width || a.vocab != d.Embedding.Vocab {
		return a.at.error("an adaptive softmax of %d features and %d words; expected %d and %d", a.headWidth, a.vocab, width, d.Embedding.Vocab)
	}
	o.Kind = format.Adaptive
	o.Bands = []format.Band{{Size: a.head.Shape[0], Dim: width}}
	for _, t := range a.tails {
		o.Bands = append(o.Bands, format.Band{Size: t.table.Shape[0], Dim: t.table.Shape[1]})
	}
	var err error
	if o.TiedBands, o.TiedProjections, err = b.tied(a); err != nil {
		return err
	}
	const p = "decoder.adaptive_softmax."
	if !o.TiedBands {
		b.tensors[p+"head.weight"] = a.head
	}
	b.tensors[p+"head.class.weight"] = a.class
	for i, t := range a.tails {
		if !o.TiedProjections {
			b.tensors[fmt.Sprintf("%stails.%d.projection.weight", p, i)] = t.projection
		}
		if !o.TiedBands {
			b.tensors[fmt.Sprintf("%stails.%d.weight", p, i)] = t.table
		}
	}
	return nil
}

// tied reports whether an adaptive softmax uses the tables and the projections
// of the adaptive embedding.
func (b *builder) tied(a *adaptiveOutput) (bands, projections bool, err error) {
	in := b.config.Decoder.Embedding.Bands
	if len(in) != len(b.config.Output.Bands) {
		return false, false, nil
	}
	for i := range in {
		if in[i] != b.config.Output.Bands[i] {
			return false, false, nil
		}
	}
	bands, projections = true, true
	for i := range in {
		table := a.head
		if i > 0 {
			table = a.tails[i-1].table
		}
		same, err := b.tensors[fmt.Sprintf("decoder.embed_tokens.bands.%d.weight", i)].equal(table, b.sums)
		if err != nil {
			return false, false, err
		}
		bands = bands && same
		if i == 0 {
			continue
		}
		w := b.tensors[fmt.Sprintf("decoder.embed_tokens.bands.%d.projection", i)]
		if same, err = w.transposed().equal(a.tails[i-1].projection, b.sums); err != nil {
			return false, false, err
		}
		projections = projections && same
	}
	return bands, projections, nil
}
