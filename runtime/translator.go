package runtime

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"memsizer/format"
	"memsizer/runtime/text"
)

// Translation is the result for one input line.
type Translation struct {
	// Line is the 0-based number of the input line.
	Line int
	// Source is the line, ill-formed UTF-8 replaced.
	Source string
	// SourceTokens are the ids that were encoded, with eos (one after each
	// part of a line that was split); nil for an empty line.
	SourceTokens []int32
	// Hypotheses are the n best, best first, with Texts[i] the raw text of
	// Hypotheses[i]. An empty line has one empty text and no hypothesis. A
	// line that was split has an eos after each part.
	Hypotheses []Hypothesis
	Texts      []string
	// Warnings are what had to be done to the line.
	Warnings []Warning
}

// Text is the best hypothesis as raw text.
func (t *Translation) Text() string {
	if len(t.Texts) == 0 {
		return ""
	}
	return t.Texts[0]
}

// Translator translates with one model and one set of options. Any number
// of goroutines may use it; their sentences share the same batches.
type Translator struct {
	*engine
	scorers sync.Pool // of *Scorer, for the alignment of unknown words
}

// NewTranslator starts a translator; Close stops it.
func NewTranslator(m *Model, o Options, r Resources) (*Translator, error) {
	if m.encoder == nil {
		return nil, fmt.Errorf("runtime: a language model does not translate; it generates and scores")
	}
	e, err := newEngine(m, o, r)
	if err != nil {
		return nil, err
	}
	return &Translator{engine: e}, nil
}

// Translate translates lines of raw text, one result per line in order. It
// fails only when the context ends or the translator is closed.
func (t *Translator) Translate(ctx context.Context, lines []string) ([]Translation, error) {
	out := make([]Translation, 0, len(lines))
	for tr, err := range t.Stream(ctx, func(yield func(string) bool) {
		for _, l := range lines {
			if !yield(l) {
				return
			}
		}
	}) {
		if err != nil {
			return nil, err
		}
		out = append(out, tr)
	}
	return out, nil
}

// Line is one line of input.
type Line struct {
	// Number is its 0-based number. It names the line in results and, with
	// the seed, decides what sampling draws.
	Number int
	Text   string
	// Prefix is raw text in the target language that the translation begins
	// with.
	Prefix string
}

// Stream translates lines as they come and yields the results in their
// order, holding back at most a bounded number of finished ones. After an
// error it stops.
func (t *Translator) Stream(ctx context.Context, lines iter.Seq[string]) iter.Seq2[Translation, error] {
	return t.StreamLines(ctx, func(yield func(Line) bool) {
		n := 0
		for s := range lines {
			if !yield(Line{Number: n, Text: s}) {
				return
			}
			n++
		}
	})
}

// StreamLines is [Translator.Stream] for lines that bring their number and
// perhaps a prefix.
func (t *Translator) StreamLines(ctx context.Context, lines iter.Seq[Line]) iter.Seq2[Translation, error] {
	return func(yield func(Translation, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		window := make(chan *pending, t.window())
		b := newBudget(windowBytes)
		go func() {
			defer close(window)
			t.feed(ctx, lines, window, b)
		}()
		for p := range window {
			tr, err := p.wait(ctx, t)
			b.give(p.weight)
			if !yield(tr, err) || err != nil {
				return
			}
		}
	}
}

// window is the number of lines that a stream may hold.
func (e *engine) window() int { return windowSentences*e.rows/e.o.Beam + 4*encodeGroup }

// windowSentences is how many sentences a stream may hold for each that is
// being decoded: a long one keeps back the results of the others meanwhile.
const windowSentences = 8

// windowBytes bounds the text of the lines that a stream holds, unless it is
// a single line.
const windowBytes = 8 << 20

// pending is a line that was read; its jobs, if it needed any, are under way.
type pending struct {
	tr     Translation
	err    error
	jobs   []*job
	glue   []string   // glue[i] follows the translation of jobs[i]
	pieces [][]string // the source of jobs[i], if unknown words are replaced
	done   chan *job
	weight int // bytes
}

// feed reads lines and submits their jobs until the input or the context
// ends. The window's capacity and the budget bound how far it runs ahead of
// the oldest unfinished line.
func (t *Translator) feed(ctx context.Context, lines iter.Seq[Line], window chan<- *pending, b *budget) {
	for l := range lines {
		p := &pending{weight: len(l.Text) + len(l.Prefix)}
		if !b.take(ctx, p.weight) {
			return
		}
		p.err = t.submitLine(ctx, p, l)
		select {
		case window <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
	}
}

func (t *Translator) submitLine(ctx context.Context, p *pending, l Line) error {
	tr, parts, err := t.prepare(l)
	p.tr = tr
	if err != nil {
		return err
	}
	p.done = make(chan *job, len(parts))
	for i, s := range parts {
		src := append(s.ids, format.EOS)
		// Parts of a line draw different samples.
		j := &job{ctx: ctx, src: src, length: len(src), line: l.Number ^ i<<40, done: p.done}
		if i == 0 {
			j.prefix = t.prefix(l.Prefix)
		}
		if err := t.submit(j); err != nil {
			return err
		}
		p.tr.SourceTokens = append(p.tr.SourceTokens, src...)
		p.jobs, p.glue = append(p.jobs, j), append(p.glue, s.glue)
		if t.o.ReplaceUnk {
			p.pieces = append(p.pieces, s.pieces)
		}
	}
	return nil
}

// prefix is the tokens that a translation has to begin with.
func (t *Translator) prefix(s string) []int32 {
	if s == "" {
		return nil
	}
	s, _ = text.ValidUTF8(s)
	ids, _ := t.m.text.EncodeTarget(s)
	kept := ids[:0]
	for _, id := range ids {
		if id != format.Pad { // which no hypothesis may have
			kept = append(kept, id)
		}
	}
	return kept
}

func (p *pending) wait(ctx context.Context, t *Translator) (Translation, error) {
	if p.err != nil {
		return p.tr, p.err
	}
	for range p.jobs {
		select {
		case j := <-p.done:
			if j.err != nil {
				return p.tr, j.err
			}
		case <-ctx.Done():
			return p.tr, ctx.Err()
		}
	}
	if len(p.jobs) == 0 {
		p.tr.Texts = []string{""}
		return p.tr, nil
	}
	p.join(t)
	return p.tr, nil
}

// join makes the line's hypotheses of those of its parts.
func (p *pending) join(t *Translator) {
	first := p.jobs[0]
	n := len(first.hyps)
	for _, j := range p.jobs[1:] {
		n = min(n, len(j.hyps))
	}
	p.tr.Hypotheses = first.hyps[:n]
	for i := range n {
		text := p.text(t, 0, i)
		if len(p.jobs) > 1 {
			text = p.joinParts(t, i, text)
		}
		p.tr.Texts = append(p.tr.Texts, text)
	}
}

// text is the raw text of the i-th hypothesis of a part.
func (p *pending) text(t *Translator, part, i int) string {
	j := p.jobs[part]
	tokens := j.hyps[i].Tokens
	if t.o.ReplaceUnk && slices.Contains(tokens, format.Unk) {
		if text, err := t.replaceUnknown(j.src, p.pieces[part], tokens); err == nil {
			return text
		}
	}
	return t.m.text.Decode(tokens)
}

// joinParts appends the i-th hypotheses of the other parts to that of the
// first one, whose text is given. The result is scored like one hypothesis.
func (p *pending) joinParts(t *Translator, i int, text string) string {
	h := &p.tr.Hypotheses[i]
	var b strings.Builder
	b.WriteString(text)
	for k, j := range p.jobs[1:] {
		b.WriteString(p.glue[k])
		b.WriteString(p.text(t, k+1, i))
		h.Tokens = append(h.Tokens, j.hyps[i].Tokens...)
		h.TokenScores = append(h.TokenScores, j.hyps[i].TokenScores...)
	}
	var sum float64
	for _, s := range h.TokenScores {
		sum += float64(s)
	}
	if !t.o.NoNormalize {
		sum /= math.Pow(float64(len(h.Tokens)), t.o.LenPen)
	}
	h.Score = float32(sum)
	return b.String()
}
