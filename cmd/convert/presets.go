package main

import (
	"math"

	"memsizer/format"
)

// preset is a model size known by name.
type preset struct {
	name, about string
	config      func() format.Config
}

// presets are the sizes of the paper's experiments, with MemSizer and with
// softmax attention.
var presets = []preset{
	{"mt", "translation, 6+6 layers of 1024/4096, 16 heads, V 32,768, MemSizer decoder (K 4/32)",
		func() format.Config { return mtConfig(format.Softmax, format.MemSizer) }},
	{"mt-full", "the same with MemSizer in the encoder too (K 32)",
		func() format.Config { return mtConfig(format.MemSizer, format.MemSizer) }},
	{"mt-softmax", "the same with softmax attention everywhere",
		func() format.Config { return mtConfig(format.Softmax, format.Softmax) }},
	{"lm", "language model, 32 layers of 1024/4096, 8 heads, K 32, V 267,744, adaptive input and softmax",
		func() format.Config { return lmConfig(format.MemSizer) }},
	{"lm-softmax", "the same with softmax attention",
		func() format.Config { return lmConfig(format.Softmax) }},
	{"bart", "bart_large's shape, 12+12 layers of 1024/4096, 16 heads, V 50,265, MemSizer decoder (K 4/32)",
		func() format.Config { return bartConfig(format.MemSizer) }},
	{"bart-softmax", "the same with softmax attention",
		func() format.Config { return bartConfig(format.Softmax) }},
	{"tiny", "translation, 2+2 layers of 32/64, 4 heads, V 512, MemSizer decoder (K 4/8): for trying things out",
		func() format.Config {
			c := mtConfig(format.Softmax, format.MemSizer)
			resize(&c, sizes{layers: 2, dim: 32, ffn: 64, heads: 4, vocab: 512, cross: 8})
			return c
		}},
}

// stack is one of the given size; sinusoidal positions, post-norm, relu.
func stack(layers, dim, ffn, vocab int) format.Stack {
	return format.Stack{
		Layers: layers, Dim: dim, FFNDim: ffn, Activation: "relu",
		Embedding:  format.Embedding{Kind: format.Plain, Vocab: vocab, Dim: dim},
		Positions:  format.Positions{Kind: format.SinusoidalPositions, Offset: 2, Max: 1024},
		EmbedScale: float32(math.Sqrt(float64(dim))), NormEps: 1e-5,
	}
}

func attention(kind string, heads, slots, dim int) format.Attention {
	a := format.Attention{Kind: kind, Heads: heads, SourceDim: dim}
	if kind == format.MemSizer {
		a.Slots = slots
	}
	return a
}

func mtConfig(encoder, decoder string) format.Config {
	e, d := stack(6, 1024, 4096, 32768), stack(6, 1024, 4096, 32768)
	e.Self = attention(encoder, 16, 32, 1024)
	d.Self = attention(decoder, 16, 4, 1024)
	cross := attention(decoder, 16, 32, 1024)
	d.Cross = &cross
	return format.Config{
		Encoder: &e, Decoder: d, ShareEmbeddings: true,
		Output: format.Output{Kind: format.Plain, TiedEmbedding: true},
	}
}

func lmConfig(kind string) format.Config {
	d := stack(32, 1024, 4096, 267744)
	d.PreNorm = true
	d.Self = attention(kind, 8, 32, 1024)
	bands := []format.Band{{Size: 20000, Dim: 1024}, {Size: 40000, Dim: 256}, {Size: 207744, Dim: 64}}
	d.Embedding = format.Embedding{Kind: format.Adaptive, Vocab: 267744, Bands: bands}
	return format.Config{
		Decoder: d,
		Output:  format.Output{Kind: format.Adaptive, Bands: bands, TiedBands: true, TiedProjections: true},
	}
}

func bartConfig(kind string) format.Config {
	c := mtConfig(format.Softmax, kind)
	for _, s := range []*format.Stack{c.Encoder, &c.Decoder} {
		s.Layers, s.Activation, s.EmbedNorm, s.EmbedScale = 12, "gelu", true, 1
		s.Embedding.Vocab = 50265
		s.Positions = format.Positions{Kind: format.LearnedPositions, Offset: 2, Rows: 1026, Max: 1024}
	}
	return c
}

// sizes change a preset; 0 leaves it as it is.
type sizes struct {
	layers, dim, ffn, heads, vocab, causal, cross int
}

// resize applies z to both stacks. Adaptive bands keep their dimensions
// relative to the model's and share the vocabulary as before.
func resize(c *format.Config, z sizes) {
	stacks := []*format.Stack{&c.Decoder}
	if c.Encoder != nil {
		stacks = append(stacks, c.Encoder)
	}
	set := func(p *int, v int) {
		if v != 0 {
			*p = v
		}
	}
	oldDim, oldVocab := c.Decoder.Dim, c.Decoder.Embedding.Vocab
	for _, s := range stacks {
		scaled := s.EmbedScale != 1
		set(&s.Layers, z.layers)
		set(&s.Dim, z.dim)
		set(&s.FFNDim, z.ffn)
		set(&s.Embedding.Vocab, z.vocab)
		if s.Embedding.Kind == format.Plain {
			s.Embedding.Dim = s.Dim
		}
		if scaled {
			s.EmbedScale = float32(math.Sqrt(float64(s.Dim)))
		}
		resizeAttention(&s.Self, z, s.Dim, z.causal, s == c.Encoder)
		if s.Cross != nil {
			resizeAttention(s.Cross, z, s.Dim, z.cross, false)
		}
	}
	if c.Output.Kind != format.Adaptive {
		return
	}
	dim, vocab := c.Decoder.Dim, c.Decoder.Embedding.Vocab
	bands := make([]format.Band, len(c.Output.Bands))
	rest := vocab
	for i, b := range c.Output.Bands {
		n := max(1, int(int64(b.Size)*int64(vocab)/int64(oldVocab)))
		if i == len(bands)-1 {
			n = rest
		}
		rest -= n
		bands[i] = format.Band{Size: n, Dim: max(1, b.Dim*dim/oldDim)}
	}
	c.Output.Bands, c.Decoder.Embedding.Bands = bands, bands
}

func resizeAttention(a *format.Attention, z sizes, dim, slots int, encoder bool) {
	a.SourceDim = dim
	if z.heads != 0 {
		a.Heads = z.heads
	}
	if encoder {
		slots = z.cross
	}
	if a.Kind == format.MemSizer && slots != 0 {
		a.Slots = slots
	}
}
