package runtime

import (
	"cmp"
	"math"
	"slices"

	"memsizer/format"
	"memsizer/ops"
)

// Hypothesis is one finished output of a search.
type Hypothesis struct {
	// Tokens are target ids, ending with eos (unless the options forbade it).
	Tokens []int32
	// Score is the sum of TokenScores divided by the length penalty.
	Score float32
	// TokenScores are natural log-probabilities, one per token.
	TokenScores []float32
}

// beam is a live hypothesis: a row of the decoder.
type beam struct {
	slot    int32     // where its state is
	from    int32     // where its state was before the next step (its parent's slot)
	tokens  []int32   // generated so far, without the first eos
	scores  []float32 // cumulative, one per token
	history []int32   // slot of each past position, if the decoder needs it
}

func (b *beam) score() float32 {
	if len(b.scores) == 0 {
		return 0
	}
	return b.scores[len(b.scores)-1]
}

// search is the search over one sentence. It follows fairseq's
// SequenceGenerator for a batch of one: at each step the 2·beam best
// continuations over all live hypotheses compete; those that end in eos
// finish if they are among the first beam, the best beam of the others live
// on; it ends with beam finished hypotheses or after maxLen tokens.
type search struct {
	o       *Options
	vocab   int
	start   int32 // the decoder's first input
	width   int   // beam, at most vocab-1
	maxLen  int
	minLen  int
	history bool
	prefix  []int32
	rng     *sampler // nil unless sampling

	step       int
	live, next []beam
	taken      []bool // per slot of this sentence, while live is rebuilt
	lastChild  []int  // per live hypothesis, likewise
	base       int32  // its first slot
	candidates []candidate
	top        ops.TopK
	finished   []Hypothesis
}

// candidate is a continuation of a live hypothesis.
type candidate struct {
	score float32
	beam  int32
	token int32
}

// reset prepares s for a source of n tokens (with eos) whose rows use the
// slots from base on.
func (s *search) reset(m *Model, o *Options, n int, prefix []int32, base int32) {
	s.o, s.prefix, s.base = o, prefix, base
	s.vocab, s.history, s.start = m.decoder.vocab, m.decoder.history, m.header.Config.Start()
	s.width = min(o.Beam, s.vocab-1)
	s.maxLen = max(o.maxLen(n, m.maxTarget()), 0)
	s.minLen = min(o.MinLen, s.maxLen)
	s.step = 0
	s.finished = nil
	if cap(s.live) < s.width {
		s.live, s.next = make([]beam, s.width), make([]beam, s.width)
		s.taken, s.lastChild = make([]bool, s.width), make([]int, s.width)
	}
	s.taken = s.taken[:s.width]
	s.live = s.live[:1]
	b := &s.live[0]
	b.slot, b.from = base, base
	b.tokens, b.scores, b.history = b.tokens[:0], b.scores[:0], b.history[:0]
	s.candidates = s.candidates[:0]
}

// shorten lowers the limit to n tokens before eos.
func (s *search) shorten(n int) {
	s.maxLen = min(s.maxLen, n)
	s.minLen = min(s.minLen, n)
}

// lastToken is what row i reads in the next step.
func (s *search) lastToken(i int) int32 {
	if t := s.live[i].tokens; len(t) > 0 {
		return t[len(t)-1]
	}
	return s.start
}

// consider takes the scores over the vocabulary of live hypothesis i
// (unnormalised log-probabilities; the row is scratch afterwards) and keeps
// its best continuations.
func (s *search) consider(i int, row []float32) {
	if t := float32(s.o.Temperature); t != 1 {
		for j := range row {
			row[j] /= t
		}
	}
	norm := ops.LogSumExp(row)
	sum := s.live[i].score()
	row[format.Pad] = negInf
	row[format.Unk] -= float32(s.o.UnkPen)
	forced := int32(-1)
	switch {
	case s.step >= s.maxLen:
		forced = format.EOS
	case s.step < len(s.prefix):
		forced = s.prefix[s.step]
	case s.step < s.minLen:
		row[format.EOS] = negInf
	}
	if n := s.o.NoRepeatNgram; n > 0 {
		banRepeats(row, s.start, s.live[i].tokens, n)
	}
	switch {
	case forced >= 0:
		if v := row[forced]; v > negInf {
			s.candidates = append(s.candidates, candidate{v - norm + sum, int32(i), forced})
		}
	case s.rng != nil:
		s.sample(i, row, norm)
	default:
		values, ids := s.top.Of(row, 2*s.width)
		for j, v := range values {
			s.candidates = append(s.candidates, candidate{v - norm + sum, int32(i), ids[j]})
		}
	}
}

// banRepeats sets to −Inf every token that would complete an n-gram that
// already occurs in start, tokens….
func banRepeats(row []float32, start int32, tokens []int32, n int) {
	at := func(i int) int32 {
		if i == 0 {
			return start
		}
		return tokens[i-1]
	}
	total := len(tokens) + 1
	tail := total - (n - 1) // the last n-1 tokens start here
	if tail < 0 {
		return
	}
next:
	for i := 0; i+n <= total; i++ {
		for j := range n - 1 {
			if at(i+j) != at(tail+j) {
				continue next
			}
		}
		row[at(i+n-1)] = negInf
	}
}

// advance ends a step: all live hypotheses were considered. It reports
// whether the search is over.
func (s *search) advance() bool {
	slices.SortStableFunc(s.candidates, func(a, b candidate) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		if a.beam != b.beam {
			return cmp.Compare(a.beam, b.beam)
		}
		return cmp.Compare(a.token, b.token)
	})
	best := s.candidates[:min(len(s.candidates), 2*s.width, s.limit())]
	for i, c := range best {
		if i < s.width && c.token == format.EOS && len(s.finished) < s.width {
			s.finish(c)
		}
	}
	if len(s.finished) == s.width || s.step >= s.maxLen {
		return s.end()
	}
	if !s.extend(best) {
		return s.end()
	}
	s.candidates = s.candidates[:0]
	s.step++
	return false
}

// limit is the number of candidates that fairseq's top-k may return: one
// less than there are, so that pad is never among them.
func (s *search) limit() int {
	n := len(s.live)
	return n*s.vocab - 1
}

func (s *search) finish(c candidate) {
	b := &s.live[c.beam]
	n := len(b.tokens) + 1
	h := Hypothesis{
		Tokens:      append(append(make([]int32, 0, n), b.tokens...), c.token),
		TokenScores: append(append(make([]float32, 0, n), b.scores...), c.score),
		Score:       c.score,
	}
	s.finished = append(s.finished, h.settle(s.o))
}

// unfinished makes a result of a live hypothesis.
func (s *search) unfinished(b *beam) {
	h := Hypothesis{Tokens: slices.Clone(b.tokens), TokenScores: slices.Clone(b.scores), Score: b.score()}
	s.finished = append(s.finished, h.settle(s.o))
}

// settle turns cumulative scores into those of each token and divides the
// total by the length penalty.
func (h Hypothesis) settle(o *Options) Hypothesis {
	n := len(h.Tokens)
	for i := n - 1; i > 0; i-- {
		h.TokenScores[i] -= h.TokenScores[i-1]
	}
	if !o.NoNormalize {
		h.Score /= float32(math.Pow(float64(n), o.LenPen))
	}
	return h
}

// extend replaces the live hypotheses by the best continuations that do not
// end. A parent's slot goes to its last child; the others get the slots of
// hypotheses that died, and read their parent's state before the last child
// overwrites it. It reports whether there are any, and otherwise leaves the
// live ones as they are.
func (s *search) extend(best []candidate) bool {
	clear(s.taken)
	chosen := best[:0]
	for _, c := range best {
		if c.token != format.EOS && len(chosen) < s.width {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return false
	}
	for i, c := range chosen {
		s.lastChild[c.beam] = i
		s.taken[s.live[c.beam].slot-s.base] = true
	}
	s.next = s.next[:len(chosen)]
	free := 0
	for i, c := range chosen {
		p, n := &s.live[c.beam], &s.next[i]
		n.from, n.slot = p.slot, p.slot
		if s.lastChild[c.beam] != i {
			for s.taken[free] {
				free++
			}
			s.taken[free] = true
			n.slot = s.base + int32(free)
		}
		n.tokens = append(append(n.tokens[:0], p.tokens...), c.token)
		n.scores = append(append(n.scores[:0], p.scores...), c.score)
		if s.history {
			n.history = append(append(n.history[:0], p.history...), p.slot)
		}
	}
	s.live, s.next = s.next, s.live
	return true
}

// end sorts the finished hypotheses, best first. Where the options forbade
// every end (no-repeat-ngram-size may ban eos), the best live hypothesis is
// the result, without eos.
func (s *search) end() bool {
	s.candidates = s.candidates[:0]
	if len(s.finished) == 0 && len(s.live) > 0 && len(s.live[0].tokens) > 0 {
		s.unfinished(&s.live[0])
	}
	slices.SortStableFunc(s.finished, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) })
	return true
}

// nbest are the results: at most o.NBest hypotheses, best first.
func (s *search) nbest() []Hypothesis {
	return s.finished[:min(len(s.finished), s.o.NBest)]
}
