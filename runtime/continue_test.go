package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"memsizer/format"
	"memsizer/ops"
)

// languageModels are small models with random weights: adaptive and plain,
// and one in int8.
var languageModels = []string{"lm-adaptive-tied/model.msz", "lm-gelu/model.msz", "lm-adaptive-tied/model-i8.msz"}

func openLanguageModel(t testing.TB, name string) *Model {
	t.Helper()
	m, err := Open(filepath.Join("../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// somePrompts are n prompts of 0 to 200 tokens.
func somePrompts(m *Model, n int) [][]int32 {
	rng := rand.New(rand.NewPCG(5, 6))
	prompts := make([][]int32, n)
	for i := range prompts {
		length := rng.IntN(12)
		if i%7 == 3 {
			length = 120 + rng.IntN(80) // more than a step reads
		}
		for range length {
			prompts[i] = append(prompts[i], 4+rng.Int32N(int32(m.decoder.vocab)-4))
		}
	}
	return prompts
}

// continued is the first n tokens after a prompt, one at a time.
func continued(t *testing.T, m *Model, line int, prompt []int32, o Options, n int) []Token {
	var out []Token
	for tok, err := range m.Continue(context.Background(), line, prompt, o) {
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, tok); len(out) == n {
			break
		}
	}
	return out
}

var continuationOptions = map[string]func(o *Options){
	"greedy":   func(o *Options) {},
	"sampling": func(o *Options) { o.Sampling, o.Seed = true, 7 },
	"top-k":    func(o *Options) { o.Sampling, o.TopK, o.Temperature = true, 5, 1.3 },
	"top-p":    func(o *Options) { o.Sampling, o.TopP, o.UnkPen = true, 0.8, 2 },
}

// TestContinueAllEqualsContinue: many continuations at a time are, bit for
// bit, those made one by one, whatever the workers and rows.
func TestContinueAllEqualsContinue(t *testing.T) {
	for _, name := range languageModels {
		m := openLanguageModel(t, name)
		prompts := somePrompts(m, enough(23, 7))
		length := func(line int) int { return 1 + line*5%enough(37, 7) }
		for kind, change := range continuationOptions {
			o := DefaultOptions()
			change(&o)
			var want [][]Token
			for i, p := range prompts {
				want = append(want, continued(t, m, i, p, o, length(i)))
			}
			for _, r := range []Resources{{}, {Workers: 1, Rows: 1}, {Workers: 2, Rows: 5}, {Workers: 4, Rows: 64}} {
				t.Run(fmt.Sprintf("%s/%s/%d×%d", name, kind, r.Workers, r.Rows), func(t *testing.T) {
					var mu sync.Mutex
					got := make([][]Token, len(prompts))
					err := m.ContinueAll(context.Background(), slices.Values(prompts), o, r, func(line int, tok Token, err error) bool {
						if err != nil {
							t.Error(err)
							return false
						}
						mu.Lock()
						defer mu.Unlock()
						got[line] = append(got[line], tok)
						return len(got[line]) < length(line)
					})
					if err != nil {
						t.Fatal(err)
					}
					for i := range want {
						if !slices.Equal(got[i], want[i]) {
							t.Errorf("prompt %d: %v, alone %v", i, got[i], want[i])
						}
					}
				})
			}
		}
	}
}

// TestContinueIsThePredictionOfTheScorer: the log-probabilities of greedy
// tokens are those of the same text scored as a whole, and the largest.
func TestContinueIsThePredictionOfTheScorer(t *testing.T) {
	for _, name := range languageModels {
		t.Run(name, func(t *testing.T) {
			m := openLanguageModel(t, name)
			prompt := somePrompts(m, 4)[1]
			tokens := continued(t, m, 0, prompt, DefaultOptions(), 150)
			text := slices.Clone(prompt)
			for _, tok := range tokens {
				text = append(text, tok.ID)
			}
			i := -len(prompt)
			err := m.ScoreText(context.Background(), slices.Values(text), Blocks{Tokens: len(text)}, 1, func(lp []float32) error {
				for _, v := range lp {
					if i >= 0 && v != tokens[i].LogProb {
						t.Errorf("token %d: %v, scored %v", i, tokens[i].LogProb, v)
					}
					i++
				}
				return nil
			})
			if err != nil || i != len(tokens) {
				t.Errorf("%d tokens scored (%v), want %d", i, err, len(tokens))
			}
		})
	}
}

func TestContinueRefuses(t *testing.T) {
	m := openLanguageModel(t, "lm-gelu/model.msz")
	for name, c := range map[string]struct {
		prompt []int32
		change func(o *Options)
	}{
		"an id beyond the vocabulary": {[]int32{int32(m.decoder.vocab)}, func(*Options) {}},
		"a negative id":               {[]int32{-1}, func(*Options) {}},
		"pad":                         {[]int32{format.Pad}, func(*Options) {}},
		"no temperature":              {nil, func(o *Options) { o.Temperature = 0 }},
		"top-k without sampling":      {nil, func(o *Options) { o.TopK = 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			o := DefaultOptions()
			c.change(&o)
			n := 0
			for _, err := range m.Continue(context.Background(), 0, c.prompt, o) {
				if n++; err == nil || n > 1 {
					t.Fatalf("step %d: error %v", n, err)
				}
			}
			err := m.ContinueAll(context.Background(), slices.Values([][]int32{{4}, c.prompt}), o, Resources{}, func(line int, _ Token, _ error) bool {
				if line == 1 {
					t.Error("the prompt was continued")
				}
				return false
			})
			if n != 1 || err == nil {
				t.Errorf("%d steps, ContinueAll's error is %v", n, err)
			}
		})
	}
}

// TestContinueStopsAtLearnedPositions: with a learned table of positions a
// continuation ends where the table does.
func TestContinueStopsAtLearnedPositions(t *testing.T) {
	m := openLanguageModel(t, "lm-gelu/model.msz")
	// 20 positions after the two that fairseq leaves free
	d := m.decoder.dim
	table := &ops.Weights{Rows: 22, Cols: d, Data: make([]byte, 4*22*d)}
	stack := format.Stack{Dim: d, Positions: format.Positions{Kind: format.LearnedPositions, Offset: 2}}
	m.decoder.positions = newPositions(&stack, table)
	o := DefaultOptions()
	for _, n := range []int{0, 5, 19, 20, 60} {
		prompt := make([]int32, n)
		for i := range prompt {
			prompt[i] = 4
		}
		want := max(20-n, 0)
		var last error
		got := 0
		for _, err := range m.Continue(context.Background(), 0, prompt, o) {
			if last = err; err == nil {
				got++
			}
		}
		if got != want || last != ErrPositions {
			t.Errorf("prompt of %d: %d tokens and error %v, want %d and %v", n, got, last, want, ErrPositions)
		}
		got, last = 0, nil
		err := m.ContinueAll(context.Background(), slices.Values([][]int32{prompt}), o, Resources{}, func(_ int, _ Token, err error) bool {
			if last = err; err == nil {
				got++
			}
			return true
		})
		if got != want || last != ErrPositions || err != nil {
			t.Errorf("prompt of %d among all: %d tokens, %v and %v", n, got, last, err)
		}
	}
}

// TestContinueAllStops: the end of the context ends it, though the prompts
// do not.
func TestContinueAllStops(t *testing.T) {
	m := openLanguageModel(t, "lm-gelu/model.msz")
	for _, waiting := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(context.Background())
		reason := errors.New("enough")
		hold := make(chan bool)
		prompts := func(yield func([]int32) bool) {
			for yield([]int32{4, 5}) {
				if waiting {
					<-hold
				}
			}
		}
		time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
		err := m.ContinueAll(ctx, prompts, DefaultOptions(), Resources{Workers: 2, Rows: 3}, func(int, Token, error) bool { return !waiting })
		if err != reason {
			t.Errorf("error %v, want %v", err, reason)
		}
		close(hold)
	}
}

// TestContinuationAllocatesNothing once it is under way, so that any number
// of tokens take the same memory.
func TestContinuationAllocatesNothing(t *testing.T) {
	for _, name := range languageModels {
		m := openLanguageModel(t, name)
		o := DefaultOptions()
		o.Sampling, o.TopP = true, 0.9
		b := newContinuer(m, &o, 4, func(int, Token, error) bool { return true })
		for i := range 4 {
			b.add(i, []int32{4, 5, 6})
		}
		for range enough(5000, 300) { // beyond the positions that are kept
			b.step()
		}
		if n := testing.AllocsPerRun(50, b.step); n > 0 {
			t.Errorf("%s: a step allocates %v times", name, n)
		}
	}
}

// TestContinuationOfBlandScores: a row without any finite score gives eos.
func TestContinuationOfBlandScores(t *testing.T) {
	o := DefaultOptions()
	b := newContinuer(toyModel(8, 9), &o, 1, nil)
	inf := float32(math.Inf(-1))
	if got := b.pick([]float32{inf, inf, inf, inf, inf, inf, inf, inf}, nil); got.ID != format.EOS {
		t.Errorf("token %d", got.ID)
	}
	if got := b.pick([]float32{0, 9, 1, 8, 3, 8, 2, 0}, nil); got.ID != format.Unk {
		t.Errorf("token %d, want the first of the largest that is not pad", got.ID)
	}
}

// TestInt8ModelMultipliesInt8: no product of an int8 model falls back to
// float32, but for the transposed projections of an adaptive softmax, which
// have no scale per row.
func TestInt8ModelMultipliesInt8(t *testing.T) {
	m := openLanguageModel(t, "lm-adaptive-tied/model-i8.msz")
	want := func(name string, l *ops.Linear, d ops.DType) {
		if l.DType() != d {
			t.Errorf("%s is multiplied as %v, want %v", name, l.DType(), d)
		}
	}
	for i, l := range m.decoder.layers {
		want(fmt.Sprintf("layer %d: q, k and v", i), l.self.(memsizerCausal).qkv, ops.I8)
		want(fmt.Sprintf("layer %d: fc1", i), l.ffn.fc1, ops.I8)
		want(fmt.Sprintf("layer %d: fc2", i), l.ffn.fc2, ops.I8)
	}
	for i, b := range m.decoder.embed.bands {
		want(fmt.Sprintf("band %d: projection", i), b.project, ops.I8)
	}
	want("head", m.output.head, ops.I8)
	for i, tail := range m.output.tails {
		want(fmt.Sprintf("tail %d", i), tail.linear, ops.I8)
		want(fmt.Sprintf("tail %d: projection", i), tail.project, ops.F32)
	}
}
