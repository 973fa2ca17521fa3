package format

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// translation is a valid encoder-decoder.
func translation() Config {
	e := Stack{
		Layers: 2, Dim: 8, FFNDim: 12, Activation: "gelu", FinalNorm: true, PreNorm: true,
		Embedding:  Embedding{Kind: Plain, Vocab: 20, Dim: 6},
		Positions:  Positions{Kind: LearnedPositions, Offset: 2, Rows: 18, Max: 16},
		EmbedScale: 1, EmbedNorm: true, NormEps: 1e-5,
		Self: Attention{Kind: Softmax, Heads: 2, SourceDim: 8},
	}
	d := e
	d.Dim, d.OutputDim = 4, 6
	d.Positions = Positions{Kind: SinusoidalPositions, Offset: 2, Max: 16}
	d.Embedding = Embedding{Kind: Plain, Vocab: 20, Dim: 6}
	d.Self = Attention{Kind: MemSizer, Heads: 3, Slots: 5, SourceDim: 4}
	d.Cross = &Attention{Kind: MemSizer, Heads: 3, Slots: 7, SourceDim: 8}
	return Config{Encoder: &e, Decoder: d, ShareEmbeddings: true, Output: Output{Kind: Plain, TiedEmbedding: true}}
}

// adaptive is a valid language model with adaptive input and softmax.
func adaptive() Config {
	c := smallConfig()
	bands := []Band{{3, 4}, {2, 2}}
	c.Decoder.Embedding = Embedding{Kind: Adaptive, Vocab: 5, Bands: bands}
	c.Output = Output{Kind: Adaptive, Bands: bands, TiedBands: true, TiedProjections: true}
	return c
}

// outputTensors are the matrices that the output layer multiplies by, apart
// from projections, of the cases of TestTensorSpecs.
var outputTensors = map[string][]string{
	"translation":             {"encoder.embed_tokens.weight"},
	"adaptive, tied":          {"decoder.embed_tokens.bands.0.weight", "decoder.embed_tokens.bands.1.weight"},
	"adaptive, untied":        {"decoder.adaptive_softmax.head.weight", "decoder.adaptive_softmax.tails.0.weight"},
	"plain output of its own": {"decoder.output_projection.weight"},
}

func TestTensorSpecs(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		some   map[string][]int // of its tensors
		none   []string
		count  int
	}{
		{"translation", translation(), map[string][]int{
			"encoder.embed_tokens.weight":                       {20, 6},
			"encoder.project_in_dim.weight":                     {8, 6},
			"encoder.embed_positions.weight":                    {18, 8},
			"encoder.layernorm_embedding.bias":                  {8},
			"encoder.layers.1.self_attn.out_proj.weight":        {8, 8},
			"encoder.layers.1.fc2.weight":                       {8, 12},
			"decoder.project_in_dim.weight":                     {4, 6},
			"decoder.layers.0.self_attn.q_proj.weight":          {15, 4},
			"decoder.layers.0.encoder_attn.q_proj.weight":       {21, 4},
			"decoder.layers.0.encoder_attn.k_proj.weight":       {7, 8},
			"decoder.layers.0.encoder_attn.v_proj.weight":       {4, 8},
			"decoder.layers.0.encoder_attn.k_layer_norm.weight": {7},
			"decoder.layers.1.encoder_attn_layer_norm.bias":     {4},
			"decoder.layer_norm.weight":                         {4},
			"decoder.project_out_dim.weight":                    {6, 4},
		}, []string{"decoder.embed_tokens.weight", "decoder.output_projection.weight", "decoder.embed_positions.weight"}, 5 + 2*16 + 2 + 3 + 2*30 + 2 + 1},
		{"adaptive, tied", adaptive(), map[string][]int{
			"decoder.embed_tokens.bands.0.weight":        {3, 4},
			"decoder.embed_tokens.bands.1.weight":        {2, 2},
			"decoder.embed_tokens.bands.1.projection":    {4, 2},
			"decoder.adaptive_softmax.head.class.weight": {1, 4},
		}, []string{"decoder.adaptive_softmax.head.weight", "decoder.adaptive_softmax.tails.0.weight"}, 4 + 18 + 2 + 1},
		{"adaptive, untied", func() Config {
			c := adaptive()
			c.Output.TiedBands, c.Output.TiedProjections = false, false
			return c
		}(), map[string][]int{
			"decoder.adaptive_softmax.head.weight":               {3, 4},
			"decoder.adaptive_softmax.tails.0.projection.weight": {2, 4},
			"decoder.adaptive_softmax.tails.0.weight":            {2, 2},
		}, nil, 4 + 18 + 2 + 4},
		{"plain output of its own", func() Config {
			c := smallConfig()
			c.Output = Output{Kind: Plain, Bias: true}
			return c
		}(), map[string][]int{
			"decoder.output_projection.weight": {5, 4},
			"decoder.output_projection.bias":   {5},
		}, nil, 1 + 18 + 2 + 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.config.Validate(); err != nil {
				t.Fatal(err)
			}
			have := map[string][]int{}
			var elements int64
			for _, s := range c.config.TensorSpecs() {
				if have[s.Name] != nil {
					t.Errorf("%q is there twice", s.Name)
				}
				have[s.Name] = s.Shape
				elements += s.Elements()
				if read := slices.Contains(outputTensors[c.name], s.Name); (s.Role == RoleOutput) != read {
					t.Errorf("%q has role %d, the output layer reads it: %v", s.Name, s.Role, read)
				}
				if vector := s.Role == RoleVector; vector != (len(s.Shape) == 1) {
					t.Errorf("%q of shape %v has role %d", s.Name, s.Shape, s.Role)
				}
			}
			if len(have) != c.count || elements != c.config.Parameters() {
				t.Errorf("%d tensors of %d elements, want %d of %d", len(have), elements, c.count, c.config.Parameters())
			}
			for name, shape := range c.some {
				if !reflect.DeepEqual(have[name], shape) {
					t.Errorf("%q has shape %v, want %v", name, have[name], shape)
				}
			}
			for _, name := range c.none {
				if have[name] != nil {
					t.Errorf("%q is there", name)
				}
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		want   string
		base   func() Config
		change func(c *Config)
	}{
		{"decoder.layers is 0", smallConfig, func(c *Config) { c.Decoder.Layers = 0 }},
		{"encoder.dim is -1", translation, func(c *Config) { c.Encoder.Dim = -1 }},
		{"decoder.ffn_dim is 0", smallConfig, func(c *Config) { c.Decoder.FFNDim = 0 }},
		{"decoder.embedding.vocab is 3", smallConfig, func(c *Config) { c.Decoder.Embedding.Vocab = 3 }},
		{"decoder.positions.max is 0", smallConfig, func(c *Config) { c.Decoder.Positions.Max = 0 }},
		{"norm_eps is 0", smallConfig, func(c *Config) { c.Decoder.NormEps = 0 }},
		{"embed_scale is 0", smallConfig, func(c *Config) { c.Decoder.EmbedScale = 0 }},
		{`activation is "elu"`, smallConfig, func(c *Config) { c.Decoder.Activation = "elu" }},
		{`embedding.kind is ""`, smallConfig, func(c *Config) { c.Decoder.Embedding.Kind = "" }},
		{"embedding is plain but has bands", smallConfig, func(c *Config) { c.Decoder.Embedding.Bands = []Band{{5, 4}} }},
		{"embedding is adaptive but has dim", adaptive, func(c *Config) { c.Decoder.Embedding.Dim = 4 }},
		{"bands hold 4 words", adaptive, func(c *Config) { c.Decoder.Embedding.Bands = []Band{{2, 4}, {2, 2}} }},
		{"has 0 bands", adaptive, func(c *Config) { c.Decoder.Embedding.Bands = nil }},
		{"band 1 is 2 × 0", adaptive, func(c *Config) { c.Decoder.Embedding.Bands = []Band{{3, 4}, {2, 0}} }},
		{`positions.kind is "x"`, smallConfig, func(c *Config) { c.Decoder.Positions.Kind = "x" }},
		{"positions are sinusoidal but have rows", smallConfig, func(c *Config) { c.Decoder.Positions.Rows = 9 }},
		{"positions.rows is 2", translation, func(c *Config) { c.Encoder.Positions.Rows = 2 }},
		{"positions.max is 17", translation, func(c *Config) { c.Encoder.Positions.Max = 17 }},
		{`self_attention.kind is "rfa"`, smallConfig, func(c *Config) { c.Decoder.Self.Kind = "rfa" }},
		{"self_attention.heads is 0", smallConfig, func(c *Config) { c.Decoder.Self.Heads = 0 }},
		{"self_attention.slots is 0", smallConfig, func(c *Config) { c.Decoder.Self.Slots = 0 }},
		{"self_attention.source_dim is 5", smallConfig, func(c *Config) { c.Decoder.Self.SourceDim = 5 }},
		{"is softmax but has 3 slots", translation, func(c *Config) { c.Encoder.Self.Slots = 3 }},
		{"3 heads, which do not divide", translation, func(c *Config) { c.Encoder.Self.Heads = 3 }},
		{"encoder.cross_attention is set", translation, func(c *Config) { c.Encoder.Cross = &c.Encoder.Self }},
		{"decoder.cross_attention must be set", translation, func(c *Config) { c.Decoder.Cross = nil }},
		{"decoder.cross_attention must be set", smallConfig, func(c *Config) { c.Decoder.Cross = &c.Decoder.Self }},
		{"cross_attention.source_dim is 4", translation, func(c *Config) { c.Decoder.Cross.SourceDim = 4 }},
		{"share_embeddings needs", translation, func(c *Config) { c.Decoder.Embedding.Vocab = 21 }},
		{"share_embeddings needs", smallConfig, func(c *Config) { c.ShareEmbeddings = true }},
		{"tied_embedding needs", translation, func(c *Config) { c.Decoder.OutputDim = 0 }},
		{`output.kind is ""`, smallConfig, func(c *Config) { c.Output.Kind = "" }},
		{"output is plain but", smallConfig, func(c *Config) { c.Output.TiedBands = true }},
		{"output is adaptive but", adaptive, func(c *Config) { c.Output.Bias = true }},
		{"tied adaptive output needs", adaptive, func(c *Config) { c.Decoder.Embedding = Embedding{Kind: Plain, Vocab: 5, Dim: 4} }},
		{"band 0 is", adaptive, func(c *Config) { c.Output.Bands = []Band{{2, 4}, {3, 2}} }},
	} {
		t.Run(c.want, func(t *testing.T) {
			config := c.base()
			if err := config.Validate(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(&config)
			if err := config.Validate(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "format: config: ") {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}
