package runtime

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"memsizer/format"
	"memsizer/ops"
)

// toyScores is a language over v tokens: logits that depend on the whole
// past, with eos likely enough that hypotheses end.
func toyScores(seed uint64, v int, past []int32) []float32 {
	h := fnv.New64a()
	for _, t := range past {
		h.Write([]byte{byte(t), byte(t >> 8)})
	}
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	out := make([]float32, v)
	for i := range out {
		out[i] = float32(r.NormFloat64()) * 2
	}
	out[format.EOS] += 1.5
	return out
}

// referenceSearch is the search as SequenceGenerator states it, with dense
// arrays of beam rows, −Inf for everything that is forbidden and dead rows
// that go on.
func referenceSearch(o Options, seed uint64, v, srcLen, limit int, prefix []int32) []Hypothesis {
	beam := min(o.Beam, v-1)
	maxLen := o.maxLen(srcLen, limit)
	minLen := min(o.MinLen, maxLen)
	tokens := make([][]int32, beam)
	scores := make([][]float32, beam)
	ignore := make([]bool, beam)
	var finished []Hypothesis
	for step := 0; ; step++ {
		type cand struct {
			score       float32
			beam, token int
		}
		var cands []cand
		for b := range beam {
			if step == 0 && b > 0 {
				break
			}
			past := append([]int32{format.EOS}, tokens[b]...)
			lp := toyScores(seed, v, past)
			for i := range lp {
				lp[i] /= float32(o.Temperature)
			}
			norm := ops.LogSumExp(lp)
			for i := range lp {
				lp[i] -= norm
			}
			lp[format.Pad] = negInf
			lp[format.Unk] -= float32(o.UnkPen)
			for i := range lp {
				if step >= maxLen && i != format.EOS {
					lp[i] = negInf
				}
			}
			if step < len(prefix) && step < maxLen {
				for i := range lp {
					if i != int(prefix[step]) {
						lp[i] = negInf
					}
				}
			} else if step < minLen {
				lp[format.EOS] = negInf
			}
			if n := o.NoRepeatNgram; n > 0 && step+2-n >= 0 {
				key := fmt.Sprint(past[step+2-n:])
				for i := 0; i+n <= len(past); i++ {
					if fmt.Sprint(past[i:i+n-1]) == key {
						lp[past[i+n-1]] = negInf
					}
				}
			}
			sum := float32(0)
			if step > 0 {
				sum = scores[b][step-1]
			}
			for i := range lp {
				cands = append(cands, cand{lp[i] + sum, b, i})
			}
		}
		sort.SliceStable(cands, func(i, j int) bool { return cands[i].score > cands[j].score })
		cands = cands[:min(2*beam, len(cands)-1)]
		isEOS := make([]bool, len(cands))
		for i, c := range cands {
			isEOS[i] = c.token == format.EOS && c.score > negInf
			if i < beam && ignore[i] {
				isEOS[i] = false
			}
			if i < beam && isEOS[i] && len(finished) < beam {
				h := Hypothesis{Tokens: append(slices.Clone(tokens[c.beam]), format.EOS)}
				cum := append(slices.Clone(scores[c.beam]), c.score)
				for j := range cum {
					if j == 0 {
						h.TokenScores = append(h.TokenScores, cum[0])
					} else {
						h.TokenScores = append(h.TokenScores, cum[j]-cum[j-1])
					}
				}
				h.Score = c.score
				if !o.NoNormalize {
					h.Score /= float32(math.Pow(float64(step+1), o.LenPen))
				}
				finished = append(finished, h)
			}
		}
		if len(finished) == beam || step >= maxLen {
			break
		}
		order := make([]int, len(cands))
		mask := make([]int, len(cands))
		for i := range cands {
			order[i] = i
			mask[i] = i
			if isEOS[i] || i < beam && ignore[i] {
				mask[i] += 2 * beam
			}
		}
		sort.SliceStable(order, func(i, j int) bool { return mask[order[i]] < mask[order[j]] })
		nt, ns, ni := make([][]int32, beam), make([][]float32, beam), make([]bool, beam)
		for b := range beam {
			if b >= len(order) {
				ni[b] = true
				nt[b], ns[b] = append(slices.Clone(tokens[0]), format.EOS), append(slices.Clone(scores[0]), negInf)
				continue
			}
			c := cands[order[b]]
			ni[b] = mask[order[b]] >= 2*beam
			nt[b] = append(slices.Clone(tokens[c.beam]), int32(c.token))
			ns[b] = append(slices.Clone(scores[c.beam]), c.score)
		}
		tokens, scores, ignore = nt, ns, ni
	}
	sort.SliceStable(finished, func(i, j int) bool { return finished[i].Score > finished[j].Score })
	return finished[:min(len(finished), o.NBest)]
}

// runSearch drives a search as a worker does, and checks its slots: no two
// live rows share one, and no row's parent was overwritten before it was
// read.
func runSearch(t *testing.T, s *search, seed uint64) []Hypothesis {
	state := map[int32][]int32{} // what each slot has read
	for {
		used := map[int32]bool{}
		for i := range s.live {
			b := &s.live[i]
			if used[b.slot] {
				t.Fatalf("step %d: two rows in slot %d", s.step, b.slot)
			}
			used[b.slot] = true
			past := append(slices.Clone(state[b.from]), s.lastToken(i))
			if s.step == 0 {
				past = []int32{s.lastToken(i)}
			}
			state[b.slot] = past
			if want := append([]int32{format.EOS}, b.tokens...); !slices.Equal(past, want) {
				t.Fatalf("step %d row %d: its state has read %v, want %v", s.step, i, past, want)
			}
		}
		for i := range s.live {
			s.consider(i, toyScores(seed, s.vocab, append([]int32{format.EOS}, s.live[i].tokens...)))
		}
		if s.advance() {
			return s.nbest()
		}
	}
}

func toyModel(v, limit int) *Model {
	m := &Model{decoder: &decoder{stack: stack{vocab: v}}}
	m.header.Config.Decoder.Positions.Max = limit
	return m
}

func TestSearchAgainstReference(t *testing.T) {
	with := func(f func(o *Options)) Options {
		o := DefaultOptions()
		o.NBest = 5
		o.MaxLenB = 20
		f(&o)
		return o
	}
	for name, o := range map[string]Options{
		"default":    with(func(o *Options) {}),
		"greedy":     with(func(o *Options) { o.Beam, o.NBest = 1, 1 }),
		"wide":       with(func(o *Options) { o.Beam, o.NBest = 12, 12 }),
		"short":      with(func(o *Options) { o.MaxLenB = 3 }),
		"zero":       with(func(o *Options) { o.MaxLenB = 0 }),
		"max-len-a":  with(func(o *Options) { o.MaxLenA, o.MaxLenB = 1.2, 2 }),
		"min-len":    with(func(o *Options) { o.MinLen = 9 }),
		"no min-len": with(func(o *Options) { o.MinLen = 0 }),
		"lenpen 0":   with(func(o *Options) { o.LenPen = 0 }),
		"lenpen 2":   with(func(o *Options) { o.LenPen = 2 }),
		"plain sum":  with(func(o *Options) { o.NoNormalize = true }),
		"unkpen":     with(func(o *Options) { o.UnkPen = 3 }),
		"unk reward": with(func(o *Options) { o.UnkPen = -2 }),
		"bigrams":    with(func(o *Options) { o.NoRepeatNgram = 2 }),
		"trigrams":   with(func(o *Options) { o.NoRepeatNgram = 3; o.MinLen = 12 }),
		"unigrams":   with(func(o *Options) { o.NoRepeatNgram = 1 }),
		"hot":        with(func(o *Options) { o.Temperature = 1.7 }),
		"source len": with(func(o *Options) { o.MatchSourceLen = true }),
	} {
		t.Run(name, func(t *testing.T) {
			s := &search{} // used again and again, as a worker does
			for seed := range uint64(60) {
				v := 8 + int(seed%3)*7
				prefix := []int32{4, 5, 4, 6}[:seed%5]
				m := toyModel(v, 30)
				s.reset(m, &o, 9, prefix, 7)
				s.finished = nil
				got := runSearch(t, s, seed)
				want := referenceSearch(o, seed, v, 9, 30, prefix)
				if len(want) == 0 { // every end was forbidden: the best live one
					if len(got) != 1 || slices.Contains(got[0].Tokens, format.EOS) {
						t.Fatalf("seed %d: %v, want one hypothesis without eos", seed, got)
					}
					continue
				}
				if len(got) != len(want) {
					t.Fatalf("seed %d: %d hypotheses, want %d", seed, len(got), len(want))
				}
				for i := range got {
					if !slices.Equal(got[i].Tokens, want[i].Tokens) {
						t.Fatalf("seed %d hypothesis %d: %v, want %v", seed, i, got[i].Tokens, want[i].Tokens)
					}
					if d := math.Abs(float64(got[i].Score - want[i].Score)); d > 1e-5 {
						t.Fatalf("seed %d hypothesis %d: score %v, want %v", seed, i, got[i].Score, want[i].Score)
					}
					for j := range got[i].TokenScores {
						if d := math.Abs(float64(got[i].TokenScores[j] - want[i].TokenScores[j])); d > 1e-4 {
							t.Fatalf("seed %d hypothesis %d token %d: score %v, want %v", seed, i, j, got[i].TokenScores[j], want[i].TokenScores[j])
						}
					}
				}
			}
		})
	}
}
