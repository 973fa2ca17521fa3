package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"memsizer/runtime"
)

// answerPoints reads points, "threads beam batch" a line, and answers each
// with a benchPoint as a line of JSON: another program can measure this one
// and its peers in turn. Each point's first pass is a warm-up.
func (o *benchOptions) answerPoints(ctx context.Context, env environment) error {
	m, err := runtime.Open(o.models[0])
	if err != nil {
		return err
	}
	defer m.Close()
	b, err := newBencher(m, o)
	if err != nil {
		return fmt.Errorf("%s: %w", o.models[0], err)
	}
	type key struct{ threads, beam, batch int }
	engines := map[key]benchEngine{}
	defer func() {
		for _, e := range engines {
			e.Close()
		}
	}()
	e := json.NewEncoder(env.out)
	in := bufio.NewScanner(env.in)
	for line := 1; in.Scan(); line++ {
		var k key
		if _, err := fmt.Sscan(in.Text(), &k.threads, &k.beam, &k.batch); err != nil || k.threads < 1 || k.beam < 1 || k.batch < 1 {
			return usageError{fmt.Errorf("stdin:%d: %q, want three positive numbers: threads, beam, batch", line, in.Text())}
		}
		if engines[k] == nil {
			if engines[k], err = b.engine(k.threads, k.beam, k.batch); err != nil {
				return err
			}
			if _, err := b.pass(ctx, engines[k], k.batch); err != nil {
				return err
			}
		}
		var passes []*pass
		for range max(o.passes, 1) {
			p, err := b.pass(ctx, engines[k], k.batch)
			if err != nil {
				return err
			}
			passes = append(passes, p)
		}
		p := newBenchPoint(passes, k.threads, k.beam, k.batch)
		p.compare(nil)
		if err := e.Encode(p); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil && err != io.EOF {
		return err
	}
	return nil
}
