package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"memsizer/format"
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
	// observe is handed to every step; see stepBatch.
	observe func(in ops.Matrix)
}

// NewScorer returns a scorer for m.
func NewScorer(m *Model) *Scorer {
	return &Scorer{m: m, c: ops.NewCPU(), state: m.decoder.newState(1, 1)}
}

var errNoSource = errors.New("runtime: a language model has no source; it scores texts")

// Translation returns the natural log-probabilities of the tokens of tgt
// (ending with eos) given src (with eos).
func (s *Scorer) Translation(ctx context.Context, src, tgt []int32) ([]float32, error) {
	if s.m.encoder == nil {
		return nil, errNoSource
	}
	prev := append([]int32{s.m.header.Config.Start()}, tgt...)
	if err := s.m.checkTokens(src, prev); err != nil {
		return nil, err
	}
	s.source(src, nil)
	return s.window(ctx, make([]float32, 0, len(tgt)), prev[:len(tgt)], tgt, 0)
}

// Blocks says how a long text is cut into windows for a language model.
type Blocks struct {
	// Tokens is the size of a window; its first Context tokens are read but
	// not scored (fewer at the start of the text), the others are. Every
	// window starts with an empty state at the first position.
	Tokens, Context int
}

// check reports blocks that the model cannot read.
func (b Blocks) check(m *Model) error {
	if b.Tokens < 1 || b.Context < 0 || b.Context >= b.Tokens {
		return fmt.Errorf("runtime: blocks of %d tokens with %d of context", b.Tokens, b.Context)
	}
	if n := m.decoder.positions.limit(); n > 0 && b.Tokens > n {
		return fmt.Errorf("runtime: blocks of %d tokens, the model's positions end at %d", b.Tokens, n)
	}
	return nil
}

// textWindow is one window of a text on its way through a scorer.
type textWindow struct {
	prev, target []int32
	skip         int
	logProbs     []float32
	err          error
	done         chan struct{}
}

// ScoreText scores the tokens of a text under a language model: each is
// predicted from those before it in its window, the first one from the start
// token (eos). It calls yield with the log-probabilities of consecutive
// tokens, in order; workers windows (0: one per core) are computed at a time,
// so that memory does not grow with the text.
func (m *Model) ScoreText(ctx context.Context, tokens iter.Seq[int32], b Blocks, workers int, yield func(logProbs []float32) error) error {
	if m.encoder != nil {
		return fmt.Errorf("runtime: a translation model does not score plain text; give source and target")
	}
	if err := b.check(m); err != nil {
		return err
	}
	if workers <= 0 {
		workers = availableCores()
	}
	ctx, cancel := context.WithCancel(ctx)
	work, order := make(chan *textWindow), make(chan *textWindow, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := NewScorer(m)
			for {
				select {
				case w, open := <-work:
					if !open {
						return
					}
					w.logProbs, w.err = s.window(ctx, nil, w.prev, w.target, w.skip)
					close(w.done)
				case <-ctx.Done(): // though a token is still being waited for
					return
				}
			}
		}()
	}
	var failed error // of the cutter, read after order is closed
	go func() {
		defer close(order)
		defer close(work)
		failed = m.cut(tokens, b, func(w *textWindow) bool {
			select {
			case order <- w:
			case <-ctx.Done():
				return false
			}
			select {
			case work <- w:
				return true
			case <-ctx.Done():
				w.err = ctx.Err()
				close(w.done)
				return false
			}
		})
	}()
	for w := range order {
		<-w.done
		if w.err != nil {
			return w.err
		}
		if err := yield(w.logProbs); err != nil {
			return err
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// cut makes windows of a text until emit refuses one.
func (m *Model) cut(tokens iter.Seq[int32], b Blocks, emit func(*textWindow) bool) error {
	stride := b.Tokens - b.Context
	seen := []int32{m.header.Config.Start()} // the inputs that the next window may need
	fresh, n := 0, 0                         // targets not yet in a window; all tokens
	window := func() bool {
		k := len(seen) - 1 - fresh // inputs before the first one that predicts a fresh token
		w := &textWindow{skip: k, done: make(chan struct{})}
		w.prev = append(w.prev, seen[:k+fresh]...)
		w.target = append(w.target, seen[1:k+fresh+1]...)
		keep := min(b.Context+1, len(seen))
		seen = append(seen[:0], seen[len(seen)-keep:]...)
		fresh = 0
		return emit(w)
	}
	for id := range tokens {
		if id < 0 || int(id) >= m.decoder.vocab || id == format.Pad {
			return fmt.Errorf("runtime: token %d of the text has id %d, want 0 to %d and not pad", n, id, m.decoder.vocab-1)
		}
		n++
		seen = append(seen, id)
		if fresh++; fresh == stride && !window() {
			return nil
		}
	}
	if fresh > 0 {
		window()
	}
	return nil
}

// window reads prev from an empty state and appends the log-probabilities of
// target[skip:] to dst.
func (s *Scorer) window(ctx context.Context, dst []float32, prev, target []int32, skip int) ([]float32, error) {
	err := s.forced(ctx, prev, forwardRows, skip, nil, func(pos int, row []float32) {
		dst = append(dst, row[target[pos]]-ops.LogSumExp(row))
	})
	return dst, err
}

// source encodes src (with eos) and stores it for cross-attention. The
// hidden states [S, encoder D] are valid until the scratch is used again.
func (s *Scorer) source(src []int32, trace Trace) ops.Matrix {
	out, _ := s.m.encoder.encode(s.c, &s.w, [][]int32{src}, trace)
	s.state.putSource(s.c, &s.w, 0, out)
	return out
}

// forced reads prev from an empty state, chunk tokens at a time, and calls
// yield with the scores over the vocabulary that follow each position from
// skip on.
func (s *Scorer) forced(ctx context.Context, prev []int32, chunk, skip int, trace Trace, yield func(pos int, scores []float32)) error {
	var history []int32
	if s.m.decoder.history {
		history = make([]int32, len(prev))
	}
	for lo := 0; lo < len(prev); lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, len(prev))
		s.batch.reset()
		s.batch.observe = s.observe
		for i := lo; i < hi; i++ {
			s.batch.add(prev[i], int32(i+1), 0, 0, 0, history)
		}
		x := s.m.decoder.step(s.c, &s.w, s.state, &s.batch, trace)
		for r := max(0, min(skip-lo, x.Rows)); r < x.Rows; r += outputRows {
			part := x.Slice(r, min(r+outputRows, x.Rows))
			logits := s.w.logits(part.Rows, s.m.output.vocab)
			s.m.output.scores(s.c, &s.w, logits, part)
			for i := range logits.Rows {
				yield(lo+r+i, logits.Row(i))
			}
		}
	}
	return nil
}
