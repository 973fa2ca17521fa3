package main

import (
	"bufio"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
	"memsizer/runtime"
)

func TestGreedyContinuationOfReferenceCases(t *testing.T) {
	for _, dir := range caseDirs(t, "greedy.json", "lm-", "container-", "kjv-lm") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want []struct {
				Tokens   []int32   `json:"tokens"`
				Prompt   int       `json:"prompt"`
				LogProbs []float64 `json:"log_probs"`
			}
			readJSON(t, filepath.Join(dir, "greedy.json"), &want)
			if len(want) == 0 {
				t.Fatal("greedy.json is empty")
			}
			m := convertCase(t, dir, "f32", tokensOnly...)
			for i, w := range want {
				pos := w.Prompt
				// the recorded prompt begins with the decoder's first input
				if w.Tokens[0] != format.EOS {
					t.Fatalf("prompt %d begins with %d", i, w.Tokens[0])
				}
				for tok, err := range m.Continue(context.Background(), i, w.Tokens[1:w.Prompt], runtime.DefaultOptions()) {
					if err != nil {
						t.Fatal(err)
					}
					if tok.ID != w.Tokens[pos] {
						t.Fatalf("prompt %d, token %d: %d, want %d", i, pos, tok.ID, w.Tokens[pos])
					}
					if p := w.LogProbs[pos-w.Prompt]; !near(float64(tok.LogProb), p, 1e-4) {
						t.Errorf("prompt %d, token %d: log-probability %v, want %v", i, pos, tok.LogProb, p)
					}
					if pos++; pos == len(w.Tokens) {
						break
					}
				}
			}
		})
	}
}

// TestPerplexityOfTrainedLanguageModel scores the test text of the trained
// language model in the recorded ways, equal within 0.01 %.
func TestPerplexityOfTrainedLanguageModel(t *testing.T) {
	dir := filepath.Join(referenceDir, "kjv-lm")
	text, err := os.Open(filepath.Join(dir, "test.txt"))
	if err != nil {
		t.Skip("the trained language model is not beside the repository")
	}
	defer text.Close()
	m := convertCase(t, dir, "f32", "--tokenizer", "none", "--bpe", "none")
	var tokens []int32
	for s := bufio.NewScanner(text); s.Scan(); {
		for _, w := range strings.Fields(s.Text()) {
			tokens = append(tokens, m.Text().Target().Index(w))
		}
		tokens = append(tokens, format.EOS)
	}
	type protocol struct {
		Block      int     `json:"block"`
		Context    int     `json:"context"`
		Tokens     int     `json:"tokens"`
		Perplexity float64 `json:"perplexity"`
	}
	var want struct {
		Plain   protocol  `json:"non_overlapping_128"`
		Overlap protocol  `json:"context_window_64_of_128"`
		Paper   protocol  `json:"last_256_of_512"`
		First   []float64 `json:"first_200_token_nll"`
	}
	readJSON(t, filepath.Join(dir, "perplexity.json"), &want)
	for name, p := range map[string]protocol{"non-overlapping": want.Plain, "overlapping": want.Overlap, "paper": want.Paper} {
		t.Run(name, func(t *testing.T) {
			sum, n := 0.0, 0
			err := m.ScoreText(context.Background(), slices.Values(tokens), runtime.Blocks{Tokens: p.Block, Context: p.Context}, 0, func(lp []float32) error {
				for _, v := range lp {
					if name == "paper" && n < len(want.First) && math.Abs(-float64(v)-want.First[n]) > 1e-4*max(1, want.First[n]) {
						t.Errorf("token %d: negative log-likelihood %v, want %v", n, -v, want.First[n])
					}
					sum -= float64(v)
					n++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n != p.Tokens {
				t.Errorf("%d tokens, want %d", n, p.Tokens)
			}
			got := math.Exp(sum / float64(n))
			t.Logf("perplexity %.5f, recorded %.5f", got, p.Perplexity)
			if math.Abs(got/p.Perplexity-1) > 1e-4 {
				t.Errorf("perplexity %v, want %v", got, p.Perplexity)
			}
		})
	}
}

// TestBeamOfLanguageModels compares with what fairseq's SequenceGenerator
// made of prompts, given as prefixes: max_len_b counts them.
func TestBeamOfLanguageModels(t *testing.T) {
	for _, dir := range caseDirs(t, "beam.jsonl", "lm-") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			m := convertCase(t, dir, "f32", tokensOnly...)
			n := 0
			readLines(t, filepath.Join(dir, "beam.jsonl"), func(line []byte) {
				r := struct {
					Beam   int             `json:"beam"`
					MaxLen float64         `json:"max_len_b"`
					MinLen int             `json:"min_len"`
					Ngram  int             `json:"no_repeat_ngram_size"`
					Prompt json.RawMessage `json:"prompt"`
					Nbest  []scoredTokens  `json:"nbest"`
				}{Beam: 4, MaxLen: 30, MinLen: 1}
				if err := json.Unmarshal(line, &r); err != nil {
					t.Fatal(err)
				}
				n++
				var text string
				var ids []int32
				if json.Unmarshal(r.Prompt, &text) == nil {
					ids, _ = m.Text().EncodeTarget(text)
				} else if err := json.Unmarshal(r.Prompt, &ids); err != nil {
					t.Fatal(err)
				}
				o := runtime.DefaultOptions()
				o.Beam, o.NBest, o.MaxLenB, o.MinLen, o.NoRepeatNgram = r.Beam, r.Beam, r.MaxLen, r.MinLen, r.Ngram
				g, err := runtime.NewGenerator(m, o, runtime.Resources{Workers: 1, Rows: r.Beam})
				if err != nil {
					t.Fatal(err)
				}
				defer g.Close()
				got, err := g.Generate(context.Background(), 0, ids)
				if err != nil {
					t.Fatal(err)
				}
				sameHypotheses(t, got, r.Nbest, 1e-4)
			})
			if n == 0 {
				t.Error("beam.jsonl is empty")
			}
		})
	}
}
