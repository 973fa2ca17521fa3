package runtime

import (
	"context"
	"fmt"
	"iter"
)

// Generator continues prompts with a language model under the options of a
// search. Any number of goroutines may use it.
type Generator struct{ *engine }

// NewGenerator starts a generator; Close stops it. The length limit counts
// the prompt: a hypothesis has at most int(MaxLenA·S + MaxLenB) tokens before
// eos, S being the prompt's tokens and one, as fairseq counts.
func NewGenerator(m *Model, o Options, r Resources) (*Generator, error) {
	if m.encoder != nil {
		return nil, fmt.Errorf("runtime: a translation model does not continue prompts")
	}
	e, err := newEngine(m, o, r)
	if err != nil {
		return nil, err
	}
	return &Generator{e}, nil
}

// Generate continues a prompt of token ids (without start token and eos). The
// hypotheses, best first, begin with the prompt.
func (g *Generator) Generate(ctx context.Context, line int, prompt []int32) ([]Hypothesis, error) {
	if err := checkIDs("prompt", prompt, g.m.decoder.vocab, g.m.decoder.positions.limit()); err != nil {
		return nil, err
	}
	return g.search(&job{ctx: ctx, prefix: prompt, length: len(prompt) + 1, line: line})
}

// GenerateAll continues prompts as they come and yields the hypotheses of
// each in order, holding back at most a bounded number of finished ones.
// After an error it stops.
func (g *Generator) GenerateAll(ctx context.Context, prompts iter.Seq[[]int32]) iter.Seq2[[]Hypothesis, error] {
	return func(yield func([]Hypothesis, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		type result struct {
			hyps []Hypothesis
			err  error
		}
		window := make(chan chan result, 2*g.rows)
		go func() {
			defer close(window)
			line := 0
			for p := range prompts {
				done := make(chan result, 1)
				select {
				case window <- done:
				case <-ctx.Done():
					return
				}
				go func(line int) {
					h, err := g.Generate(ctx, line, p)
					done <- result{h, err}
				}(line)
				line++
			}
		}()
		for done := range window {
			r := <-done
			if !yield(r.hyps, r.err) || r.err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}
