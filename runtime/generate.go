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
	if err := g.check(prompt); err != nil {
		return nil, err
	}
	j := g.job(prompt)
	j.ctx, j.line = ctx, line
	return g.search(j)
}

// GenerateAll continues prompts as they come and yields the hypotheses of
// each in order, holding back at most a bounded number of finished ones.
// After an error it stops.
func (g *Generator) GenerateAll(ctx context.Context, prompts iter.Seq[[]int32]) iter.Seq2[[]Hypothesis, error] {
	return g.stream(ctx, 2*g.rows, func(yield func(*job, error) bool) {
		for p := range prompts {
			if !yield(g.job(p), g.check(p)) {
				return
			}
		}
	})
}

func (g *Generator) job(prompt []int32) *job {
	return &job{prefix: prompt, length: len(prompt) + 1}
}

func (g *Generator) check(prompt []int32) error {
	return checkIDs("prompt", prompt, g.m.decoder.vocab, g.m.decoder.positions.limit())
}
