package runtime

import (
	"math"
	"math/rand/v2"
	"sort"

	"memsizer/format"
	"memsizer/ops"
)

var negInf = float32(math.Inf(-1))

// sampler draws the tokens of one sentence. Its stream depends on the seed
// and the line number only.
type sampler struct {
	rng   *rand.Rand
	probs []float64
	order []ops.Candidate
	top   ops.TopK
}

func newSampler(seed uint64, line int) *sampler {
	return &sampler{rng: rand.New(rand.NewPCG(seed, uint64(line)+0x9e3779b97f4a7c15))}
}

// sample draws the continuations of live hypothesis i: one token, or one for
// each of the beam's hypotheses at the first step. row holds unnormalised
// log-probabilities, norm their log-sum-exp.
func (s *search) sample(i int, row []float32, norm float32) {
	draws := 1
	if s.step == 0 {
		draws = s.width
	}
	s.rng.keep(row, norm, s.o)
	for range draws {
		if c, ok := s.rng.pick(); ok {
			s.candidates = append(s.candidates, candidate{c.Value - norm + s.live[i].score(), int32(i), c.ID})
		}
	}
}

// draw keeps the tokens of o and picks one; false if no token has a
// probability.
func (r *sampler) draw(row []float32, norm float32, o *Options) (ops.Candidate, bool) {
	r.keep(row, norm, o)
	return r.pick()
}

// keep selects the tokens that may be drawn and their cumulative
// probabilities.
func (r *sampler) keep(row []float32, norm float32, o *Options) {
	r.order = r.order[:0]
	switch {
	case o.TopK > 0:
		r.largest(row, o.TopK)
	case o.TopP > 0:
		r.nucleus(row, norm, o.TopP)
	default:
		for id, v := range row {
			if v > negInf {
				r.order = append(r.order, ops.Candidate{ID: int32(id), Value: v})
			}
		}
	}
	r.probs = r.probs[:0]
	var sum float64
	for _, c := range r.order {
		sum += math.Exp(float64(c.Value - norm))
		r.probs = append(r.probs, sum)
	}
}

func (r *sampler) pick() (ops.Candidate, bool) {
	n := len(r.order)
	if n == 0 {
		return ops.Candidate{}, false
	}
	u := r.rng.Float64() * r.probs[n-1]
	i := sort.Search(n-1, func(i int) bool { return r.probs[i] > u })
	return r.order[i], true
}

// largest keeps the k likeliest tokens.
func (r *sampler) largest(row []float32, k int) {
	r.order = r.order[:0]
	values, ids := r.top.Of(row, k)
	for i, v := range values {
		r.order = append(r.order, ops.Candidate{ID: ids[i], Value: v})
	}
}

// nucleus keeps the likeliest tokens until their probability reaches p, at
// least one.
func (r *sampler) nucleus(row []float32, norm float32, p float64) {
	for k := 64; ; k *= 4 {
		r.largest(row, k)
		var sum float64
		for i, c := range r.order {
			if sum += math.Exp(float64(c.Value - norm)); sum >= p {
				r.order = r.order[:i+1]
				return
			}
		}
		if len(r.order) < k {
			return
		}
	}
}

// advanceSamples ends a step of sampling: every hypothesis has exactly one
// continuation, and those that drew eos are finished.
func (s *search) advanceSamples() bool {
	alive := s.candidates[:0]
	for _, c := range s.candidates {
		if c.token == format.EOS {
			s.finish(c)
			continue
		}
		alive = append(alive, c)
	}
	if len(alive) == 0 || s.step >= s.maxLen {
		return s.end()
	}
	s.extend(alive)
	s.candidates = s.candidates[:0]
	s.step++
	return false
}
