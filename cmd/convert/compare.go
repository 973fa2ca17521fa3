package main

import (
	"fmt"
	"math"

	"memsizer/runtime"
)

// forward runs a model on given inputs; see runtime.Model.Logits.
type forward func(src, prev []int32, stepwise bool, trace runtime.Trace, yield func(pos int, scores []float32)) error

// quantity says how far one recorded value is from the model's.
type quantity struct {
	Name string `json:"name"`
	// Max and Mean are of the absolute differences.
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	// Bound is the largest difference as the tolerance counts it: absolute,
	// relative where the recorded value's magnitude exceeds 1. At is where.
	Bound float64 `json:"bound"`
	At    []int   `json:"at"`
	Got   float64 `json:"got"`
	Want  float64 `json:"want"`
	// Top1 is the share of positions whose best word is the same, Rows their
	// number; only for scores over the vocabulary.
	Top1   *float64 `json:"top1,omitempty"`
	Rows   int      `json:"rows"`
	Within bool     `json:"within"`

	sum   float64
	count int
	same  int
}

// comparison is the result of convert verify.
type comparison struct {
	Model      string      `json:"model"`
	Reference  string      `json:"reference"`
	Tolerance  float64     `json:"tolerance"`
	Within     bool        `json:"within"`
	First      string      `json:"first_outside,omitempty"`
	Quantities []*quantity `json:"quantities"`
	Unused     []string    `json:"not_compared,omitempty"`
}

// add compares a row that belongs to position at (all indices but the last).
func (q *quantity) add(got, want []float32, at ...int) {
	q.Rows++
	for i, w := range want {
		g, w := float64(got[i]), float64(w)
		d := math.Abs(g - w)
		switch {
		case g == w: // infinities too
			d = 0
		case math.IsNaN(d):
			d = math.Inf(1)
		}
		q.sum += d
		q.count++
		q.Max = max(q.Max, d)
		b := d
		if math.Abs(w) > 1 && !math.IsInf(d, 0) {
			b /= math.Abs(w)
		}
		if b > q.Bound || q.At == nil {
			q.Bound, q.Got, q.Want = b, g, w
			q.At = append(append([]int(nil), at...), i)
		}
	}
}

// addScores is add for a row over the vocabulary.
func (q *quantity) addScores(got, want []float32, at ...int) {
	q.add(got, want, at...)
	if argmax(got) == argmax(want) {
		q.same++
	}
}

func argmax(v []float32) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}

// compare runs the model on every recorded sentence.
func compare(run forward, r *reference, tolerance float64) (*comparison, error) {
	c := &comparison{Tolerance: tolerance, Within: true, Unused: r.unused}
	of := map[*recorded]*quantity{}
	for _, v := range r.values {
		q := &quantity{Name: v.name}
		of[v] = q
		c.Quantities = append(c.Quantities, q)
	}
	for i := range r.prev.n {
		if err := r.sentence(run, i, of); err != nil {
			return nil, fmt.Errorf("sentence %d: %w", i, err)
		}
	}
	for _, v := range r.values {
		q := of[v]
		if q.count > 0 {
			q.Mean = q.sum / float64(q.count)
		}
		if v.scores() && q.Rows > 0 {
			share := float64(q.same) / float64(q.Rows)
			q.Top1 = &share
		}
		q.Within = q.Bound <= tolerance && q.count > 0
		if !q.Within && c.Within {
			c.Within, c.First = false, v.name
		}
	}
	return c, nil
}

func (v *recorded) scores() bool {
	k, _, _ := kindOf(v.name)
	return kinds[k].scores
}

// at is the recorded row of the given position.
func (v *recorded) at(sentence, column int) []float32 {
	n := v.shape[len(v.shape)-1]
	first := column * n
	if len(v.shape) == 3 {
		first += sentence * v.shape[1] * n
	}
	return v.v[first : first+n]
}

// sentence runs sentence i and compares everything recorded of it.
func (r *reference) sentence(run forward, i int, of map[*recorded]*quantity) error {
	prev, places := r.prev.row(i), r.prev.places(i)
	if len(prev) == 0 {
		return nil // nothing but padding
	}
	var src []int32
	var sourcePlaces []int
	if r.src != nil {
		src, sourcePlaces = r.src.row(i), r.src.places(i)
	}
	find := func(kind string, index int) *recorded {
		for _, v := range r.values {
			if v.kind == kind && v.index == index {
				return v
			}
		}
		return nil
	}
	trace := func(name string, index int, rows [][]float32) {
		v := find(name, index)
		if v == nil {
			return
		}
		columns := places
		if name != "decoder_inner" {
			columns = sourcePlaces
		}
		for k, row := range rows {
			of[v].add(row, v.at(i, columns[k]), i, columns[k])
		}
	}
	logits, logProbs := find("logits", -1), find("log_probs", -1)
	err := run(src, prev, false, trace, func(pos int, scores []float32) {
		if logits != nil {
			of[logits].addScores(scores, logits.at(i, places[pos]), i, places[pos])
		}
		if logProbs != nil {
			of[logProbs].addScores(logSoftmax(scores), logProbs.at(i, places[pos]), i, places[pos])
		}
	})
	if err != nil {
		return err
	}
	if v := find("step_logits", i); v != nil {
		return run(src, prev, true, nil, func(pos int, scores []float32) {
			of[v].addScores(scores, v.at(i, pos), pos)
		})
	}
	return nil
}

// logSoftmax turns logits into natural log-probabilities; log-probabilities
// stay what they are.
func logSoftmax(scores []float32) []float32 {
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, float64(s))
	}
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(float64(s) - top)
	}
	norm := top + math.Log(sum)
	out := make([]float32, len(scores))
	for i, s := range scores {
		out[i] = float32(float64(s) - norm)
	}
	return out
}
