package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"memsizer/runtime"
)

// statistics are what a run did, for --stats.
type statistics struct {
	Model           string           `json:"model"`
	Lines           int64            `json:"lines"`
	SkippedLines    int64            `json:"skipped_lines"` // translated by an earlier run
	SourceTokens    int64            `json:"source_tokens"`
	TargetTokens    int64            `json:"target_tokens"` // of the best hypotheses, with eos
	Seconds         float64          `json:"seconds"`       // without loading
	LoadSeconds     float64          `json:"load_seconds"`
	LinesPerSecond  float64          `json:"lines_per_second"`
	TokensPerSecond float64          `json:"target_tokens_per_second"`
	Threads         int              `json:"threads"`
	Rows            int              `json:"rows"` // of all threads
	Beam            int              `json:"beam"`
	Steps           int64            `json:"decoder_steps"`
	RowOccupancy    float64          `json:"row_occupancy"` // part of the rows in use in these steps
	PeakMemory      int64            `json:"peak_memory_bytes,omitempty"`
	Warnings        map[string]int64 `json:"warnings"` // lines, by kind
	Interrupted     bool             `json:"interrupted"`
}

func newStatistics(p *progress, w *warnings, s runtime.Stats, now time.Time) *statistics {
	r := p.rate(now)
	st := &statistics{
		Lines: p.lines.Load(), SkippedLines: p.skipped, SourceTokens: p.sourceTokens.Load(), TargetTokens: p.tokens.Load(),
		Seconds: r.seconds, LinesPerSecond: r.lines, TokensPerSecond: r.tokens,
		Threads: s.Workers, Rows: s.Rows, Beam: s.Beam, Steps: s.Steps,
		RowOccupancy: s.RowOccupancy(), PeakMemory: peakMemory(),
		Warnings: map[string]int64{},
	}
	for _, c := range w.kinds {
		st.Warnings[string(c.kind)] = int64(c.lines)
	}
	return st
}

func (s *statistics) writeJSON(w io.Writer) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("run: statistics cannot be encoded")
	}
}

func (s *statistics) writeText(w io.Writer) {
	fmt.Fprintf(w, "run: %d lines, %d source and %d target tokens in %.1f s: %.1f lines/s, %.0f tokens/s\n",
		s.Lines, s.SourceTokens, s.TargetTokens, s.Seconds, s.LinesPerSecond, s.TokensPerSecond)
	fmt.Fprintf(w, "run: %d threads, %d rows, %.1f %% of them in use in %d steps, %.0f MB at most\n",
		s.Threads, s.Rows, 100*s.RowOccupancy, s.Steps, float64(s.PeakMemory)/1e6)
}
