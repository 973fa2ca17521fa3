package main

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"

	"memsizer/runtime"
)

// feed gives the lines of the input to a translator and remembers them until
// their translations are there.
type feed struct {
	in       *input
	prefix   *input        // nil unless prefixes come from a file
	column   bool          // prefixes stand after the first tab
	stop     chan struct{} // closed when no more lines shall be taken
	number   int           // of the next line, 0-based
	finished atomic.Int64  // bytes of the lines that are done

	mu      sync.Mutex
	waiting []source
	err     error
}

// source is a line that is being translated.
type source struct {
	inputLine
	prefix rawLine
}

// next reads a line with its prefix.
func (f *feed) next() (source, error) {
	l, err := f.in.nextLine()
	if f.prefix == nil {
		return source{inputLine: l}, err
	}
	if err != nil && err != io.EOF {
		return source{}, err
	}
	p, perr := f.prefix.nextLine()
	name := f.prefix.files[0].describe()
	switch {
	case perr == io.EOF && err == nil:
		return source{}, fmt.Errorf("%s has %d lines of prefixes, the input has more lines", name, f.prefix.line)
	case perr == nil && err == io.EOF:
		return source{}, fmt.Errorf("%s has more lines than the input", name)
	case perr != nil && perr != io.EOF:
		return source{}, perr
	}
	p.raw = p.text() // without a byte order mark
	return source{l, p.rawLine}, err
}

// request is what the translator gets.
func (s *source) request(number int, column bool) runtime.Line {
	l := runtime.Line{Number: number, Text: s.text(), Prefix: s.prefix.text()}
	if column {
		l.Text, l.Prefix, _ = strings.Cut(l.Text, "\t")
	}
	return l
}

// skip reads the first lines, which an earlier run has translated, and
// checks that they are the same: want is the hash of all of them together.
func (f *feed) skip(n int, h hash.Hash, want string) error {
	for range n {
		select {
		case <-f.stop:
			return nil
		default:
		}
		s, err := f.next()
		if err == io.EOF {
			return fmt.Errorf("the input has %d lines, the run that is to be continued had read %d", f.number, n)
		}
		if err != nil {
			return err
		}
		io.WriteString(h, s.raw)
		io.WriteString(h, s.prefix.raw)
		f.number++
		f.finished.Add(s.size())
	}
	if n > 0 && sum(h) != want {
		return errors.New("the input's lines have changed since the run that is to be continued")
	}
	return nil
}

// lines are the lines not yet read. A failure ends them and is kept in err,
// which may be read when the translator is done.
func (f *feed) lines() iter.Seq[runtime.Line] {
	type result struct {
		s   source
		err error
	}
	read := make(chan result)
	go func() { // so that a read which blocks does not keep stop from working
		defer close(read)
		for {
			s, err := f.next()
			if err == io.EOF {
				return
			}
			select {
			case read <- result{s, err}:
			case <-f.stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return func(yield func(runtime.Line) bool) {
		for {
			var r result
			var ok bool
			select {
			case <-f.stop:
				return
			case r, ok = <-read:
			}
			if !ok {
				return
			}
			if r.err != nil {
				f.mu.Lock()
				f.err = r.err
				f.mu.Unlock()
				return
			}
			f.mu.Lock()
			f.waiting = append(f.waiting, r.s)
			f.mu.Unlock()
			if !yield(r.s.request(f.number, f.column)) {
				return
			}
			f.number++
		}
	}
}

// done is the source of the next translation.
func (f *feed) done() source {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.waiting[0]
	f.waiting[0] = source{}
	f.waiting = f.waiting[1:]
	f.finished.Add(s.size())
	return s
}

func (f *feed) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// part is how much of the input is done, 0 to 1, or -1 if its size is not
// known. Compressed, it is the part of the stored bytes that were read whose
// lines are done.
func (f *feed) part() float64 {
	size, text := float64(f.in.size()), float64(f.in.text.Load())
	if size <= 0 || text == 0 {
		return -1
	}
	if f.in.packed.Load() {
		text *= size / float64(f.in.read.Load())
	} else {
		text = size
	}
	return min(float64(f.finished.Load())/text, 1)
}
