package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// progress counts what has been translated and, if asked to, shows it.
type progress struct {
	lines, tokens, sourceTokens atomic.Int64
	skipped                     int64          // lines of an earlier run
	part                        func() float64 // of the input that is done, -1 if not known
	begun                       time.Time
	begunAt                     float64 // part done when this run began to translate

	mu    sync.Mutex // of the following
	w     io.Writer
	show  bool
	over  bool // write over the last line: w is a terminal
	width int  // of what is shown
}

// Intervals between reports.
const (
	showEvery      = 500 * time.Millisecond // on a terminal
	showEveryPlain = 10 * time.Second       // in a log
)

// rate is what was done per second.
type rate struct {
	seconds, lines, tokens float64
}

func (p *progress) rate(now time.Time) rate {
	s := now.Sub(p.begun).Seconds()
	if s <= 0 {
		return rate{}
	}
	return rate{s, float64(p.lines.Load()) / s, float64(p.tokens.Load()) / s}
}

// report shows the state at a time.
func (p *progress) report(now time.Time) {
	if !p.show {
		return
	}
	text := p.text(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		pad := max(p.width-len(text), 0)
		p.width = len(text)
		fmt.Fprintf(p.w, "\r%s%s", text, strings.Repeat(" ", pad))
		return
	}
	fmt.Fprintln(p.w, text)
}

// text is "1234 lines, 12.3 %, 456.7 lines/s, 7890 tokens/s, ETA 1:23".
func (p *progress) text(now time.Time) string {
	r := p.rate(now)
	s := fmt.Sprintf("run: %d lines", p.lines.Load()+p.skipped)
	part := p.part()
	if part >= 0 {
		s += fmt.Sprintf(", %.1f %%", 100*part)
	}
	s += fmt.Sprintf(", %.1f lines/s, %.0f tokens/s", r.lines, r.tokens)
	if done := part - max(p.begunAt, 0); part >= 0 && done > 0 {
		left := (1 - part) / done * r.seconds
		s += ", ETA " + clock(time.Duration(left*float64(time.Second)))
	}
	return s
}

// clock writes 1:02:03 or 2:03.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// clear removes the line that is written over.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

func (p *progress) erase() {
	if p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

// Write writes lines between two states of the progress line.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	return p.w.Write(b)
}
