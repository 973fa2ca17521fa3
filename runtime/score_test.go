package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"memsizer/format"
	"memsizer/ops"
)

// blockScores is ScoreText as its documentation says it: each window is
// computed as a whole, from an empty state.
func blockScores(t *testing.T, m *Model, text []int32, b Blocks) []float32 {
	t.Helper()
	all := append([]int32{m.header.Config.Start()}, text...)
	var out []float32
	for done := 0; done < len(text); {
		size := b.Tokens - b.Context // new ones
		from := max(done-b.Context, 0)
		to := min(done+size, len(text))
		err := m.Logits(nil, all[from:to], false, nil, func(pos int, scores []float32) {
			if at := from + pos; at >= done {
				out = append(out, scores[text[at]]-ops.LogSumExp(scores))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		done = to
	}
	return out
}

func TestScoreTextBlocks(t *testing.T) {
	for _, name := range languageModels {
		m := openLanguageModel(t, name)
		rng := rand.New(rand.NewPCG(8, 9))
		text := make([]int32, 333)
		for i := range text {
			text[i] = rng.Int32N(int32(m.decoder.vocab))
			if text[i] == format.Pad {
				text[i] = format.EOS
			}
		}
		for _, b := range []Blocks{{1, 0}, {7, 0}, {64, 0}, {333, 0}, {500, 0}, {8, 7}, {64, 32}, {150, 1}, {400, 399}} {
			for _, n := range []int{0, 1, 65, 333}[:enough(4, 3)] {
				for _, workers := range []int{1, 3}[enough(0, 1):] {
					t.Run(fmt.Sprintf("%s/%d-%d/%d/%d", name, b.Tokens, b.Context, n, workers), func(t *testing.T) {
						var got []float32
						err := m.ScoreText(context.Background(), slices.Values(text[:n]), b, workers, func(lp []float32) error {
							got = append(got, lp...)
							return nil
						})
						if err != nil {
							t.Fatal(err)
						}
						if want := blockScores(t, m, text[:n], b); !slices.Equal(got, want) {
							t.Errorf("%v, want %v", got, want)
						}
					})
				}
			}
		}
	}
}

func TestScoreTextRefuses(t *testing.T) {
	m := openLanguageModel(t, "lm-gelu/model.msz")
	good := Blocks{Tokens: 4, Context: 1}
	for name, c := range map[string]struct {
		m    *Model
		text []int32
		b    Blocks
	}{
		"a translation model":         {openBundled(t), []int32{4, 5}, good},
		"blocks of nothing":           {m, []int32{4, 5}, Blocks{}},
		"context alone":               {m, []int32{4, 5}, Blocks{Tokens: 4, Context: 4}},
		"negative context":            {m, []int32{4, 5}, Blocks{Tokens: 4, Context: -1}},
		"pad":                         {m, []int32{4, 5, 6, 7, format.Pad}, good},
		"an id beyond the vocabulary": {m, []int32{int32(m.decoder.vocab)}, good},
		"a negative id":               {m, []int32{-1}, good},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.m.ScoreText(context.Background(), slices.Values(c.text), c.b, 2, func([]float32) error { return nil }); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestScoreTextStops: an error of the caller, or the end of the context,
// ends it, though the text does not end.
func TestScoreTextStops(t *testing.T) {
	m := openLanguageModel(t, "lm-gelu/model.msz")
	endless := func(yield func(int32) bool) {
		for yield(5) {
		}
	}
	full := errors.New("no room")
	n := 0
	err := m.ScoreText(context.Background(), endless, Blocks{Tokens: 8}, 2, func([]float32) error {
		if n++; n == 3 {
			return full
		}
		return nil
	})
	if err != full || n != 3 {
		t.Errorf("error %v after %d windows", err, n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = m.ScoreText(ctx, endless, Blocks{Tokens: 8}, 2, func([]float32) error {
		cancel()
		return nil
	})
	if err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestTranslationScores: the scores of a translation model's hypothesis are
// those that the search gave it.
func TestTranslationScores(t *testing.T) {
	m := openBundled(t)
	o := DefaultOptions()
	o.MaxLenA, o.MaxLenB = 1.2, 10
	tr, err := NewTranslator(m, o, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s := NewScorer(m)
	for _, l := range bundledLines(t)[:enough(6, 2)] {
		src, _ := m.Text().EncodeSource(l)
		src = append(src, format.EOS)
		hyps, err := tr.TranslateTokens(context.Background(), 0, src, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Translation(context.Background(), src, hyps[0].Tokens)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range hyps[0].TokenScores {
			if d := got[i] - want; d > 1e-5 || d < -1e-5 {
				t.Errorf("%q token %d: %v, the search says %v", l, i, got[i], want)
			}
		}
	}
	for name, c := range map[string]struct{ src, tgt []int32 }{
		"no source":      {[]int32{}, []int32{format.EOS}},
		"pad in source":  {[]int32{4, format.Pad, format.EOS}, []int32{format.EOS}},
		"pad in target":  {[]int32{4, format.EOS}, []int32{format.Pad, format.EOS}},
		"unknown target": {[]int32{4, format.EOS}, []int32{1 << 20, format.EOS}},
	} {
		if _, err := s.Translation(context.Background(), c.src, c.tgt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewScorer(openLanguageModel(t, "lm-gelu/model.msz")).Translation(context.Background(), []int32{4, 2}, []int32{2}); err == nil {
		t.Error("a language model scored a translation")
	}
}
