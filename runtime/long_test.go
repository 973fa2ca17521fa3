package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memsizer/runtime/text"
)

func TestSentenceEnd(t *testing.T) {
	for _, c := range []struct{ text, first string }{
		{"A dog. A cat.", "A dog. "},
		{"A dog.  \tA cat.", "A dog.  \t"},
		{"No end", "No end"},
		{"Really?! Yes.", "Really?! "},
		{"He said: \"No.\" Then he left.", "He said: \"No.\" "},
		{"(A dog.) A cat.", "(A dog.) "},
		{"Wait... A dog.", "Wait... "},
		{"Wait… A dog.", "Wait… "},
		{"e.g. this one. Next.", "e.g. this one. "},
		{"Mr. Smith and Dr. Who came. Then", "Mr. Smith and Dr. Who came. "},
		{"J. S. Bach. Then", "J. S. Bach. "},
		{"Version 1.5 of it. Then", "Version 1.5 of it. "},
		{"So am I! Then", "So am I! "},
		{"你好。再见。", "你好。"},
		{"你好！」 再见。", "你好！」 "},
		{"Да. Нет.", "Да. "},
		{"हाँ। नहीं।", "हाँ। "},
	} {
		if got := c.text[:sentenceEnd(c.text)]; got != c.first {
			t.Errorf("%q: got %q, want %q", c.text, got, c.first)
		}
	}
}

// words is an encoder whose tokens are words of at most ten characters; runes
// has a token for each character that is not white space.
func words(s string) (ids []int32) {
	for _, w := range strings.Fields(s) {
		ids = append(ids, int32(len(w)))
		for n := utf8.RuneCountInString(w); n > 10; n -= 10 {
			ids = append(ids, 0)
		}
	}
	return ids
}

func runes(s string) (ids []int32) {
	for _, r := range strings.Join(strings.Fields(s), "") {
		ids = append(ids, int32(r))
	}
	return ids
}

func withPieces(encode func(string) []int32) func(string) ([]int32, []string) {
	return func(s string) ([]int32, []string) {
		ids := encode(s)
		return ids, make([]string, len(ids))
	}
}

func TestSplitter(t *testing.T) {
	for _, c := range []struct {
		name, lang, text string
		encode           func(string) []int32
		limit            int
		lengths          []int
		glue             []string
	}{
		{"sentences", "de", "One two. Three four five. Six.", words, 5, []int{2, 3, 1}, []string{" ", " ", " "}},
		{"a sentence too long", "de", "One. A b c d, e f g h i.", words, 5, []int{1, 4, 5}, []string{" ", " ", " "}},
		{"cut at spaces", "de", "a b c d e f g h i.", words, 5, []int{5, 4}, []string{" ", " "}},
		{"cut in a word", "de", strings.Repeat("x", 95), words, 5, []int{4, 4, 4}, []string{"", "", " "}},
		{"no spaces", "zh", "你好。再见。你好再见你好再见", runes, 5, []int{3, 3, 4, 4}, []string{"", "", "", ""}},
		{"target without spaces", "ja_JP", "One two. Three four five. Six.", words, 5, []int{2, 3, 1}, []string{"", "", ""}},
		{"blank sentences", "de", "a b c d e f.   \n  ", words, 4, []int{2, 3, 1}, []string{" ", " ", " "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSplitter(withPieces(c.encode), c.limit, c.lang)
			s.split(c.text)
			var lengths []int
			var glue []string
			for _, p := range s.parts {
				lengths, glue = append(lengths, len(p.ids)), append(glue, p.glue)
			}
			if !slices.Equal(lengths, c.lengths) || !slices.Equal(glue, c.glue) || s.dropped != 0 {
				t.Errorf("got parts of %v tokens, glue %q, %d dropped, want %v, %q, 0", lengths, glue, s.dropped, c.lengths, c.glue)
			}
		})
	}
	s := newSplitter(withPieces(func(string) []int32 { return make([]int32, 4) }), 3, "de")
	s.split("xy")
	if len(s.parts) != 2 || len(s.parts[0].ids) != 3 || s.dropped != 2 {
		t.Errorf("got %d parts, %d dropped, want characters cut to 3 of 4 tokens", len(s.parts), s.dropped)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("One two. Three, four", 3)
	f.Add("你好。再见。你好再见你好再见", 2)
	f.Add(strings.Repeat("a", 100), 7)
	f.Fuzz(func(t *testing.T, line string, limit int) {
		line, _ = text.ValidUTF8(line)
		s := newSplitter(withPieces(runes), 1+limit&0xff, "de")
		s.split(line)
		var got []int32
		for _, p := range s.parts {
			if len(p.ids) == 0 || len(p.ids) > s.limit {
				t.Errorf("a part has %d tokens, want 1 to %d", len(p.ids), s.limit)
			}
			got = append(got, p.ids...)
		}
		if !slices.Equal(got, runes(line)) {
			t.Errorf("%q: the parts are %q", line, string(got))
		}
	})
}

// A line of all the bundled sentences is longer than 1,024 tokens.
func TestLongLine(t *testing.T) {
	if enough(1100, 0) == 0 {
		t.Skip("two translations of 1100 tokens take too long in short tests and under emulation")
	}
	m := openBundled(t)
	sentences := bundledLines(t)
	for i := range sentences {
		sentences[i] = strings.TrimRight(sentences[i], " .") + "."
	}
	var line []string
	for n := 0; n < 1100; { // tokens
		for _, s := range sentences {
			ids, _ := m.Text().EncodeSource(s)
			n += len(ids)
			line = append(line, s)
		}
	}
	long := strings.Join(line, " ")
	o := DefaultOptions()
	o.Beam, o.NBest, o.MaxLenA, o.MaxLenB = 2, 2, 1.2, 10
	translate := func(policy LongPolicy, lines ...string) ([]Translation, error) {
		o.Long = policy
		tr, err := NewTranslator(m, o, Resources{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		return tr.Translate(context.Background(), lines)
	}
	single, err := translate("", line...)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := translate(LongSplit, "A dog.", long, "A cat.")
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.NBest {
		var texts []string
		var tokens []int32
		var sum float64
		for _, s := range single {
			texts = append(texts, s.Texts[i])
			tokens = append(tokens, s.Hypotheses[i].Tokens...)
			for _, v := range s.Hypotheses[i].TokenScores {
				sum += float64(v)
			}
		}
		h := whole[1].Hypotheses[i]
		if got, want := whole[1].Texts[i], strings.Join(texts, " "); got != want {
			t.Errorf("hypothesis %d: got %.100q…, want %.100q…", i, got, want)
		}
		if !slices.Equal(h.Tokens, tokens) || len(h.TokenScores) != len(tokens) {
			t.Errorf("hypothesis %d: got %d tokens and %d scores, want %d", i, len(h.Tokens), len(h.TokenScores), len(tokens))
		}
		if want := float32(sum / float64(len(tokens))); h.Score != want {
			t.Errorf("hypothesis %d: got score %v, want %v", i, h.Score, want)
		}
	}
	if want := []Warning{{WarnSplit, len(line)}}; !slices.Equal(whole[1].Warnings, want) || whole[0].Warnings != nil {
		t.Errorf("got warnings %v and %v, want %v and none", whole[1].Warnings, whole[0].Warnings, want)
	}
	cut, err := translate(LongTruncate, long)
	if err != nil {
		t.Fatal(err)
	}
	ids, _ := m.Text().EncodeSource(long)
	if got := cut[0].SourceTokens; len(got) != 1024 || !slices.Equal(got[:1023], ids[:1023]) {
		t.Errorf("got %d source tokens, want the first 1023 and eos", len(got))
	}
	if want := []Warning{{WarnTruncated, len(ids) - 1023}}; !slices.Equal(cut[0].Warnings, want) {
		t.Errorf("got warnings %v, want %v", cut[0].Warnings, want)
	}
	var e *LongLineError
	if _, err := translate(LongFail, "A dog.", long); !errors.As(err, &e) || e.Line != 1 || e.Tokens != len(ids)+1 || e.Limit != 1024 {
		t.Errorf("got error %v, want one for line 1 with %d tokens", err, len(ids)+1)
	}
}

func TestAwkwardLines(t *testing.T) {
	m := openBundled(t)
	o := DefaultOptions()
	o.MaxLenB = 20
	tr, err := NewTranslator(m, o, Resources{Workers: 8, Rows: 20})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	got, err := tr.Translate(context.Background(), []string{"A dog.", "", " \t", "A dog.\xff", "A \x00dog.", "𝄞𝄞", "\x00"})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Warning{nil, nil, nil, {{WarnInvalidUTF8, 1}}, {{WarnNUL, 1}}, {{WarnUnknown, 2}}, {{WarnNUL, 1}}}
	for i, g := range got {
		if i == 5 && len(g.Warnings) == 1 { // one token or two, as BPE has it
			g.Warnings[0].Count = 2
		}
		if !slices.Equal(g.Warnings, want[i]) {
			t.Errorf("line %d: got warnings %v, want %v", i, g.Warnings, want[i])
		}
		if empty := i == 1 || i == 2 || i == 6; empty != (g.Text() == "") || empty != (g.SourceTokens == nil) || g.Line != i {
			t.Errorf("line %d: got %+v", i, g)
		}
	}
	if got[4].Text() != got[0].Text() || got[3].Source != "A dog.\ufffd" {
		t.Errorf("got %q, %q and %q", got[0].Text(), got[4].Text(), got[3].Source)
	}
}

func TestPrefixLines(t *testing.T) {
	m := openBundled(t)
	o := DefaultOptions()
	o.MaxLenB = 20
	tr, err := NewTranslator(m, o, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	lines := []Line{{Number: 7, Text: "A dog runs.", Prefix: "Die Katze"}, {Number: 9, Text: "A dog runs."}}
	var got []Translation
	for g, err := range tr.StreamLines(context.Background(), slices.Values(lines)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, g)
	}
	if len(got) != 2 || got[0].Line != 7 || got[1].Line != 9 {
		t.Fatalf("got %+v", got)
	}
	if !strings.HasPrefix(got[0].Text(), "Die Katze") || strings.HasPrefix(got[1].Text(), "Die Katze") {
		t.Errorf("got %q and %q", got[0].Text(), got[1].Text())
	}
}
