package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"memsizer/format"
)

// testModel writes a MemSizer translation model with random weights: 60
// words w4 … w63, at most maxSource source tokens, eos likely enough that
// hypotheses end.
func testModel(t testing.TB, maxSource int) string {
	t.Helper()
	const vocab, dim = 64, 16
	stack := func(self, max int) format.Stack {
		return format.Stack{
			Layers: 1, Dim: dim, FFNDim: 32, Activation: "relu",
			Embedding:  format.Embedding{Kind: format.Plain, Vocab: vocab, Dim: dim},
			Positions:  format.Positions{Kind: format.SinusoidalPositions, Offset: 2, Max: max},
			EmbedScale: 4, NormEps: 1e-5,
			Self: format.Attention{Kind: format.MemSizer, Heads: 2, Slots: self, SourceDim: dim},
		}
	}
	encoder, decoder := stack(6, maxSource), stack(4, 64)
	decoder.Cross = &format.Attention{Kind: format.MemSizer, Heads: 2, Slots: 8, SourceDim: dim}
	h := format.Header{
		Config:       format.Config{Encoder: &encoder, Decoder: decoder, Output: format.Output{Kind: format.Plain, Bias: true}},
		Tokenization: format.Tokenization{SourceLang: "en", TargetLang: "de", Tokenizer: "space", BPE: "none"},
	}
	path := filepath.Join(t.TempDir(), "test.msz")
	w, err := format.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var dict strings.Builder
	for i := 4; i < vocab; i++ {
		fmt.Fprintf(&dict, "w%d 1\n", i)
	}
	if err := w.AddSection(format.SectionTargetDict, []byte(dict.String())); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range h.Config.TensorSpecs() {
		v := make([]float32, s.Elements())
		for i := range v {
			v[i] = float32(rng.NormFloat64()) / 2
		}
		if strings.Contains(s.Name, "norm.weight") {
			for i := range v {
				v[i]++
			}
		}
		if s.Name == "decoder.output_projection.bias" {
			v[format.EOS] = 3
		}
		if err := w.AddTensor(s.Name, format.F32, s.Shape, bytes.NewReader(format.AppendFloats(nil, format.F32, v))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// testLines are n lines of 0 to 12 known words.
func testLines(n int) []string {
	rng := rand.New(rand.NewPCG(3, 4))
	lines := make([]string, n)
	for i := range lines {
		words := make([]string, rng.IntN(13))
		for k := range words {
			words[k] = fmt.Sprintf("w%d", 4+rng.IntN(60))
		}
		lines[i] = strings.Join(words, " ")
	}
	return lines
}
