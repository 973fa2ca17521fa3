package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"memsizer/format"
	"memsizer/ops"
)

// Token is one generated token with its natural log-probability.
type Token struct {
	ID      int32
	LogProb float32
}

// ErrPositions ends a continuation that reached the last position of a model
// with learned positions.
var ErrPositions = errors.New("the model's positions end here")

// Continue generates tokens after a prompt, one at a time and without end:
// the caller stops the iteration. It takes the likeliest token, or draws one
// when o.Sampling is set, by o.Seed and line (see [Options]); Beam and the
// length options do not apply. pad is never generated, eos is a token like
// any other. Memory is constant for MemSizer models; a softmax model keeps
// every position. At the end of learned positions it yields [ErrPositions].
func (m *Model) Continue(ctx context.Context, line int, prompt []int32, o Options) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		over := false
		b := newContinuer(m, &o, 1, func(_ int, t Token, err error) bool {
			over = !yield(t, err) || err != nil
			return !over
		})
		err := m.checkContinuation(&o)
		if err == nil {
			err = m.checkPrompt(prompt)
		}
		if err == nil {
			b.add(line, prompt)
		}
		for err == nil && len(b.active) > 0 {
			if err = ctx.Err(); err == nil {
				b.step()
			}
		}
		if err != nil && !over {
			yield(Token{}, err)
		}
	}
}

func (m *Model) checkContinuation(o *Options) error {
	o.Beam, o.NBest = 1, 1
	if err := o.Validate(); err != nil {
		return err
	}
	if m.encoder != nil {
		return fmt.Errorf("runtime: a translation model does not continue prompts")
	}
	return nil
}

func (m *Model) checkPrompt(prompt []int32) error {
	return checkIDs("prompt", prompt, m.decoder.vocab, 0)
}

// ContinueAll is [Model.Continue] for prompts as they come, many at a time:
// the same tokens with the same bits, whatever the resources. It hands each
// token to each, with the number of its prompt from 0 on, until each returns
// false. The tokens of one prompt come in order; those of different prompts
// come from different goroutines at the same time. A continuation that
// reaches the end of learned positions gets [ErrPositions] as its last call.
// It returns when all are done, or soon after ctx ends.
func (m *Model) ContinueAll(ctx context.Context, prompts iter.Seq[[]int32], o Options, r Resources, each func(line int, t Token, err error) (more bool)) error {
	if err := m.checkContinuation(&o); err != nil {
		return err
	}
	if r.Workers <= 0 {
		r.Workers = availableCores()
	}
	if r.Rows <= 0 {
		r.Rows = continuedRows
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &continuers{ctx: ctx, queue: make(chan prompt, 2*r.Rows), workers: int32(r.Workers), pool: ops.NewPool(r.Workers - 1)}
	defer c.pool.Close()
	go func() {
		defer close(c.queue)
		line := 0
		for p := range prompts {
			if err := m.checkPrompt(p); err != nil {
				cancel(fmt.Errorf("prompt %d: %w", line+1, err))
				return
			}
			select {
			case c.queue <- prompt{line, p}:
			case <-ctx.Done():
				return
			}
			line++
		}
	}()
	var wg sync.WaitGroup
	for range r.Workers {
		wg.Go(func() { c.run(newContinuer(m, &o, r.Rows, each)) })
	}
	wg.Wait()
	return context.Cause(ctx)
}

// continuedRows are the prompts that a worker continues together by default.
const continuedRows = 64

// prompt is one of ContinueAll's.
type prompt struct {
	line int
	ids  []int32
}

// continuers share the prompts of one ContinueAll.
type continuers struct {
	ctx     context.Context
	queue   chan prompt
	workers int32
	busy    atomic.Int32
	pool    *ops.Pool // helps one that is alone
}

// run continues prompts until there are no more.
func (c *continuers) run(b *continuer) {
	for c.admit(b) {
		if len(b.active) > 0 && c.busy.Load() == 1 {
			c.pool.Use(b.c)
		} else {
			c.pool.Release(b.c)
		}
		b.step()
		if len(b.active) == 0 {
			c.pool.Release(b.c)
			c.busy.Add(-1)
		}
	}
	c.pool.Release(b.c)
}

// admit takes prompts for free rows, no more than leave idle workers their
// share. It waits only when b has nothing to do, and reports whether it has.
func (c *continuers) admit(b *continuer) bool {
	if c.ctx.Err() != nil {
		return false
	}
	if len(b.active) == 0 {
		select {
		case p, open := <-c.queue:
			if !open {
				return false
			}
			c.busy.Add(1)
			b.add(p.line, p.ids)
		case <-c.ctx.Done():
			return false
		}
	}
	share := len(c.queue) / int(max(c.workers-c.busy.Load()+1, 1))
	for ; share > 0 && len(b.active) < b.rows; share-- {
		select {
		case p, open := <-c.queue:
			if !open {
				return true
			}
			b.add(p.line, p.ids)
		default:
			return true
		}
	}
	return true
}

// continuer continues up to rows sequences together on one goroutine.
type continuer struct {
	m    *Model
	o    *Options
	rows int
	each func(int, Token, error) bool

	c      *ops.CPU
	w      scratch
	state  *State
	batch  stepBatch
	top    ops.TopK
	active []*sequence
	free   []*sequence // each with a slot of its own
	ready  []*sequence // of a step: those whose next token is to be chosen
}

// sequence is one continuation under way.
type sequence struct {
	line    int
	unread  []int32 // the prompt with its start, later the newest token
	t       int     // tokens read
	slot    int32
	history []int32 // its slot for every position, if the decoder needs it
	rng     *sampler
}

func newContinuer(m *Model, o *Options, rows int, each func(int, Token, error) bool) *continuer {
	return &continuer{m: m, o: o, rows: rows, each: each, c: ops.NewCPU()}
}

// add begins a sequence in a free row.
func (b *continuer) add(line int, prompt []int32) {
	if b.state == nil {
		b.state = b.m.decoder.newState(b.rows, b.rows)
		for i := range b.rows {
			b.free = append(b.free, &sequence{slot: int32(b.rows - 1 - i)})
		}
	}
	n := len(b.free) - 1
	s := b.free[n]
	b.free = b.free[:n]
	s.line, s.t, s.rng = line, 0, nil
	s.unread = append(append(s.unread[:0], b.m.header.Config.Start()), prompt...)
	if b.o.Sampling {
		s.rng = newSampler(b.o.Seed, line)
	}
	b.active = append(b.active, s)
}

// step reads one token of every sequence, or more of a prompt, and chooses
// the next token of those that have read all they have.
func (b *continuer) step() {
	b.limit()
	if len(b.active) == 0 {
		return
	}
	b.batch.reset()
	b.ready = b.ready[:0]
	more := forwardRows // tokens of prompts to read besides
	for _, s := range b.active {
		n := min(len(s.unread), 1+more)
		more -= n - 1
		if b.m.decoder.history {
			for len(s.history) < s.t+n {
				s.history = append(s.history, s.slot)
			}
		}
		for i, id := range s.unread[:n] {
			b.batch.add(id, int32(s.t+i+1), s.slot, s.slot, 0, s.history)
		}
		s.t += n
		s.unread = append(s.unread[:0], s.unread[n:]...)
		if len(s.unread) == 0 {
			b.ready = append(b.ready, s)
		}
	}
	x := b.m.decoder.step(b.c, &b.w, b.state, &b.batch, nil)
	b.choose(b.last(x))
}

// limit ends the sequences that the model has no positions for.
func (b *continuer) limit() {
	n := b.m.decoder.positions.limit()
	if n == 0 {
		return
	}
	kept := b.active[:0]
	for _, s := range b.active {
		if s.t+len(s.unread) > n {
			b.each(s.line, Token{}, ErrPositions)
			b.free = append(b.free, s)
			continue
		}
		kept = append(kept, s)
	}
	b.active = kept
}

// last gathers the rows of x that belong to the last tokens of the ready
// sequences.
func (b *continuer) last(x ops.Matrix) ops.Matrix {
	if len(b.ready) == x.Rows {
		return x
	}
	rows := b.w.input(len(b.ready), x.Cols)
	n := 0
	for r := range x.Rows {
		if n < len(b.ready) && b.batch.to[r] == b.ready[n].slot && int(b.batch.t[r]) == b.ready[n].t {
			copy(rows.Row(n), x.Row(r))
			n++
		}
	}
	return rows
}

// choose takes the next token of every ready sequence, whose hidden state is
// a row of x.
func (b *continuer) choose(x ops.Matrix) {
	for lo := 0; lo < x.Rows; lo += outputRows {
		part := x.Slice(lo, min(lo+outputRows, x.Rows))
		logits := b.w.logits(part.Rows, b.m.output.vocab)
		b.m.output.scores(b.c, &b.w, logits, part)
		for i := range logits.Rows {
			s := b.ready[lo+i]
			t := b.pick(logits.Row(i), s.rng)
			if b.each(s.line, t, nil) {
				s.unread = append(s.unread, t.ID)
			}
		}
	}
	kept := b.active[:0]
	for _, s := range b.active {
		if len(s.unread) == 0 {
			b.free = append(b.free, s)
			continue
		}
		kept = append(kept, s)
	}
	b.active = kept
}

// pick is the next token by its scores over the vocabulary, which are
// scratch afterwards.
func (b *continuer) pick(row []float32, rng *sampler) Token {
	if t := float32(b.o.Temperature); t != 1 {
		for i := range row {
			row[i] /= t
		}
	}
	norm := ops.LogSumExp(row)
	row[format.Pad] = negInf
	row[format.Unk] -= float32(b.o.UnkPen)
	if rng != nil {
		if c, ok := rng.draw(row, norm, b.o); ok {
			return Token{c.ID, c.Value - norm}
		}
	}
	values, ids := b.top.Of(row, 1)
	if len(values) == 0 { // every score is −Inf or NaN
		return Token{format.EOS, negInf}
	}
	return Token{ids[0], values[0] - norm}
}
