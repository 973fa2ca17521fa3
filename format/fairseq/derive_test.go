package fairseq

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
)

// TestNorms: pre- or post-norm and the final norm, by architecture, settings,
// version buffers and what is in the file.
func TestNorms(t *testing.T) {
	const absent = -1
	for _, c := range []struct {
		name       string
		lm         bool
		args       map[string]any
		version    float32
		present    bool
		pre, final bool
	}{
		{name: "memsizer", version: 3},
		{name: "t2t", args: map[string]any{"arch": "memsizer_wmt_en_de_big_t2t"}, version: 3, present: true, pre: true, final: true},
		{name: "pre", args: map[string]any{"decoder_normalize_before": true}, version: 3, present: true, pre: true, final: true},
		{name: "no final norm", args: map[string]any{"decoder_normalize_before": true, "no_decoder_final_norm": true}, version: 3, pre: true},
		{name: "version 2", args: map[string]any{"decoder_normalize_before": true}, version: 2, pre: true},
		{name: "version 1", args: map[string]any{"decoder_normalize_before": true}, version: 1, pre: true},
		{name: "version 2 with the norm, as 0.6 wrote translation models", args: map[string]any{"decoder_normalize_before": true}, version: 2, present: true, pre: true, final: true},
		{name: "no version, no norm", args: map[string]any{"decoder_normalize_before": true}, version: absent, pre: true},
		{name: "no version, norm", args: map[string]any{"decoder_normalize_before": true}, version: absent, present: true, pre: true, final: true},
		{name: "norm that the settings deny", version: 3, present: true, pre: true, final: true},
		{name: "memsizer_lm", lm: true, version: 3},
		{name: "memsizer_lm pre", lm: true, args: map[string]any{"decoder_normalize_before": true}, version: 3, present: true, pre: true, final: true},
		{name: "memsizer_lm_wiki103", lm: true, args: map[string]any{"arch": "memsizer_lm_wiki103", "decoder_normalize_before": true}, version: 3, pre: true},
		{name: "memsizer_lm_gbw post", lm: true, args: map[string]any{"arch": "memsizer_lm_gbw"}, version: 3},
		{name: "transformer_lm", lm: true, args: map[string]any{"arch": "transformer_lm"}, version: 3, present: true, pre: true, final: true},
		{name: "transformer_lm says post", lm: true, args: map[string]any{"arch": "transformer_lm_gpt", "decoder_normalize_before": false}, version: 3, present: true, pre: true, final: true},
		{name: "transformer_lm_wiki103 says post", lm: true, args: map[string]any{"arch": "transformer_lm_wiki103", "decoder_normalize_before": false}, version: 3, pre: true},
		{name: "a plain cfg may say post", lm: true, args: map[string]any{"model": map[string]any{"_name": "transformer_lm", "decoder_normalize_before": false}, "task": map[string]any{"_name": "language_modeling"}}, version: 3},
		{name: "old language model", lm: true, args: map[string]any{"arch": "transformer_lm", "no_tie_adaptive_proj": true}, version: 3, pre: true},
		{name: "decoder_final_norm", lm: true, args: map[string]any{"arch": "transformer_lm_wiki103", "decoder_final_norm": true}, version: 3, present: true, pre: true, final: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			if c.lm {
				b = newLanguageModel()
			}
			set := &settings{plainConfig: c.args["model"] != nil}
			set.addTree(merged(b.args, c.args))
			if c.version == absent {
				b.drop("decoder.version")
			} else {
				b.tensors["decoder.version"] = builtTensor{[]int{1}, []float32{c.version}, ""}
			}
			if c.present {
				b.norm("decoder.layer_norm", builtDim)
			}
			ck, err := openCheckpoint(b.write(t))
			if err != nil {
				t.Fatal(err)
			}
			defer ck.close()
			d := newDerivation(newState(ck, set), set)
			if err := d.run(); err != nil {
				t.Fatal(err)
			}
			if pre, final := d.cfg.Decoder.PreNorm, d.cfg.Decoder.FinalNorm; pre != c.pre || final != c.final {
				t.Errorf("pre-norm %v, final norm %v; want %v, %v", pre, final, c.pre, c.final)
			}
			if len(d.problems) > 0 {
				t.Errorf("problems: %q", d.problems)
			}
		})
	}
}

// merged are settings with others over them; a cfg replaces them.
func merged(base, over map[string]any) map[string]any {
	if over["model"] != nil {
		return over
	}
	out := make(map[string]any)
	for _, m := range []map[string]any{base, over} {
		for k, v := range m {
			if n, ok := v.(int); ok {
				v = int64(n)
			}
			out[k] = v
		}
	}
	return out
}

func TestTies(t *testing.T) {
	const e, d, o = "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight"
	shared := func(b *builder) {
		b.args["share_all_embeddings"] = true
		b.source, b.target = builtVocab, builtVocab
		b.add(e, builtVocab, builtDim)
		b.same(d, e)
		b.same(o, e)
	}
	for _, c := range []struct {
		name       string
		edit       func(*builder)
		share, tie bool
	}{
		{"all apart", func(*builder) {}, false, false},
		{"three copies", shared, true, true},
		{"three copies that the settings do not mention", func(b *builder) { shared(b); delete(b.args, "share_all_embeddings") }, true, true},
		{"only the encoder's name", func(b *builder) { shared(b); b.drop(d, o) }, true, true},
		{"only the decoder's name", func(b *builder) { shared(b); b.drop(e, o) }, true, true},
		{"only the output's name", func(b *builder) { shared(b); b.drop(e, d) }, true, true},
		{"no decoder table", func(b *builder) { shared(b); b.drop(d) }, true, true},
		{"old name of the output", func(b *builder) { shared(b); b.rename(o, "decoder.embed_out") }, true, true},
		{"an output that differs", func(b *builder) { shared(b); b.add(o, builtVocab, builtDim) }, true, false},
		{"a decoder table that differs", func(b *builder) {
			shared(b)
			b.add(d, builtVocab, builtDim)
			b.same(o, d)
		}, false, true},
		{"output tied to the decoder", func(b *builder) { b.same(o, d) }, false, true},
		{"output tied, dropped", func(b *builder) { b.args["share_decoder_input_output_embed"] = true; b.drop(o) }, false, true},
		{"output tied, only its name", func(b *builder) {
			b.args["share_decoder_input_output_embed"] = true
			b.rename(d, "x")
			b.drop("x")
		}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			c.edit(b)
			cfg := b.config(t)
			if cfg.ShareEmbeddings != c.share || cfg.Output.TiedEmbedding != c.tie {
				t.Errorf("shared %v, tied %v; want %v, %v", cfg.ShareEmbeddings, cfg.Output.TiedEmbedding, c.share, c.tie)
			}
		})
	}
}

func TestSettingsDecide(t *testing.T) {
	root6 := float32(math.Sqrt(6))
	for _, c := range []struct {
		name string
		edit func(*builder)
		get  func(*format.Config) any
		want any
	}{
		{"scale", func(*builder) {}, func(c *format.Config) any { return c.Encoder.EmbedScale }, root6},
		{"no scale", func(b *builder) { b.args["no_scale_embedding"] = true }, func(c *format.Config) any { return c.Decoder.EmbedScale }, float32(1)},
		{"bart's scale", func(b *builder) {
			b.args = map[string]any{"arch": "bart_x", "encoder_attention_heads": 2, "encoder_learned_pos": false, "decoder_learned_pos": false, "layernorm_embedding": false, "source_lang": "s", "target_lang": "t"}
		},
			func(c *format.Config) any { return fmt.Sprint(c.Decoder.EmbedScale, c.Encoder.Activation) }, "1gelu"},
		{"slots and heads by the tensors", func(b *builder) { b.args["causal_proj_dim"], b.args["decoder_attention_heads"] = 128, 8 },
			func(c *format.Config) any {
				return fmt.Sprint(c.Decoder.Self.Slots, c.Decoder.Self.Heads, c.Decoder.Cross.Slots)
			}, "3 2 4"},
		{"softmax heads by the settings", func(b *builder) { b.args["encoder_attention_heads"] = 3 }, func(c *format.Config) any { return c.Encoder.Self.Heads }, 3},
		{"positions", func(*builder) {}, func(c *format.Config) any { return c.Encoder.Positions }, format.Positions{Kind: "sinusoidal", Offset: 2, Max: 1024}},
		{"long positions", func(b *builder) { b.args["max_source_positions"] = 200000 }, func(c *format.Config) any { return c.Encoder.Positions.Max }, 100000},
		{"max_positions of old files", func(b *builder) { b.args["max_positions"] = 70 }, func(c *format.Config) any { return c.Decoder.Positions.Max }, 70},
		{"no positions", func(b *builder) { b.args["no_token_positional_embeddings"] = true; b.drop("encoder.embed_positions") },
			func(c *format.Config) any { return c.Encoder.Positions.Kind + " " + c.Decoder.Positions.Kind }, "none sinusoidal"},
		{"learned positions", func(b *builder) {
			b.args["max_source_positions"] = 50
			b.add("encoder.embed_positions.weight", 12, builtDim)
		}, func(c *format.Config) any { return c.Encoder.Positions }, format.Positions{Kind: "learned", Offset: 2, Rows: 12, Max: 10}},
		{"learned positions, shorter by the settings", func(b *builder) {
			b.args["max_source_positions"] = 5
			b.add("encoder.embed_positions.weight", 12, builtDim)
		}, func(c *format.Config) any { return c.Encoder.Positions.Max }, 5},
		{"embedding norm", func(b *builder) { b.norm("decoder.layernorm_embedding", builtDim) },
			func(c *format.Config) any { return fmt.Sprint(c.Encoder.EmbedNorm, c.Decoder.EmbedNorm) }, "false true"},
		{"activation", func(b *builder) { b.args["activation_fn"] = "gelu_accurate" }, func(c *format.Config) any { return c.Encoder.Activation }, "gelu_accurate"},
		{"layers to keep", func(b *builder) { b.args["encoder_layers_to_keep"] = "1" }, func(c *format.Config) any { return c.Encoder.Layers }, 1},
		{"layers kept before", func(b *builder) { b.args["encoder_layers_to_keep"] = "1,4" }, func(c *format.Config) any { return c.Encoder.Layers }, 2},
		{"output bias", func(b *builder) { b.add("decoder.output_projection.bias", b.target) }, func(c *format.Config) any { return c.Output.Bias }, true},
		{"fused projections", func(b *builder) {
			b.drop("encoder.layers.0.self_attn.q_proj", "encoder.layers.0.self_attn.k_proj", "encoder.layers.0.self_attn.v_proj")
			b.add("encoder.layers.0.self_attn.in_proj_weight", 3*builtDim, builtDim)
			b.add("encoder.layers.0.self_attn.in_proj_bias", 3*builtDim)
		}, func(c *format.Config) any { return c.Encoder.Self.Kind }, "softmax"},
		{"separate projections of old files", func(b *builder) {
			b.rename("encoder.layers.0.self_attn.q_proj.weight", "encoder.layers.0.self_attn.q_proj_weight")
		}, func(c *format.Config) any { return c.Encoder.Self.Kind }, "softmax"},
		{"classification heads are left out", func(b *builder) { b.linear("classification_heads.mnli.dense", 3, builtDim) }, func(c *format.Config) any { return c.Decoder.Layers }, 2},
		{"wrapped names", func(b *builder) {
			for name, v := range maps.Clone(b.tensors) {
				delete(b.tensors, name)
				b.tensors["module."+strings.Replace(name, "layers.0.", "layers.0._checkpoint_wrapped_module.", 1)] = v
			}
		}, func(c *format.Config) any { return c.Encoder.Layers }, 2},
		{"nested cfg", func(b *builder) {
			b.args = map[string]any{
				"model": map[string]any{"_name": "transformer", "encoder": map[string]any{"attention_heads": 3, "normalize_before": false}, "decoder": map[string]any{"embed_dim": builtDim}, "max_source_positions": "${task.max_source_positions}"},
				"task":  map[string]any{"_name": "translation", "source_lang": "s", "target_lang": "t", "max_source_positions": 77},
			}
		}, func(c *format.Config) any { return fmt.Sprint(c.Encoder.Self.Heads, c.Encoder.Positions.Max) }, "3 77"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			c.edit(b)
			cfg := b.config(t)
			if got := c.get(&cfg); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// adaptive gives a language model adaptive input and output of the same bands.
func adaptive(b *builder, tieTables, tieProjections bool, factor int) {
	b.drop("decoder.embed_tokens", "decoder.output_projection")
	b.target = 14
	b.args["adaptive_softmax_cutoff"] = "5,9"
	b.args["tie_adaptive_weights"], b.args["tie_adaptive_proj"] = tieTables, tieProjections
	const s = "decoder.adaptive_softmax."
	b.tensors[s+"version"] = builtTensor{[]int{1}, nil, "I64"}
	dim := builtDim
	for i, size := range []int{5, 4, 5} {
		in := fmt.Sprintf("decoder.embed_tokens.embeddings.%d.", i)
		b.add(in+"0.weight", size, dim)
		b.add(in+"1.weight", builtDim, dim)
		if i > 0 {
			out := fmt.Sprintf("%stail.%d.", s, i-1)
			switch b.add(out+"2.weight", size, dim); {
			case tieTables && tieProjections:
				b.same(out+"0.weight", in+"1.weight")
			default:
				b.add(out+"0.weight", dim, builtDim)
			}
			if tieTables {
				b.same(out+"2.weight", in+"0.weight")
			}
		}
		dim = max(dim/factor, 1)
	}
	if !tieTables {
		b.add(s+"head.weight", 7, builtDim)
		return
	}
	b.same(s+"head.word_proj.weight", "decoder.embed_tokens.embeddings.0.0.weight")
	b.add(s+"head.class_proj.weight", 2, builtDim)
}

func TestAdaptive(t *testing.T) {
	bands := []format.Band{{Size: 5, Dim: 6}, {Size: 4, Dim: 3}, {Size: 5, Dim: 1}}
	for _, c := range []struct {
		name                string
		edit                func(*builder)
		tables, projections bool
	}{
		{"untied", func(b *builder) { adaptive(b, false, false, 2) }, false, false},
		{"tables tied", func(b *builder) { adaptive(b, true, false, 2) }, true, false},
		{"all tied", func(b *builder) { adaptive(b, true, true, 2) }, true, true},
		{"all tied, copies dropped", func(b *builder) {
			adaptive(b, true, true, 2)
			b.drop("decoder.adaptive_softmax.tail", "decoder.adaptive_softmax.head.word_proj")
		}, true, true},
		{"a table differs", func(b *builder) {
			adaptive(b, true, true, 2)
			b.add("decoder.adaptive_softmax.tail.1.2.weight", 5, 1)
		}, false, true},
		{"a projection differs", func(b *builder) {
			adaptive(b, true, true, 2)
			b.add("decoder.adaptive_softmax.tail.0.0.weight", builtDim, 3)
		}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newLanguageModel()
			c.edit(b)
			cfg := b.config(t)
			o := cfg.Output
			if o.Kind != format.Adaptive || !slices.Equal(o.Bands, bands) || !slices.Equal(cfg.Decoder.Embedding.Bands, bands) {
				t.Errorf("output %s %v, input %v; want adaptive %v", o.Kind, o.Bands, cfg.Decoder.Embedding.Bands, bands)
			}
			if o.TiedBands != c.tables || o.TiedProjections != c.projections {
				t.Errorf("tied tables %v, projections %v; want %v, %v", o.TiedBands, o.TiedProjections, c.tables, c.projections)
			}
		})
	}
}

// TestAdaptiveProjectionTurned: a projection stored as the input's, [D, dim],
// that is not the input's comes out as [dim, D].
func TestAdaptiveProjectionTurned(t *testing.T) {
	b := newLanguageModel()
	adaptive(b, true, true, 2)
	const name = "decoder.adaptive_softmax.tail.0.0.weight"
	b.add(name, builtDim, 3)
	m := load(t, b.write(t), plainText())
	got := values(t, m, "decoder.adaptive_softmax.tails.0.projection.weight")
	for i := range builtDim {
		for j := range 3 {
			if got[j*builtDim+i] != b.tensors[name].values[i*3+j] {
				t.Fatalf("element [%d %d]: got %v, want %v", j, i, got[j*builtDim+i], b.tensors[name].values[i*3+j])
			}
		}
	}
}

// TestAdaptiveHeadProjection: a tied head behind a projection becomes their product.
func TestAdaptiveHeadProjection(t *testing.T) {
	b := newLanguageModel()
	adaptive(b, true, true, 2)
	const word = "decoder.adaptive_softmax.head.word_proj."
	b.drop(word)
	b.add(word+"0.weight", 2, builtDim)
	b.add(word+"1.weight", 5, 2)
	m := load(t, b.write(t), plainText())
	if m.Config.Output.TiedBands {
		t.Error("tables tied, want them apart")
	}
	got := values(t, m, "decoder.adaptive_softmax.head.weight")
	inner, outer := b.tensors[word+"0.weight"].values, b.tensors[word+"1.weight"].values
	for i := range got {
		r, c := i/builtDim, i%builtDim
		want := float32(float64(outer[2*r])*float64(inner[c]) + float64(outer[2*r+1])*float64(inner[builtDim+c]))
		if got[i] != want {
			t.Fatalf("element %d: got %v, want %v", i, got[i], want)
		}
	}
}

func values(t *testing.T, m *Model, name string) []float32 {
	t.Helper()
	for i := range m.Tensors {
		if m.Tensors[i].Spec.Name == name {
			var v []float32
			if err := m.Tensors[i].Read(func(c []float32) error { v = append(v, c...); return nil }); err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("no tensor %q", name)
	return nil
}

func TestOutputDimensions(t *testing.T) {
	b := newLanguageModel()
	b.args["decoder_input_dim"], b.args["decoder_output_dim"] = 4, 4
	b.add("decoder.embed_tokens.weight", builtVocab, 4)
	b.add("decoder.project_in_dim.weight", builtDim, 4)
	b.add("decoder.project_out_dim.weight", 4, builtDim)
	b.same("decoder.output_projection.weight", "decoder.embed_tokens.weight")
	cfg := b.config(t)
	if cfg.Decoder.Embedding.Dim != 4 || cfg.Decoder.OutputDim != 4 || !cfg.Output.TiedEmbedding {
		t.Errorf("embedding %d, output %d, tied %v; want 4, 4, true", cfg.Decoder.Embedding.Dim, cfg.Decoder.OutputDim, cfg.Output.TiedEmbedding)
	}
	b.drop("decoder.project_out_dim", "decoder.project_in_dim")
	bad := problemsOf(t, b.write(t), plainText())
	want := []string{
		`missing tensor "decoder.project_in_dim.weight", want shape [6 4]`,
		`missing tensor "decoder.project_out_dim.weight", want shape [4 6]`,
	}
	if !slices.Equal(bad.Problems, want) {
		t.Errorf("got %q, want %q", bad.Problems, want)
	}
}
