package fairseq

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// problemsOf loads a checkpoint that must be refused.
func problemsOf(t *testing.T, path string, opts Options) *ModelError {
	t.Helper()
	m, err := Load(path, opts)
	if err == nil {
		m.Close()
		t.Fatal("loaded, want an error")
	}
	var bad *ModelError
	if !errors.As(err, &bad) {
		t.Fatalf("got %v, want a *ModelError", err)
	}
	return bad
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*builder)
		want []string // all of the problems
	}{
		{"missing", func(b *builder) { b.drop("decoder.layers.0.self_attn.k_layer_norm.weight") }, []string{
			`missing tensor "decoder.layers.0.self_attn.k_layer_norm.weight", want shape [3]`,
		}},
		{"unexpected", func(b *builder) { b.add("decoder.layers.0.surprise.weight", 3, 3) }, []string{
			`unexpected tensor "decoder.layers.0.surprise.weight", shape [3 3]`,
		}},
		{"misshapen, in the first layer too", func(b *builder) {
			b.add("decoder.layers.0.fc1.weight", builtFFN-1, builtDim)
			b.add("encoder.layers.1.self_attn.q_proj.bias", builtDim+1)
		}, []string{
			`tensor "encoder.layers.1.self_attn.q_proj.bias": shape [7], want [6]`,
			`tensor "decoder.layers.0.fc1.weight": shape [9 6], want [10 6]`,
		}},
		{"everything at once", func(b *builder) {
			b.drop("encoder.layers.0.fc2.bias")
			b.add("decoder.extra", 2)
			b.add("decoder.layers.1.fc2.weight", builtDim, builtFFN, 1)
		}, []string{
			`tensor "decoder.layers.1.fc2.weight": shape [6 10 1], want [6 10]`,
			`missing tensor "encoder.layers.0.fc2.bias", want shape [6]`,
			`unexpected tensor "decoder.extra", shape [2]`,
		}},
		{"a layer less than the settings say", func(b *builder) { b.args["encoder_layers"] = 3 }, []string{
			`missing tensor "encoder.layers.2.self_attn.q_proj.weight", want shape [6 6]`,
			`16 missing tensors in all`,
		}},
		{"integers", func(b *builder) {
			b.tensors["encoder.layers.0.fc2.weight"] = builtTensor{[]int{builtDim, builtFFN}, nil, "I64"}
		}, []string{
			`tensor "encoder.layers.0.fc2.weight": elements are int64, want a floating-point type`,
		}},
		{"no decoder", func(b *builder) { b.drop("decoder.") }, []string{
			`no tensor's name begins with "decoder.": not an encoder-decoder or a language model of fairseq`,
		}},
		{"no settings", func(b *builder) { b.args = nil }, []string{
			`the file holds weights only, without settings; give fairseq's args as JSON with --args`,
		}},
		{"heads unknown", func(b *builder) {
			b.args["arch"] = "memsizer_of_mine"
			delete(b.args, "encoder_attention_heads")
		}, []string{
			`setting "encoder_attention_heads" is needed for softmax attention and not in the file; give it with --args`,
		}},
		{"heads that do not divide", func(b *builder) { b.args["encoder_attention_heads"] = 4 }, []string{
			`config: encoder.self_attention has 4 heads, which do not divide the dimension 6`,
		}},
		{"query rows", func(b *builder) {
			for _, p := range []string{"decoder.layers.0.self_attn.q_proj", "decoder.layers.1.self_attn.q_proj"} {
				b.linear(p, 7, builtDim)
			}
		}, []string{
			`decoder self_attn: q_proj has 7 rows, want a multiple of the 3 memory slots`,
		}},
		{"mistyped setting", func(b *builder) { b.args["encoder_attention_heads"] = "two" }, []string{
			`setting "encoder_attention_heads" is "two", want an integer`,
		}},
		{"a final norm that version 1 does not have", func(b *builder) {
			b.norm("encoder.layer_norm", builtDim)
			b.tensors["encoder.version"] = builtTensor{[]int{1}, []float32{1}, ""}
		}, []string{
			`encoder.layer_norm is in the file, but encoder.version is 1 and such models have no final norm`,
			`unexpected tensor "encoder.layer_norm.weight", shape [6]`,
		}},
		{"a final norm that is missing", func(b *builder) { b.args["decoder_normalize_before"] = true }, []string{
			`missing tensor "decoder.layer_norm.weight", want shape [6]`,
			`missing tensor "decoder.layer_norm.bias", want shape [6]`,
		}},
		{"in_proj of a wrong size", func(b *builder) {
			b.drop("encoder.layers.0.self_attn.q_proj.w", "encoder.layers.0.self_attn.k_proj.w", "encoder.layers.0.self_attn.v_proj.w")
			b.add("encoder.layers.0.self_attn.in_proj_weight", 17, builtDim)
		}, []string{
			`tensor "encoder.layers.0.self_attn.in_proj_weight": shape [17 6], want the rows of three projections`,
			`missing tensor "encoder.layers.0.self_attn.k_proj.weight", want shape [6 6]`,
		}},
		{"two names of one tensor", func(b *builder) { b.add("module.encoder.layers.0.fc1.bias", builtFFN) }, []string{
			`tensors "encoder.layers.0.fc1.bias" and "module.encoder.layers.0.fc1.bias" are both "encoder.layers.0.fc1.bias" and differ`,
		}},
		{"layers to keep that are not there", func(b *builder) { b.args["decoder_layers_to_keep"] = "0,5,7" }, []string{
			`setting "decoder_layers_to_keep" is [0 5 7], but the file has layers 0 to 1`,
		}},
		{"learned positions missing", func(b *builder) {
			b.args["encoder_learned_pos"], b.args["max_source_positions"] = true, 30
		}, []string{
			`missing tensor "encoder.embed_positions.weight", want shape [32 6]`,
		}},
		{"output missing", func(b *builder) { b.drop("decoder.output_projection.weight") }, []string{
			`missing tensor "decoder.output_projection.weight", want shape [11 6]`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			c.edit(b)
			bad := problemsOf(t, b.write(t), plainText())
			for _, want := range c.want {
				if !slices.ContainsFunc(bad.Problems, func(p string) bool { return strings.Contains(p, want) }) {
					t.Errorf("got\n%s\nwant among it\n%s", strings.Join(bad.Problems, "\n"), want)
				}
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	set := func(name string, value any) func(*builder) {
		return func(b *builder) { b.args[name] = value }
	}
	tensor := func(name string) func(*builder) {
		return func(b *builder) { b.add(name, 2, 2) }
	}
	for _, c := range []struct {
		name string
		edit func(*builder)
		want string
	}{
		{"fconv", set("arch", "fconv_wmt_en_de"), `architecture "fconv_wmt_en_de" is a convolutional model; supported are memsizer*, transformer*`},
		{"lightconv", set("arch", "lightconv_iwslt_de_en"), `is a lightweight-convolution model`},
		{"levenshtein", set("arch", "levenshtein_transformer_wmt_en_de"), `is a Levenshtein (edit-based) Transformer`},
		{"roberta", set("arch", "roberta_large"), `is a RoBERTa encoder`},
		{"wav2vec", set("arch", "wav2vec2"), `is a speech model`},
		{"multilingual", set("arch", "multilingual_transformer_iwslt_de_en"), `is a multilingual model (encoders or decoders per language)`},
		{"megatron", set("arch", "transformer_lm_megatron_11b"), `is a model-parallel language model`},
		{"pipeline", set("arch", "transformer_wmt_en_de_big_pipeline_parallel"), `is a model that is split over devices`},
		{"language tokens", set("task", "translation_multi_simple_epoch"), `task "translation_multi_simple_epoch": a multilingual model (language tokens)`},
		{"T2R", func(b *builder) { b.args["use_rfa"], b.args["random_feature"] = true, "mlp" }, `T2R attention (settings "use_rfa", "random_feature" = "mlp")`},
		{"T2R by tensors", tensor("decoder.layers.0.fc3.weight"), `T2R or RFA attention (tensor "decoder.layers.0.fc3.weight")`},
		{"T2R's gate", tensor("decoder.layers.1.self_attn.g_proj.weight"), `T2R or RFA attention (tensor "decoder.layers.1.self_attn.g_proj.weight")`},
		{"RFA", func(b *builder) { b.args["use_rfa"], b.args["random_feature"] = true, "rrf" }, `RFA (random feature attention; settings`},
		{"RFA by tensors", tensor("decoder.random_matrices_eval"), `RFA (random feature attention; tensor "decoder.random_matrices_eval")`},
		{"Performer", tensor("decoder.layers.0.self_attn.projection_matrix"), `Performer (FAVOR+) attention (tensor`},
		{"ELU", set("feature_map", "elu"), `ELU linear attention (setting "feature_map" is "elu")`},
		{"ELU by name", set("arch", "transformer_elu"), `is an ELU linear-attention model`},
		{"ensemble", tensor("models.0.decoder.layers.0.fc1.weight"), `an ensemble of several models: give one model, or average them with --average (tensor`},
		{"per language", tensor("models.de-en.encoder.layers.0.fc1.weight"), `a multilingual model: encoders or decoders per language (tensor`},
		{"attn_ln", tensor("decoder.layers.0.attn_ln.weight"), `NormFormer's attention norm (tensor "decoder.layers.0.attn_ln.weight")`},
		{"c_attn", tensor("decoder.layers.0.c_attn"), `NormFormer's head scale`},
		{"w_resid", tensor("decoder.layers.0.w_resid"), `NormFormer's residual scale`},
		{"ffn_layernorm", func(b *builder) {
			b.norm("decoder.layers.0.ffn_layernorm", 4)
			b.norm("decoder.layers.1.ffn_layernorm", 4)
		}, `NormFormer's feed-forward norm (tensor "decoder.layers.0.ffn_layernorm.bias" and 3 more)`},
		{"bias_k", tensor("encoder.layers.0.self_attn.bias_k"), `learned key bias (tensor`},
		{"bias_v", tensor("encoder.layers.0.self_attn.bias_v"), `learned value bias (tensor`},
		{"quant noise", tensor("encoder.quant_noise.weight"), `the quantisation-noise layer after the embedding`},
		{"product quantisation", tensor("decoder.layers.0.fc1.centroids"), `product-quantised weights`},
		{"characters", set("character_embeddings", true), `character embeddings (setting "character_embeddings")`},
		{"characters by tensors", tensor("decoder.embed_tokens.convolutions.0.weight"), `character embeddings (tensor`},
		{"cross+self", set("cross_self_attention", true), `cross+self-attention (setting "cross_self_attention")`},
		{"no cross", func(b *builder) {
			b.args["no_cross_attention"] = true
			b.drop("decoder.layers.0.encoder_attn", "decoder.layers.1.encoder_attn")
		}, `a decoder without cross-attention (setting "no_cross_attention")`},
		{"experts", tensor("decoder.layers.1.expert_network.0.ff1.weight"), `mixture-of-experts (BASE) layers`},
		{"FSDP", tensor("decoder.layers.0._fsdp_wrapped_module.flat_param_0"), `one shard of a fully sharded (FSDP) checkpoint`},
		{"activation", set("activation_fn", "relu_squared"), `activation "relu_squared"; supported are relu, gelu, `},
		{"mixed layers", func(b *builder) {
			b.drop("decoder.layers.1.self_attn.")
			b.softmax("decoder.layers.1.self_attn.", builtDim, builtDim)
		}, `decoder self_attn is MemSizer in layers [0] and softmax in layers [1]; all layers of a stack must be of one kind`},
		{"both kinds", tensor("decoder.layers.0.self_attn.out_proj.weight"), `decoder layers [0] have both k_layer_norm (MemSizer) and out_proj (softmax) in self_attn`},
		{"cut output", set("output_dictionary_size", 5), `an output vocabulary cut to 5 words`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			c.edit(b)
			path := b.write(t)
			bad := problemsOf(t, path, plainText())
			if !slices.ContainsFunc(bad.Unsupported, func(p string) bool { return strings.Contains(p, c.want) }) {
				t.Errorf("got %q, want %q among it", bad.Unsupported, c.want)
			}
			r, err := Inspect(path, plainText())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Unsupported, bad.Unsupported) {
				t.Errorf("Inspect: got %q, want %q", r.Unsupported, bad.Unsupported)
			}
		})
	}
}

func TestGrouped(t *testing.T) {
	var list []listed
	for _, n := range []string{"0", "1", "2", "4"} {
		for _, part := range []string{"fc1.weight", "fc1.bias", "fc2.bias"} {
			list = append(list, listed{"module.decoder.layers." + n + "." + part, "[2]"})
		}
	}
	list = append(list, listed{"decoder.x", "[1]"})
	got := strings.Join(grouped("missing tensor", ", want shape ", list), "\n")
	want := `4 × missing tensor "module.decoder.layers.N.fc1.weight", N = 0-2, 4, want shape [2]
4 × missing tensor "module.decoder.layers.N.fc1.bias", N = 0-2, 4, want shape [2]
4 × missing tensor "module.decoder.layers.N.fc2.bias", N = 0-2, 4, want shape [2]
missing tensor "decoder.x", want shape [1]
13 missing tensors in all`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
