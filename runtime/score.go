package runtime

import (
	"context"
	"fmt"

	"memsizer/ops"
)

// Scorer computes log-probabilities of given tokens. One goroutine uses it
// at a time; make one per core.
type Scorer struct {
	m     *Model
	c     *ops.CPU
	w     scratch
	state *State
	batch stepBatch
}

// NewScorer returns a scorer for m.
func NewScorer(m *Model) *Scorer {
	return &Scorer{m: m, c: ops.NewCPU(), state: m.decoder.newState(1, 1)}
}

// Translation returns the natural log-probabilities of the tokens of tgt
// (ending with eos) given src (with eos).
func (s *Scorer) Translation(ctx context.Context, src, tgt []int32) ([]float32, error) {
	prev := append([]int32{s.m.header.Config.Start()}, tgt...)
	if err := s.m.checkTokens(src, prev); err != nil {
		return nil, err
	}
	out, _ := s.m.encoder.encode(s.c, &s.w, [][]int32{src}, nil)
	s.state.putSource(s.c, &s.w, 0, out)
	return s.window(ctx, make([]float32, 0, len(tgt)), prev[:len(tgt)], tgt, 0)
}

// Blocks says how a long text is cut into windows for a language model.
type Blocks struct {
	// Tokens is the size of a window; its first Context tokens are read but
	// not scored (fewer at the start of the text), the others are. Every
	// window starts with an empty state at the first position.
	Tokens, Context int
}

// Text scores a language model's text: tokens[i] is predicted from
// tokens[:i] inside its window, the first one from the start token (eos). It calls yield with
// the log-probabilities of consecutive parts of tokens, in order.
func (s *Scorer) Text(ctx context.Context, tokens []int32, b Blocks, yield func(logProbs []float32) error) error {
	if s.m.encoder != nil {
		return fmt.Errorf("runtime: a translation model does not score plain text; give source and target")
	}
	if b.Tokens < 1 || b.Context < 0 || b.Context >= b.Tokens {
		return fmt.Errorf("runtime: blocks of %d tokens with %d of context", b.Tokens, b.Context)
	}
	if err := checkIDs("text", tokens, s.m.decoder.vocab, 0); err != nil {
		return err
	}
	if n := s.m.decoder.positions.limit(); n > 0 && b.Tokens > n {
		return fmt.Errorf("runtime: blocks of %d tokens, the model's positions end at %d", b.Tokens, n)
	}
	stride := b.Tokens - b.Context
	var prev []int32
	var out []float32
	for lo := 0; lo < len(tokens); lo += stride {
		hi := min(lo+stride, len(tokens))
		first := max(lo-b.Context, 0)
		prev = append(prev[:0], s.m.header.Config.Start())
		if first > 0 {
			prev[0] = tokens[first-1]
		}
		prev = append(prev, tokens[first:hi-1]...)
		var err error
		if out, err = s.window(ctx, out[:0], prev, tokens[first:hi], lo-first); err != nil {
			return err
		}
		if err := yield(out); err != nil {
			return err
		}
	}
	return nil
}

// window reads prev from an empty state and appends the log-probabilities of
// target[skip:] to dst.
func (s *Scorer) window(ctx context.Context, dst []float32, prev, target []int32, skip int) ([]float32, error) {
	var history []int32
	if s.m.decoder.history {
		history = make([]int32, len(prev))
	}
	for lo := 0; lo < len(prev); lo += forwardRows {
		if err := ctx.Err(); err != nil {
			return dst, err
		}
		hi := min(lo+forwardRows, len(prev))
		s.batch.reset()
		for i := lo; i < hi; i++ {
			s.batch.add(prev[i], int32(i+1), 0, 0, 0, history)
		}
		x := s.m.decoder.step(s.c, &s.w, s.state, &s.batch, nil)
		for r := max(0, min(skip-lo, x.Rows)); r < x.Rows; r += outputRows {
			part := x.Slice(r, min(r+outputRows, x.Rows))
			logits := s.w.logits(part.Rows, s.m.output.vocab)
			s.m.output.scores(s.c, &s.w, logits, part)
			for i := range logits.Rows {
				row := logits.Row(i)
				dst = append(dst, row[target[lo+r+i]]-ops.LogSumExp(row))
			}
		}
	}
	return dst, nil
}
