package runtime

import "sync/atomic"

// Stats counts what an engine's workers have done so far.
type Stats struct {
	Workers int
	Rows    int // decoder rows of all workers together
	// Steps is the number of decoder steps, RowSteps the rows that were
	// computed in them.
	Steps, RowSteps int64
	// StepCapacity is the rows that the steps would have had with every row
	// in use.
	StepCapacity int64
	// Sentences finished, and the tokens of their hypotheses, eos counted.
	Sentences, Tokens int64
	// Beam is the rows that a sentence holds.
	Beam int
}

// RowOccupancy is the part of the decoder's rows that were in use in an
// average step, 0 to 1; a little more is possible for a moment.
func (s *Stats) RowOccupancy() float64 {
	if s.StepCapacity == 0 {
		return 0
	}
	return float64(s.RowSteps) / float64(s.StepCapacity)
}

// workerStats are one worker's counts.
type workerStats struct {
	steps, rows, sentences, tokens atomic.Int64
}

// Stats may be called at any time, from any goroutine.
func (e *engine) Stats() Stats {
	s := Stats{Workers: len(e.workers)}
	for _, w := range e.workers {
		rows := w.target
		s.Beam = w.width
		s.Rows += rows
		n := w.stats.steps.Load()
		s.Steps += n
		s.StepCapacity += n * int64(rows)
		s.RowSteps += w.stats.rows.Load()
		s.Sentences += w.stats.sentences.Load()
		s.Tokens += w.stats.tokens.Load()
	}
	return s
}
