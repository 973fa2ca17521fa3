package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// generateStatistics are what a run of generate did, for --stats.
type generateStatistics struct {
	Model           string  `json:"model"`
	Prompts         int64   `json:"prompts"`
	PromptTokens    int64   `json:"prompt_tokens"`
	Tokens          int64   `json:"new_tokens"` // with eos
	Seconds         float64 `json:"seconds"`    // without loading
	ProcessorTime   float64 `json:"processor_seconds"`
	LoadSeconds     float64 `json:"load_seconds"`
	TokensPerSecond float64 `json:"tokens_per_second"`
	// First and Last are the first and the last 10,000 new tokens, when there
	// are more.
	First       *span `json:"first,omitempty"`
	Last        *span `json:"last,omitempty"`
	PeakMemory  int64 `json:"peak_memory_bytes,omitempty"`
	Interrupted bool  `json:"interrupted"`

	marks   []mark // the last ones, every markTokens tokens
	opening []mark // the first ones, up to spanTokens tokens
	start   mark
}

// span is a number of consecutive tokens.
type span struct {
	Tokens         int64   `json:"tokens"`
	Seconds        float64 `json:"seconds"`
	ProcessorTime  float64 `json:"processor_seconds"`
	ResidentMemory int64   `json:"resident_memory_bytes,omitempty"` // at its end
	// Fastest is the processor time of the fastest 1,000 tokens in a row, which
	// other work on the machine disturbs least.
	Fastest float64 `json:"fastest_1000_processor_seconds,omitempty"`
}

// mark is a moment of a run.
type mark struct {
	tokens    int64
	at        time.Time
	processor time.Duration
	resident  int64
}

const (
	spanTokens = 10_000
	markTokens = 1_000
)

func newMark(tokens int64) mark {
	return mark{tokens, time.Now(), processorTime(), residentMemory()}
}

func (a mark) to(b mark) *span {
	return &span{
		Tokens: b.tokens - a.tokens, Seconds: b.at.Sub(a.at).Seconds(),
		ProcessorTime: (b.processor - a.processor).Seconds(), ResidentMemory: b.resident,
	}
}

// across is the span from the first of the marks to the last.
func across(marks []mark) *span {
	s := marks[0].to(marks[len(marks)-1])
	for i := range marks[1:] {
		if t := marks[i].to(marks[i+1]).ProcessorTime; i == 0 || t < s.Fastest {
			s.Fastest = t
		}
	}
	return s
}

// begin counts a prompt.
func (s *generateStatistics) begin(tokens int) {
	s.Prompts++
	s.PromptTokens += int64(tokens)
}

// token counts a new token.
func (s *generateStatistics) token() {
	if s.Tokens++; s.Tokens%markTokens != 0 {
		return
	}
	const n = spanTokens/markTokens + 1
	if len(s.marks) == n {
		copy(s.marks, s.marks[1:])
		s.marks = s.marks[:n-1]
	}
	s.marks = append(s.marks, newMark(s.Tokens))
	if s.Tokens == spanTokens {
		s.opening = append([]mark{s.start}, s.marks...)
	}
}

func (s *generateStatistics) finish() {
	end := newMark(s.Tokens)
	all := s.start.to(end)
	s.Seconds, s.ProcessorTime = all.Seconds, all.ProcessorTime
	if s.Seconds > 0 {
		s.TokensPerSecond = float64(s.Tokens) / s.Seconds
	}
	if s.Tokens > spanTokens {
		s.First, s.Last = across(s.opening), across(s.marks)
	}
	s.PeakMemory = peakMemory()
}

func (s *generateStatistics) write(w io.Writer, form string) {
	switch form {
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			panic("run: statistics cannot be encoded")
		}
	case "text":
		fmt.Fprintf(w, "run: %d prompts of %d tokens, %d new tokens in %.1f s: %.0f tokens/s, %.0f MB at most\n",
			s.Prompts, s.PromptTokens, s.Tokens, s.Seconds, s.TokensPerSecond, float64(s.PeakMemory)/1e6)
		if s.First != nil {
			fmt.Fprintf(w, "run: first %d tokens %.2f s (%.2f s of processor time, %.1f MB), last %d %.2f s (%.2f s, %.1f MB)\n",
				s.First.Tokens, s.First.Seconds, s.First.ProcessorTime, float64(s.First.ResidentMemory)/1e6,
				s.Last.Tokens, s.Last.Seconds, s.Last.ProcessorTime, float64(s.Last.ResidentMemory)/1e6)
		}
	}
}
