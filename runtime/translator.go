package runtime

import (
	"context"
	"fmt"
	"iter"

	"memsizer/format"
)

// Translation is the result for one input line.
type Translation struct {
	// Line is the 0-based number of the input line.
	Line   int
	Source string
	// SourceTokens are the ids that were encoded, with eos; nil for an empty
	// line.
	SourceTokens []int32
	// Hypotheses are the n best, best first, with Texts[i] the raw text of
	// Hypotheses[i]. An empty line has one empty text and no hypothesis.
	Hypotheses []Hypothesis
	Texts      []string
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
type Translator struct{ *engine }

// NewTranslator starts a translator; Close stops it.
func NewTranslator(m *Model, o Options, r Resources) (*Translator, error) {
	if m.encoder == nil {
		return nil, fmt.Errorf("runtime: a language model does not translate; it generates and scores")
	}
	e, err := newEngine(m, o, r)
	if err != nil {
		return nil, err
	}
	return &Translator{e}, nil
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

// Stream translates lines as they come and yields the results in their
// order, holding back at most a bounded number of finished ones. After an
// error it stops.
func (t *Translator) Stream(ctx context.Context, lines iter.Seq[string]) iter.Seq2[Translation, error] {
	return func(yield func(Translation, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		window := make(chan *pending, 2*t.rows+4*encodeGroup)
		go func() {
			defer close(window)
			t.feed(ctx, lines, window)
		}()
		for p := range window {
			tr, err := p.wait(ctx, t.m)
			if !yield(tr, err) || err != nil {
				return
			}
		}
	}
}

// pending is a line that was read; its job, if it needed one, is under way.
type pending struct {
	tr   Translation
	err  error
	done chan *job
}

// feed reads lines and submits their jobs until the input or the context
// ends. The window's capacity bounds how far it runs ahead of the oldest
// unfinished line.
func (t *Translator) feed(ctx context.Context, lines iter.Seq[string], window chan<- *pending) {
	line := 0
	for s := range lines {
		p := &pending{tr: Translation{Line: line, Source: s}}
		if ids, _ := t.m.text.EncodeSource(s); len(ids) > 0 {
			p.tr.SourceTokens = append(ids, format.EOS)
			p.done = make(chan *job, 1)
			j := &job{ctx: ctx, src: p.tr.SourceTokens, length: len(p.tr.SourceTokens), line: line, done: p.done}
			if err := t.submit(j); err != nil {
				p.err, p.done = err, nil
			}
		}
		select {
		case window <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
		line++
	}
}

func (p *pending) wait(ctx context.Context, m *Model) (Translation, error) {
	if p.err != nil || p.done == nil {
		p.tr.Texts = []string{""}
		return p.tr, p.err
	}
	var j *job
	select {
	case j = <-p.done:
	case <-ctx.Done():
		return p.tr, ctx.Err()
	}
	if j.err != nil {
		return p.tr, j.err
	}
	p.tr.Hypotheses = j.hyps
	for i := range j.hyps {
		p.tr.Texts = append(p.tr.Texts, m.text.Decode(j.hyps[i].Tokens))
	}
	return p.tr, nil
}
