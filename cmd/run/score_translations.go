package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"

	"memsizer/format"
	"memsizer/runtime"
)

// errLengths: the two files of a translation task do not belong together.
var errLengths = errors.New("the source and the target have different numbers of lines")

// pair is a source line and its translation on their way through a scorer.
type pair struct {
	line           int
	source, target []int32 // with eos
	words          int
	empty          bool
	logProbs       []float32
	err            error
	done           chan struct{}
}

// translations scores each target line given its source line, several at a
// time. Where both are empty, so is the line of output.
func (o *scoreOptions) translations(ctx context.Context, env environment, m *runtime.Model, out *bufio.Writer) (*totals, error) {
	var sides [2]*input
	for i, name := range []string{o.source, o.target} {
		opened, err := openInputs([]string{name}, env.in)
		if err != nil {
			return nil, err
		}
		sides[i] = &input{files: opened}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := o.threads
	if workers == 0 {
		workers = goruntime.GOMAXPROCS(0)
	}
	work, order := make(chan *pair), make(chan *pair, 2*workers)
	for range workers {
		go func() {
			s := runtime.NewScorer(m)
			for p := range work {
				p.logProbs, p.err = s.Translation(ctx, p.source, p.target)
				close(p.done)
			}
		}()
	}
	go func() {
		defer close(order)
		defer close(work)
		for line := 1; ; line++ {
			p := o.readPair(m, sides, line)
			if p == nil {
				return
			}
			select {
			case order <- p:
			case <-ctx.Done():
				return
			}
			if p.err != nil {
				return
			}
			if p.empty {
				continue
			}
			select {
			case work <- p:
			case <-ctx.Done():
				return
			}
		}
	}()
	t := &totals{}
	for p := range order {
		select {
		case <-p.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if p.err != nil {
			return nil, p.err
		}
		if err := o.writePair(out, m, p, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// readPair returns the next pair, nil after the last one.
func (o *scoreOptions) readPair(m *runtime.Model, sides [2]*input, line int) *pair {
	p := &pair{line: line, done: make(chan struct{})}
	failed := func(err error) *pair {
		p.err = err
		close(p.done)
		return p
	}
	source, sourceErr := sides[0].nextLine()
	target, targetErr := sides[1].nextLine()
	switch {
	case sourceErr == io.EOF && targetErr == io.EOF:
		return nil
	case sourceErr == io.EOF && targetErr == nil || sourceErr == nil && targetErr == io.EOF:
		return failed(fmt.Errorf("%s and %s: %w: they differ after line %d", o.source, o.target, errLengths, line-1))
	case sourceErr != nil && sourceErr != io.EOF:
		return failed(sourceErr)
	case targetErr != nil:
		return failed(targetErr)
	case source.dropped > 0:
		return failed(source.tooLong())
	case target.dropped > 0:
		return failed(target.tooLong())
	}
	p.source, _ = m.Text().EncodeSource(source.text())
	p.target, _ = m.Text().EncodeTarget(target.text())
	p.words = len(strings.Fields(target.text()))
	if p.empty = len(p.source) == 0 && len(p.target) == 0; p.empty {
		close(p.done)
	}
	p.source, p.target = append(p.source, format.EOS), append(p.target, format.EOS)
	return p
}

// writePair writes the scores of one pair: their sum, their mean and their
// number, or every one and an empty line after them.
func (o *scoreOptions) writePair(out *bufio.Writer, m *runtime.Model, p *pair, t *totals) error {
	t.Lines++
	if p.empty {
		return out.WriteByte('\n')
	}
	t.ends++
	t.Words += int64(p.words)
	t.Tokens += int64(len(p.logProbs))
	sum := 0.0
	for i, v := range p.logProbs {
		sum += float64(v)
		if p.target[i] == format.Unk {
			t.Unknown++
		}
		if o.perToken {
			if err := writeToken(out, m.Text().Target().Symbol(p.target[i]), v); err != nil {
				return err
			}
		}
	}
	t.Sum += jsonNumber(sum)
	if o.perToken {
		return out.WriteByte('\n')
	}
	_, err := fmt.Fprintf(out, "%.6f\t%.6f\t%d\n", sum, sum/float64(len(p.logProbs)), len(p.logProbs))
	return err
}
