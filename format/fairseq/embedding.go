package fairseq

import (
	"fmt"

	"memsizer/format"
)

// same compares two entries, taking a reading error as fatal.
func (d *derivation) same(a, b string) (bool, error) {
	ea, eb := d.st.entries[a], d.st.entries[b]
	if ea == nil || eb == nil {
		return false, nil
	}
	if elementSize(ea.data.typ) == 0 || elementSize(eb.data.typ) == 0 {
		return false, nil // reported when the tensors are matched
	}
	ok, err := sameBytes(ea.data, eb.data)
	if err != nil {
		return false, fmt.Errorf("fairseq: comparing %q with %q: %w", ea.source, eb.source, err)
	}
	return ok, nil
}

// embeddings derives the input side of both stacks and whether they share it.
func (d *derivation) embeddings() error {
	dec := &d.cfg.Decoder
	dec.Embedding = d.embedding("decoder")
	if d.cfg.Encoder == nil {
		return nil
	}
	d.cfg.Encoder.Embedding = d.embedding("encoder")
	const e, dd = "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"
	shared := d.setting("share_all_embeddings", d.arch.shareAll)
	switch {
	case d.has(e) && d.has(dd):
		same, err := d.same(e, dd)
		if err != nil {
			return err
		}
		d.cfg.ShareEmbeddings = same
		if shared && !same {
			d.note("%q is set, but %s and %s differ: kept apart", "share_all_embeddings", e, dd)
		}
	case d.has(e) && shared && d.cfg.Encoder.Embedding.Kind == format.Plain && !d.hasPrefix("decoder.embed_tokens."):
		// Writers that drop tensors sharing memory keep one name of the three.
		d.cfg.ShareEmbeddings = true
	case !d.has(e) && shared:
		for _, kept := range []string{dd, "decoder.output_projection.weight"} {
			if d.has(kept) && d.st.entries[kept].is(2) {
				d.cfg.ShareEmbeddings = true
				d.origins[e] = origin{d.st.entries[kept].source, d.st.entries[kept].data}
				d.used[kept] = true
				d.cfg.Encoder.Embedding = plainEmbedding(d.st.entries[kept])
				break
			}
		}
	}
	if d.cfg.ShareEmbeddings {
		dec.Embedding = d.cfg.Encoder.Embedding
		d.used[dd] = true
	}
	return nil
}

func plainEmbedding(e *entry) format.Embedding {
	return format.Embedding{Kind: format.Plain, Vocab: e.data.dims[0], Dim: e.data.dims[1]}
}

// setting is a flag, or the architecture's default where it is not set.
func (d *derivation) setting(name string, byDefault bool) bool {
	if v, set := d.set.flag(name); set {
		return v
	}
	return byDefault
}

// embedding derives the table of one side from its tensors.
func (d *derivation) embedding(side string) format.Embedding {
	p := side + ".embed_tokens."
	if !d.hasPrefix(p + "embeddings.") {
		if e := d.st.entries[p+"weight"]; e.is(2) {
			return plainEmbedding(e)
		}
		// Missing or misshapen: its shape as the rest of the model wants it.
		t := format.Embedding{Kind: format.Plain, Dim: d.cfg.Decoder.Dim}
		if side == "encoder" {
			t.Dim = d.cfg.Encoder.Dim
		}
		for _, other := range []string{"decoder.output_projection.weight", "decoder.embed_tokens.weight", "encoder.embed_tokens.weight"} {
			if e := d.st.entries[other]; e.is(2) {
				t.Vocab = e.data.dims[0]
				break
			}
		}
		return t
	}
	t := format.Embedding{Kind: format.Adaptive}
	for i := 0; i < 64; i++ {
		table := d.st.entries[fmt.Sprintf("%sembeddings.%d.0.weight", p, i)]
		if !table.is(2) {
			if !d.hasPrefix(fmt.Sprintf("%sembeddings.%d.", p, i)) {
				break
			}
			d.problem("tensor %q is missing or has no two dimensions", fmt.Sprintf("%sembeddings.%d.0.weight", p, i))
			break
		}
		t.Bands = append(t.Bands, format.Band{Size: table.data.dims[0], Dim: table.data.dims[1]})
		t.Vocab += table.data.dims[0]
		d.rename(fmt.Sprintf("%sbands.%d.weight", p, i), fmt.Sprintf("%sembeddings.%d.0.weight", p, i))
		d.rename(fmt.Sprintf("%sbands.%d.projection", p, i), fmt.Sprintf("%sembeddings.%d.1.weight", p, i))
	}
	return t
}

// rename makes an entry the origin of a canonical tensor of another name.
func (d *derivation) rename(canonical, name string) {
	if e := d.st.entries[name]; e != nil {
		d.origins[canonical] = origin{e.source, e.data}
		d.used[name] = true
	} else {
		d.origins[canonical] = origin{name: name}
	}
}

// output derives the layer to the vocabulary.
func (d *derivation) output() error {
	d.projectOut()
	if d.hasPrefix(softmaxPrefix) {
		return d.adaptiveOutput()
	}
	o := &d.cfg.Output
	o.Kind = format.Plain
	const weight = "decoder.output_projection.weight"
	o.Bias = d.has("decoder.output_projection.bias")
	dec := &d.cfg.Decoder
	tieable := dec.Embedding.Kind == format.Plain && dec.Embedding.Dim == d.cfg.OutputInputDim()
	shared := d.setting("share_decoder_input_output_embed", d.arch.shareOutput) || d.setting("share_all_embeddings", d.arch.shareAll)
	if !d.has(weight) {
		o.TiedEmbedding = shared && tieable
		return nil
	}
	if d.used[weight] { // it stands in for the shared table
		o.TiedEmbedding = true
		return nil
	}
	if !tieable {
		return nil
	}
	for _, table := range []string{"decoder.embed_tokens.weight", "encoder.embed_tokens.weight"} {
		if table[0] == 'e' && !d.cfg.ShareEmbeddings {
			continue
		}
		same, err := d.same(weight, table)
		if err != nil {
			return err
		}
		if same {
			o.TiedEmbedding = true
			d.used[weight] = true
			return nil
		}
	}
	if shared && !d.has("decoder.embed_tokens.weight") && !d.cfg.ShareEmbeddings {
		// Only the projection's name of the tied table was kept.
		o.TiedEmbedding = true
		d.rename("decoder.embed_tokens.weight", weight)
		return nil
	}
	if shared {
		d.note("the settings tie the output projection to the embedding, but %q differs from it: kept apart", weight)
	}
	return nil
}

// projectOut derives the projection from the decoder's to the output's dimension.
func (d *derivation) projectOut() {
	dec := &d.cfg.Decoder
	if e := d.st.entries["decoder.project_out_dim.weight"]; e != nil {
		if e.is(2) {
			dec.OutputDim = e.data.dims[0]
		} else {
			dec.OutputDim, _ = d.set.number("decoder_output_dim")
		}
		if dec.OutputDim == dec.Dim {
			dec.OutputDim = 0 // reported as unexpected
		}
		return
	}
	// An output that takes another dimension than the decoder's misses it.
	for _, name := range []string{"decoder.output_projection.weight", "decoder.adaptive_softmax.head.weight"} {
		if e := d.st.entries[name]; e.is(2) && e.data.dims[1] != dec.Dim {
			if n, ok := d.set.number("decoder_output_dim"); ok && n == e.data.dims[1] {
				dec.OutputDim = n
			}
		}
	}
}
