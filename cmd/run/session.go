package main

import (
	"context"
	"errors"
	"iter"
	"time"

	"memsizer/runtime"
)

// session is one run of translate: lines from the feed through the
// translator to the output, in order.
type session struct {
	feed      *feed
	translate func(context.Context, iter.Seq[runtime.Line]) iter.Seq2[runtime.Translation, error]
	form      form
	out       *output
	warnings  *warnings
	progress  *progress
}

// run translates until the input ends or is stopped. The output is closed in
// any case; complete says whether it has all the lines.
func (s *session) run(ctx context.Context, stopped func() bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := s.tick()
	err := s.lines(ctx)
	end()
	s.progress.clear()
	if err == nil {
		err = s.feed.failure()
	}
	if err == nil && !stopped() {
		return s.out.finish()
	}
	if werr := s.out.abandon(); err == nil || errors.Is(err, context.Canceled) {
		err = werr
	}
	return err
}

func (s *session) lines(ctx context.Context) error {
	var record []byte
	for t, err := range s.translate(ctx, s.feed.lines()) {
		if err != nil {
			return err
		}
		src := s.feed.done()
		s.warnings.add(&t, &src)
		record = s.form(record[:0], &t)
		if err := s.out.add(record, src.raw, src.prefix.raw); err != nil {
			return err
		}
		s.progress.sourceTokens.Add(int64(len(t.SourceTokens)))
		if len(t.Hypotheses) > 0 {
			s.progress.tokens.Add(int64(len(t.Hypotheses[0].Tokens)))
		}
		s.progress.lines.Add(1)
		if cap(record) > 1<<20 {
			record = nil
		}
	}
	return nil
}

// tick flushes the output and shows progress from time to time, until end is
// called.
func (s *session) tick() (end func()) {
	every := showEveryPlain
	if s.progress.over {
		every = showEvery
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		flush, show := time.NewTicker(flushEvery), time.NewTicker(every)
		defer flush.Stop()
		defer show.Stop()
		for {
			select {
			case now := <-flush.C:
				s.out.tick(now)
			case now := <-show.C:
				s.progress.report(now)
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}
