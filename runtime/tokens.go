package runtime

import (
	"context"
	"fmt"
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

// TranslateAtMost is [Translator.TranslateTokens] without a prefix and with a
// length limit of the sentence's own: at most n tokens (n ≥ 1, eos counted),
// and no more than the options allow.
func (t *Translator) TranslateAtMost(ctx context.Context, line int, src []int32, n int) ([]Hypothesis, error) {
	if err := t.m.checkTokens(src, []int32{t.m.header.Config.Start()}); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, fmt.Errorf("runtime: a limit of %d tokens, want 1 or more", n)
	}
	return t.search(&job{ctx: ctx, src: src, length: len(src), limit: n, line: line})
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
