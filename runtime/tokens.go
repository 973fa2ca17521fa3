package runtime

import (
	"context"
	"iter"
)

// TranslateTokens translates one sentence given as token ids: src with eos,
// and a prefix that every hypothesis begins with (nil for none). line stands
// for the sentence's number, which together with the seed decides what
// sampling draws. Many goroutines may call it; their sentences are batched.
func (t *Translator) TranslateTokens(ctx context.Context, line int, src, prefix []int32) ([]Hypothesis, error) {
	if err := t.m.checkTokens(src, append([]int32{t.m.header.Config.Start()}, prefix...)); err != nil {
		return nil, err
	}
	return t.search(&job{ctx: ctx, src: src, prefix: prefix, length: len(src), line: line})
}

// Sentence is a source given as token ids.
type Sentence struct {
	Tokens []int32 // with eos
	Prefix []int32 // that every hypothesis begins with
	// Limit is the most tokens of its translation, eos counted, if that is
	// less than the options allow; 0 for none of its own.
	Limit int
}

// StreamTokens translates sentences as they come and yields the hypotheses of
// each in order, best first, holding back at most a bounded number of
// finished ones. After an error it stops.
func (t *Translator) StreamTokens(ctx context.Context, sentences iter.Seq[Sentence]) iter.Seq2[[]Hypothesis, error] {
	return t.stream(ctx, t.window(), func(yield func(*job, error) bool) {
		for s := range sentences {
			err := t.m.checkTokens(s.Tokens, append([]int32{t.m.header.Config.Start()}, s.Prefix...))
			if !yield(&job{src: s.Tokens, prefix: s.Prefix, length: len(s.Tokens), limit: s.Limit}, err) {
				return
			}
		}
	})
}

// stream runs jobs as they come, numbers them as lines, and yields their
// results in order, holding back at most window of them. After an error,
// which may come with a job, it stops.
func (e *engine) stream(ctx context.Context, window int, jobs iter.Seq2[*job, error]) iter.Seq2[[]Hypothesis, error] {
	return func(yield func([]Hypothesis, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		type running struct {
			job  *job
			done chan *job
		}
		waiting := make(chan running, window)
		go func() {
			defer close(waiting)
			line := 0
			for j, err := range jobs {
				done := make(chan *job, 1)
				j.ctx, j.line, j.done = ctx, line, done
				if err == nil {
					err = e.submit(j)
				}
				if err != nil {
					j.finish(nil, err)
				}
				select {
				case waiting <- running{j, done}:
				case <-ctx.Done():
					return
				}
				if err != nil {
					return
				}
				line++
			}
		}()
		for r := range waiting {
			j := r.job
			select {
			case <-r.done:
			case <-ctx.Done():
				j = &job{err: ctx.Err()}
			}
			if !yield(j.hyps, j.err) || j.err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// search runs one job to its end.
func (e *engine) search(j *job) ([]Hypothesis, error) {
	done := make(chan *job, 1)
	j.done = done
	if err := e.submit(j); err != nil {
		return nil, err
	}
	select {
	case <-done:
		return j.hyps, j.err
	case <-j.ctx.Done():
		return nil, j.ctx.Err()
	}
}
