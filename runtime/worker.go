package runtime

import (
	"context"

	"memsizer/ops"
)

// job is one sentence on its way through a worker.
type job struct {
	ctx    context.Context
	src    []int32 // with eos; nil for a language model
	prefix []int32 // forced first target tokens
	length int     // S of the length limit
	limit  int     // of tokens with eos, if not 0
	line   int     // identifies the sentence to a sampler
	hyps   []Hypothesis
	err    error
	done   chan<- *job
}

// worker decodes sentences continuously: a row's state has the same size at
// step 1 and step 500, so the rows of a finished sentence are given to the
// next one at any step. Sentences are encoded ahead in groups.
type worker struct {
	engine *engine
	busy   bool // counted by the engine
	m      *Model
	o      *Options
	c      *ops.CPU
	w      scratch
	state  *State
	batch  stepBatch

	width       int         // rows per sentence
	target      int         // rows of a step, about
	batchTokens int         // source tokens encoded together, about
	active      []*sentence // being decoded
	ready       []*sentence // encoded, waiting for rows
	rows        []int32     // free blocks of `width` row slots
	slots       []int32     // free cross slots
	spare       []*sentence // to be used again
	group       []*sentence // being encoded
	ids         [][]int32
	stats       workerStats
	profile     *workerProfile
}

// sentence is a job with its place in the worker.
type sentence struct {
	search
	job  *job
	slot int32 // of cross-attention
}

// Sizes of a worker's batches.
const (
	encodeGroup = 32 // sentences encoded ahead, at most
	outputRows  = 64 // rows scored against the vocabulary together
)

func newWorker(m *Model, o *Options, rows int) *worker {
	width := min(o.Beam, m.decoder.vocab-1)
	n := max(rows/width, 1)
	w := &worker{m: m, o: o, c: ops.NewCPU(), width: width, target: n * width}
	sentences := n
	if width > 1 { // a sentence's first step is one row: a few more keep the rows full
		sentences += n / 8
	}
	w.state = m.decoder.newState(sentences*width, sentences+encodeGroup)
	for i := range sentences {
		w.rows = append(w.rows, int32((sentences-1-i)*width))
	}
	for i := range sentences + encodeGroup {
		w.slots = append(w.slots, int32(sentences+encodeGroup-1-i))
	}
	return w
}

// room is the number of sentences that may join the next step: each brings
// one row at first.
func (w *worker) room() int {
	rows := 0
	for _, s := range w.active {
		rows += len(s.live)
	}
	return min(len(w.rows), max(w.target-rows, 0))
}

// run decodes jobs until the channel is closed and all are done.
func (w *worker) run(jobs <-chan *job) {
	open := true
	defer w.share(false)
	for open || len(w.active)+len(w.ready) > 0 {
		if open && len(w.ready) == 0 && w.room() > 0 {
			open = w.collect(jobs)
			w.share(len(w.active)+len(w.group) > 0)
			w.encode()
		}
		w.share(len(w.active)+len(w.ready) > 0)
		w.admit()
		if len(w.active) > 0 {
			w.step()
		}
	}
}

// runFixed decodes batches one after the other; see [Resources].
func (w *worker) runFixed(jobs <-chan *job) {
	for open := true; open; {
		for open && len(w.ready) < w.target/w.width {
			open = w.gather(jobs, w.target/w.width-len(w.ready))
			w.encode()
		}
		w.admit()
		for len(w.active) > 0 {
			w.step()
		}
	}
}

// gather waits for up to n jobs to encode together. It reports whether more
// may come.
func (w *worker) gather(jobs <-chan *job, n int) (open bool) {
	for tokens := 0; len(w.group) < min(n, encodeGroup) && tokens < w.batchTokens; {
		j, open := <-jobs
		if !open {
			return false
		}
		tokens += w.join(j)
	}
	return true
}

// join puts a job into the group and returns its source tokens, or ends it if
// its context has ended.
func (w *worker) join(j *job) (tokens int) {
	if err := j.ctx.Err(); err != nil {
		j.finish(nil, err)
		return 0
	}
	w.group = append(w.group, w.newSentence(j))
	return j.length
}

// share keeps count of the busy workers and takes or gives back the helpers:
// a worker that is alone uses the idle cores.
func (w *worker) share(busy bool) {
	e := w.engine
	if busy != w.busy {
		w.busy = busy
		if busy {
			e.busy.Add(1)
		} else {
			e.busy.Add(-1)
		}
	}
	if busy && e.busy.Load() == 1 {
		e.pool.Use(w.c)
	} else {
		e.pool.Release(w.c)
	}
}

// collect takes the next group of jobs to encode. It waits only when there
// is nothing to decode. It reports whether more jobs may come.
func (w *worker) collect(jobs <-chan *job) (open bool) {
	tokens, most := 0, encodeGroup
	for len(w.group) < most && len(w.slots) > 0 && tokens < w.batchTokens {
		var j *job
		if len(w.active)+len(w.group) == 0 {
			w.share(false)
			if j, open = <-jobs; !open {
				return false
			}
		} else {
			select {
			case j, open = <-jobs:
				if !open {
					return false
				}
			default:
				return true
			}
		}
		if len(w.group) == 0 {
			most = w.engine.quota(w.busy, w.room())
		}
		tokens += w.join(j)
	}
	return true
}

func (w *worker) newSentence(j *job) *sentence {
	var s *sentence
	if n := len(w.spare); n > 0 {
		s, w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		s = &sentence{}
	}
	s.job = j
	s.slot, w.slots = pop(w.slots)
	return s
}

func pop(s []int32) (int32, []int32) { return s[len(s)-1], s[:len(s)-1] }

// encode runs the collected group through the encoder and fills its cross
// slots.
func (w *worker) encode() {
	if len(w.group) == 0 {
		return
	}
	if w.m.encoder != nil {
		w.profile.encoding(w.c)
		defer w.profile.stop(w.c)
		w.ids = w.ids[:0]
		for _, s := range w.group {
			w.ids = append(w.ids, s.job.src)
		}
		out, starts := w.m.encoder.encode(w.c, &w.w, w.ids, nil)
		for i, s := range w.group {
			w.state.putSource(w.c, &w.w, s.slot, out.Slice(starts[i], starts[i+1]))
		}
	}
	w.ready = append(w.ready, w.group...)
	w.group = w.group[:0]
}

// admit gives free rows to encoded sentences.
func (w *worker) admit() {
	n := min(len(w.ready), w.room())
	for _, s := range w.ready[:n] {
		var base int32
		base, w.rows = pop(w.rows)
		s.reset(w.m, w.o, s.job.length, s.job.prefix, base)
		if n := s.job.limit; n > 0 {
			s.shorten(n - 1)
		}
		if w.o.Sampling {
			s.rng = newSampler(w.o.Seed, s.job.line)
		}
		w.active = append(w.active, s)
	}
	w.ready = append(w.ready[:0], w.ready[n:]...)
}

// step advances every active sentence by one token.
func (w *worker) step() {
	w.profile.decoding(w.c)
	defer w.profile.stop(w.c)
	b := &w.batch
	b.reset()
	for _, s := range w.active {
		for i := range s.live {
			r := &s.live[i]
			b.add(s.lastToken(i), int32(s.step+1), r.from, r.slot, s.slot, r.history)
		}
	}
	w.stats.steps.Add(1)
	w.stats.rows.Add(int64(len(b.ids)))
	x := w.m.decoder.step(w.c, &w.w, w.state, b, nil)
	w.score(x)
	w.c.Begin(ops.PhaseSearch)
	defer w.c.End()
	kept := w.active[:0]
	for _, s := range w.active {
		over := false
		if s.rng != nil {
			over = s.advanceSamples()
		} else {
			over = s.advance()
		}
		err := s.job.ctx.Err()
		if !over && err == nil {
			kept = append(kept, s)
			continue
		}
		w.release(s, err)
	}
	w.active = kept
}

// score gives each row's scores over the vocabulary to its search.
func (w *worker) score(x ops.Matrix) {
	w.c.Begin(ops.PhaseOutput)
	defer w.c.End()
	s, live := 0, 0 // the sentence and live hypothesis of the next row
	for lo := 0; lo < x.Rows; lo += outputRows {
		hi := min(lo+outputRows, x.Rows)
		logits := w.w.logits(hi-lo, w.m.output.vocab)
		w.m.output.scores(w.c, &w.w, logits, x.Slice(lo, hi))
		for r := range logits.Rows {
			w.active[s].consider(live, logits.Row(r))
			if live++; live == len(w.active[s].live) {
				s, live = s+1, 0
			}
		}
	}
}

// release hands a sentence's result over and takes back its rows.
func (w *worker) release(s *sentence, err error) {
	w.rows = append(w.rows, s.base)
	w.slots = append(w.slots, s.slot)
	hyps := s.nbest()
	w.stats.sentences.Add(1)
	for i := range hyps {
		w.stats.tokens.Add(int64(len(hyps[i].Tokens)))
	}
	j := s.job
	s.job, s.rng, s.finished = nil, nil, nil
	w.spare = append(w.spare, s)
	j.finish(hyps, err)
}

func (j *job) finish(hyps []Hypothesis, err error) {
	j.hyps, j.err = hyps, err
	j.done <- j
}
