package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"memsizer/runtime"
)

// benchLength is the speed of one language model by the length of its
// sequence.
type benchLength struct {
	Model  *benchModel         `json:"model"`
	Points []*benchLengthPoint `json:"points"`
}

// benchLengthPoint is the speed at one length: of the last tokens up to it.
type benchLengthPoint struct {
	Length          int     `json:"length"`
	TokensPerSecond float64 `json:"tokens_per_second"`
	// Resident is the process's memory with the model, State the part that
	// the sequence needs.
	Resident int64 `json:"resident_bytes"`
	State    int64 `json:"state_bytes"`
	// Skipped says why there is no measurement.
	Skipped string `json:"skipped,omitempty"`
}

// lastTokens are the tokens measured at a length, at most.
const lastTokens = 16

func (o *benchOptions) measureLengths(ctx context.Context, r *benchReport, say func(string, ...any)) error {
	for _, path := range o.models {
		l, err := o.lengthsOf(ctx, path, say)
		if err != nil {
			return err
		}
		r.Lengths = append(r.Lengths, l)
	}
	return nil
}

func (o *benchOptions) lengthsOf(ctx context.Context, path string, say func(string, ...any)) (*benchLength, error) {
	m, err := runtime.Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if m.Header().Config.Encoder != nil {
		return nil, withHint(usageError{fmt.Errorf("%s is a translation model; --lengths is about language models", path)},
			"convert synth --preset lm writes a language model")
	}
	l := &benchLength{Model: newBenchModel(path, m)}
	if _, err := m.StepTimes(ctx, 0, 4); err != nil { // warms up
		return nil, err
	}
	for _, n := range slices.Sorted(slices.Values(o.lengths)) {
		say("%s: length %d", path, n)
		p := &benchLengthPoint{Length: n, State: m.StateBytes(n)}
		l.Points = append(l.Points, p)
		debug.FreeOSMemory() // what the length before it took
		if free := availableMemory(); free > 0 && float64(p.State) > 0.9*float64(free) {
			p.Skipped = fmt.Sprintf("the state takes %s, %s are free", megabytes(p.State), megabytes(free))
			continue
		}
		if err := p.measure(ctx, m, o); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return l, nil
}

func (p *benchLengthPoint) measure(ctx context.Context, m *runtime.Model, o *benchOptions) error {
	last := min(lastTokens, p.Length)
	times, err := m.StepTimes(ctx, p.Length-last, last)
	if err != nil {
		return err
	}
	p.Resident = residentMemory()
	spent := together(times)
	for n := 1; o.passes > n || o.passes == 0 && spent < o.time/2 && n < 50; n++ {
		more, err := m.StepTimes(ctx, p.Length-last, last)
		if err != nil {
			return err
		}
		times, spent = append(times, more...), spent+together(more)
	}
	var seconds []float64
	for _, t := range times {
		seconds = append(seconds, t.Seconds())
	}
	p.TokensPerSecond = 1 / median(seconds)
	return nil
}

func together(times []time.Duration) time.Duration {
	var s time.Duration
	for _, t := range times {
		s += t
	}
	return s
}
