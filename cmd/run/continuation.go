package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"memsizer/format"
	"memsizer/runtime"
)

// continuations are the single continuations of prompts: many at a time, each
// one's text in the order of the prompts. The first that is not finished is
// written as it is made, the others wait for their turn.
type continuations struct {
	o     *generateOptions
	m     *runtime.Model
	warn  io.Writer
	stats *generateStatistics

	mu      sync.Mutex
	out     *bufio.Writer
	atOnce  bool // write every token at once
	flushed time.Time
	lines   map[int]*continued // begun and not written to the end
	head    int                // the first of them
	err     error              // of writing
	cancel  func()             // ends all
}

// continued is one prompt with what follows it.
type continued struct {
	line   int
	prompt string
	length int // tokens of the prompt
	stream *textStream
	text   []byte // waits for its turn
	begun  bool   // some text was made
	done   bool

	n      int // new tokens
	tokens []string
	scores []jsonScore
	sum    float64
}

// flushText is how long text may wait in the buffer of an output that is not
// a terminal.
const flushText = 20 * time.Millisecond

// run continues all prompts, until they end or stop is closed.
func (c *continuations) run(ctx context.Context, in *prompts, stop <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.lines, c.cancel = map[int]*continued{}, cancel
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	read := make(chan error, 1) // why the prompts ended
	ids := func(yield func([]int32) bool) {
		line := 0
		for s := range in.all {
			if ctx.Err() != nil || !yield(c.begin(line, s)) {
				return
			}
			line++
		}
		read <- in.err
	}
	err := c.m.ContinueAll(ctx, ids, c.o.search, c.o.resources(len(in.fixed)), c.token)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return c.err
	case stopped(stop):
		return c.cutShort()
	case err != nil:
		return err
	}
	return <-read
}

func stopped(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// resources bound the memory of continuations that wait for their turn.
func (o *generateOptions) resources(prompts int) runtime.Resources {
	r := runtime.Resources{Workers: o.threads, Rows: max(1, min(64, 1<<23/o.tokens))}
	if prompts > 0 {
		r.Rows = min(r.Rows, prompts)
	}
	return r
}

// begin registers a prompt and returns its tokens.
func (c *continuations) begin(line int, prompt string) []int32 {
	ids, _ := c.m.Text().EncodeTarget(prompt)
	p := &continued{line: line, prompt: prompt, length: len(ids), stream: newTextStream(c.m, ids, c.o.stop)}
	if !c.o.noEcho {
		p.text = append(p.text, c.m.Text().Decode(ids)...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.begin(len(ids))
	c.lines[line] = p
	return ids
}

// token takes a token of a prompt; see [runtime.Model.ContinueAll].
func (c *continuations) token(line int, t runtime.Token, err error) (more bool) {
	c.mu.Lock()
	p := c.lines[line]
	if err != nil {
		fmt.Fprintf(c.warn, "run: warning: prompt %d: ended after %d new tokens: %v\n", line+1, p.n, err)
	} else {
		c.stats.token()
	}
	c.mu.Unlock()
	if err != nil {
		c.write(p, p.stream.end(), true)
		return false
	}
	p.n++
	p.sum += float64(t.LogProb)
	if c.o.format == "jsonl" {
		p.tokens = append(p.tokens, c.m.Text().Target().Symbol(t.ID))
		p.scores = append(p.scores, jsonScore(t.LogProb))
	}
	text, over := "", t.ID == format.EOS && !c.o.pastEOS
	if over {
		text = p.stream.end()
	} else if text, over = p.stream.token(t.ID); !over && p.n == c.o.tokens {
		text, over = text+p.stream.end(), true
	}
	return c.write(p, text, over) && !over
}

// write passes on text of a prompt, in its turn, and reports whether the
// output still takes it.
func (c *continuations) write(p *continued, text string, done bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.o.noEcho && !p.begun { // the space between the prompt and the first word
		text = strings.TrimLeft(text, " ")
	}
	p.begun = p.begun || text != ""
	p.text = append(p.text, text...)
	p.done = done
	for q := c.lines[c.head]; c.err == nil && q != nil; q = c.lines[c.head] {
		if !c.o.stream() && !q.done {
			break
		}
		c.err = c.record(q)
		if !q.done {
			break
		}
		delete(c.lines, q.line)
		c.head++
	}
	if c.err == nil && (done || c.atOnce || time.Since(c.flushed) > flushText) {
		c.err = c.out.Flush()
		c.flushed = time.Now()
	}
	if c.err != nil {
		c.cancel()
	}
	return c.err == nil
}

// stream reports whether a continuation may be written before it is
// finished.
func (o *generateOptions) stream() bool { return o.format == "text" }

// record writes what there is of a prompt in its turn.
func (c *continuations) record(p *continued) error {
	if c.o.stream() {
		text := string(p.text)
		if !c.o.pastEOS { // a line for each prompt
			text = oneLine(text)
		}
		if p.done {
			text += "\n"
		}
		p.text = p.text[:0]
		_, err := c.out.WriteString(text)
		return err
	}
	score := jsonScore(p.sum / float64(max(p.n, 1)))
	return writeJSONLine(c.out, &generation{p.line + 1, p.prompt, p.length,
		[]generated{{string(p.text), score, p.tokens, p.scores}}})
}

// cutShort writes what has been made when the run is interrupted.
func (c *continuations) cutShort() error {
	for p := c.lines[c.head]; p != nil && p.n > 0; p = c.lines[c.head] {
		p.text = append(p.text, p.stream.end()...)
		p.done = true
		if err := c.record(p); err != nil {
			return err
		}
		delete(c.lines, p.line)
		c.head++
	}
	return c.out.Flush()
}

// errLineTooLong: see maxLine.
var errLineTooLong = errors.New("the line is too long")

// prompts are the texts to continue.
type prompts struct {
	fixed []string
	in    *input
	err   error
}

func (o *generateOptions) open(env environment, files []string) (*prompts, error) {
	if len(o.prompts) > 0 {
		return &prompts{fixed: o.prompts}, nil
	}
	opened, err := openInputs(files, env.in)
	if err != nil {
		return nil, err
	}
	return &prompts{in: &input{files: opened}}, nil
}

// all yields the prompts; p.err says why the last one was not the end.
func (p *prompts) all(yield func(string) bool) {
	for _, s := range p.fixed {
		if !yield(s) {
			return
		}
	}
	if p.in == nil {
		return
	}
	defer p.in.close()
	for {
		l, err := p.in.nextLine()
		if err == io.EOF {
			return
		}
		if err == nil && l.dropped > 0 {
			err = l.tooLong()
		}
		if err != nil {
			p.err = err
			return
		}
		if !yield(l.text()) {
			return
		}
	}
}

// tooLong is the error of a line that was cut.
func (l inputLine) tooLong() error {
	return fmt.Errorf("%s:%d: %w: %d bytes, want at most %d", l.file.describe(), l.line, errLineTooLong, l.size(), maxLine)
}
