package main

import (
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	begun := time.Unix(1000, 0)
	for _, c := range []struct {
		name          string
		part, begunAt float64
		skipped       int64
		seconds       int
		want          string
	}{
		{"known size", 0.25, 0, 0, 100, "run: 500 lines, 25.0 %, 5.0 lines/s, 80 tokens/s, ETA 5:00"},
		{"resumed", 0.75, 0.5, 1000, 10, "run: 1500 lines, 75.0 %, 50.0 lines/s, 800 tokens/s, ETA 0:10"},
		{"a pipe", -1, -1, 0, 10, "run: 500 lines, 50.0 lines/s, 800 tokens/s"},
		{"no time", 0, 0, 0, 0, "run: 500 lines, 0.0 %, 0.0 lines/s, 0 tokens/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &progress{begun: begun, begunAt: c.begunAt, skipped: c.skipped, part: func() float64 { return c.part }}
			p.lines.Store(500)
			p.tokens.Store(8000)
			if got := p.text(begun.Add(time.Duration(c.seconds) * time.Second)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A terminal shows one line, which warnings interrupt.
func TestProgressOnATerminal(t *testing.T) {
	var b buffer
	p := &progress{w: &b, show: true, over: true, begun: time.Unix(0, 0), part: func() float64 { return -1 }}
	p.lines.Store(10)
	p.report(time.Unix(1, 0))
	p.lines.Store(9)
	p.report(time.Unix(2, 0))
	p.Write([]byte("run: warning\n"))
	p.clear()
	want := "\rrun: 10 lines, 10.0 lines/s, 0 tokens/s\rrun: 9 lines, 4.5 lines/s, 0 tokens/s  " +
		"\r                                     \rrun: warning\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{{0, "0:00"}, {0.6, "0:01"}, {59.4, "0:59"}, {60, "1:00"}, {3599, "59:59"}, {3600, "1:00:00"}, {90_061, "25:01:01"}} {
		if got := clock(time.Duration(c.seconds * float64(time.Second))); got != c.want {
			t.Errorf("%v s: got %s, want %s", c.seconds, got, c.want)
		}
	}
}
