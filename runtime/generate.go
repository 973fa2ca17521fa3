package runtime

import (
	"context"
	"fmt"
	"iter"

	"memsizer/format"
	"memsizer/ops"
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

// Token is one generated token with its natural log-probability.
type Token struct {
	ID      int32
	LogProb float32
}

// Continue generates tokens after a prompt, one at a time and without end:
// the caller stops the iteration. It takes the likeliest token, or draws one
// when o.Sampling is set, by o.Seed and line (see [Options]); Beam and the length options do not
// apply. pad is never generated. Memory is constant for MemSizer models; a
// softmax model keeps every position.
func (m *Model) Continue(ctx context.Context, line int, prompt []int32, o Options) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		o.Beam, o.NBest = 1, 1
		err := o.Validate()
		if err == nil && m.encoder != nil {
			err = fmt.Errorf("runtime: a translation model does not continue prompts")
		}
		if err == nil {
			err = checkIDs("prompt", prompt, m.decoder.vocab, m.decoder.positions.limit())
		}
		if err != nil {
			yield(Token{}, err)
			return
		}
		g := continuation{m: m, c: ops.NewCPU(), state: m.decoder.newState(1, 1)}
		if o.Sampling {
			g.rng = newSampler(o.Seed, line)
		}
		g.run(ctx, prompt, &o, yield)
	}
}

// continuation is one sequence under way.
type continuation struct {
	m       *Model
	c       *ops.CPU
	w       scratch
	state   *State
	batch   stepBatch
	rng     *sampler
	top     ops.TopK
	history []int32 // zeros: the only slot
	t       int     // tokens read
}

func (g *continuation) run(ctx context.Context, prompt []int32, o *Options, yield func(Token, error) bool) {
	in := append([]int32{g.m.header.Config.Start()}, prompt...)
	for {
		if err := ctx.Err(); err != nil {
			yield(Token{}, err)
			return
		}
		if n := g.m.decoder.positions.limit(); n > 0 && g.t+len(in) > n {
			yield(Token{}, fmt.Errorf("runtime: the model's positions end at %d tokens", n))
			return
		}
		x := g.read(in)
		logits := g.w.logits(1, g.m.output.vocab)
		g.m.output.scores(g.c, &g.w, logits, x)
		tok := g.choose(logits.Row(0), o)
		if !yield(tok, nil) {
			return
		}
		in = append(in[:0], tok.ID)
	}
}

// read advances the state by tokens and returns the last one's hidden state
// [1, D].
func (g *continuation) read(tokens []int32) ops.Matrix {
	for {
		n := min(len(tokens), forwardRows)
		if g.m.decoder.history {
			for len(g.history) < g.t+n {
				g.history = append(g.history, 0)
			}
		}
		g.batch.reset()
		for i, id := range tokens[:n] {
			g.batch.add(id, int32(g.t+i+1), 0, 0, 0, g.history)
		}
		x := g.m.decoder.step(g.c, &g.w, g.state, &g.batch, nil)
		g.t += n
		if tokens = tokens[n:]; len(tokens) == 0 {
			return x.Slice(n-1, n)
		}
	}
}

func (g *continuation) choose(row []float32, o *Options) Token {
	if t := float32(o.Temperature); t != 1 {
		for i := range row {
			row[i] /= t
		}
	}
	norm := ops.LogSumExp(row)
	row[format.Pad] = negInf
	row[format.Unk] -= float32(o.UnkPen)
	if g.rng != nil {
		if c, ok := g.rng.draw(row, norm, o); ok {
			return Token{c.ID, c.Value - norm}
		}
	}
	values, ids := g.top.Of(row, 1)
	if len(values) == 0 { // every score is −Inf or NaN
		return Token{format.EOS, negInf}
	}
	return Token{ids[0], values[0] - norm}
}
