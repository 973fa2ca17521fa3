package runtime

import (
	"math"
	"math/rand/v2"
	"slices"

	"memsizer/format"
	"memsizer/ops"
)

// sampler draws the tokens of one sentence. Its stream depends on the seed
// and the line number only.
type sampler struct {
	rng   *rand.Rand
	probs []float64
	order []ops.Candidate
}

func newSampler(seed uint64, line int) *sampler {
	return &sampler{rng: rand.New(rand.NewPCG(seed, uint64(line)+0x9e3779b97f4a7c15))}
}

// sample draws the continuations of live hypothesis i: one token, or one for
// each of the beam's hypotheses at the first step. row holds unnormalised
// log-probabilities, norm their log-sum-exp.
func (s *search) sample(i int, row []float32, norm float32) {
	r := s.rng
	r.order = r.order[:0]
	switch k := s.o.TopK; {
	case k > 0:
		r.order = ops.TopK(r.order, row, k)
	case s.o.TopP > 0:
		r.order = nucleus(r.order, row, norm, s.o.TopP)
	default:
		for id, v := range row {
			if v > float32(math.Inf(-1)) {
				r.order = append(r.order, ops.Candidate{ID: int32(id), Value: v})
			}
		}
	}
	if len(r.order) == 0 {
		return
	}
	r.probs = r.probs[:0]
	var sum float64
	for _, c := range r.order {
		sum += math.Exp(float64(c.Value - norm))
		r.probs = append(r.probs, sum)
	}
	draws := 1
	if s.step == 0 {
		draws = s.width
	}
	for range draws {
		u := r.rng.Float64() * sum
		j, _ := slices.BinarySearch(r.probs, u)
		for j < len(r.order)-1 && r.probs[j] <= u {
			j++
		}
		c := r.order[min(j, len(r.order)-1)]
		s.candidates = append(s.candidates, candidate{c.Value - norm + s.live[i].score(), int32(i), c.ID})
	}
}

// nucleus appends the likeliest entries of row until their probability
// reaches p, at least one.
func nucleus(dst []ops.Candidate, row []float32, norm float32, p float64) []ops.Candidate {
	for k := 64; ; k *= 4 {
		dst = ops.TopK(dst[:0], row, min(k, len(row)))
		var sum float64
		for i, c := range dst {
			if sum += math.Exp(float64(c.Value - norm)); sum >= p {
				return dst[:i+1]
			}
		}
		if len(dst) < k {
			return dst
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
