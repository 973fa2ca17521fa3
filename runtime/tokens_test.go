package runtime

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
)

// TestStreamTokens: a stream gives what one sentence alone gives, in order,
// with refilled rows and with fixed batches.
func TestStreamTokens(t *testing.T) {
	m := openBundled(t)
	o := DefaultOptions()
	o.Beam, o.NBest, o.MaxLenA, o.MaxLenB = 3, 2, 1.2, 10
	alone, err := NewTranslator(m, o, Resources{Workers: 1, Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	var sentences []Sentence
	var want [][]Hypothesis
	for i, line := range bundledLines(t)[:enough(40, 6)] {
		ids, _ := m.Text().EncodeSource(line)
		s := Sentence{Tokens: append(ids, format.EOS)}
		if i%5 == 1 {
			s.Prefix = []int32{10, 11}
		}
		hyps, err := alone.TranslateTokens(t.Context(), i, s.Tokens, s.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		sentences, want = append(sentences, s), append(want, hyps)
	}
	for _, r := range []Resources{{Workers: 2, Rows: 9}, {Workers: 2, Rows: 9, Fixed: true}, {Workers: 1, Rows: 100, Fixed: true}} {
		tr, err := NewTranslator(m, o, r)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for hyps, err := range tr.StreamTokens(t.Context(), func(yield func(Sentence) bool) {
			for _, s := range sentences {
				if !yield(s) {
					return
				}
			}
			go tr.Close()
		}) {
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(hyps, want[n]) {
				t.Errorf("%+v: sentence %d gives %v, alone %v", r, n, hyps, want[n])
			}
			n++
		}
		tr.Close()
		if n != len(sentences) {
			t.Errorf("%+v: %d results, want %d", r, n, len(sentences))
		}
		if s := tr.Stats(); r.Fixed && s.Rows == 9*2 && s.RowOccupancy() > 0.95 {
			t.Errorf("%.0f %% of the rows were in use, fixed batches leave some empty", 100*s.RowOccupancy())
		}
	}
}

// TestSentenceLimit: a sentence's own limit ends its translation.
func TestSentenceLimit(t *testing.T) {
	m := openBundled(t)
	o := DefaultOptions()
	o.Beam = 2
	tr, err := NewTranslator(m, o, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	ids, _ := m.Text().EncodeSource(bundledLines(t)[0])
	ids = append(ids, format.EOS)
	var lengths []int
	for hyps, err := range tr.StreamTokens(t.Context(), slices.Values([]Sentence{{Tokens: ids, Limit: 1}, {Tokens: ids, Limit: 4}, {Tokens: ids}})) {
		if err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, len(hyps[0].Tokens))
	}
	if len(lengths) != 3 || lengths[0] != 1 || lengths[1] > 4 || lengths[2] <= 4 {
		t.Errorf("lengths %v, want 1, at most 4, and more", lengths)
	}
}

// TestStreamTokensStops: at a sentence that is none, and with its context.
func TestStreamTokensStops(t *testing.T) {
	m := openBundled(t)
	tr, err := NewTranslator(m, DefaultOptions(), Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	good, bad := Sentence{Tokens: []int32{10, format.EOS}}, Sentence{Tokens: []int32{1 << 30, format.EOS}}
	n := 0
	var last error
	for _, err := range tr.StreamTokens(t.Context(), slices.Values([]Sentence{good, bad, good})) {
		n, last = n+1, err
	}
	if n != 2 || last == nil || !strings.Contains(last.Error(), "1073741824") {
		t.Errorf("%d results and the error %v, want the second to fail", n, last)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last = nil
	for _, err := range tr.StreamTokens(ctx, func(yield func(Sentence) bool) {
		for yield(good) {
		}
	}) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("after the context ended: %v", last)
	}
}
