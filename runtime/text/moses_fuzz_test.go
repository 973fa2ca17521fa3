package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func fuzzLines(f *testing.F) {
	for _, s := range []string{"", "Mr. O'Neil, 5,000 a-b...", "DOTMULTI.DOTMULTI.", "\x00\x1c\xff 中文 '“", "No. 5 &amp; [x]", `a."<b>." c`, "1\u00a02\u00a03 ) ."} {
		f.Add(s)
	}
}

// FuzzMosesTokenizer checks that no line breaks the tokeniser, that its tokens
// hold no white space and lose no letter, and that a second call agrees.
func FuzzMosesTokenizer(f *testing.F) {
	fuzzLines(f)
	var tokenizers []*MosesTokenizer
	for _, lang := range []string{"en", "fr", "de", "zh", "ko", "xx"} {
		tokenizers = append(tokenizers, mosesTokenizer(f, lang, true, true), mosesTokenizer(f, lang, false, false))
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, tok := range tokenizers {
			tokens := tok.Tokenize(s)
			for _, w := range tokens {
				if w == "" || strings.ContainsFunc(w, isPythonSpace) || !utf8.ValidString(w) {
					t.Fatalf("token %q of %q", w, s)
				}
			}
			line := tok.TokenizeLine(s)
			if got, want := strings.Join(tokens, ""), unspaced(line); got != want {
				t.Fatalf("tokens %q, line %q", got, want)
			}
			if !tok.opts.AggressiveDashSplits && !strings.Contains(visible(s), multiWord) {
				if got, want := visible(line), visible(s); got != want {
					t.Fatalf("characters %q, want %q", got, want)
				}
			}
		}
	})
}

// visible is s without white space and control characters.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || isPythonSpace(r) {
			return -1
		}
		return r
	}, string([]rune(s)))
}

// FuzzMosesDetokenizer checks that no line breaks the detokeniser and that it
// changes nothing but the white space and dashes.
func FuzzMosesDetokenizer(f *testing.F) {
	fuzzLines(f)
	var detokenizers []*MosesDetokenizer
	for _, lang := range []string{"en", "fr", "cs", "fi", "ko", "zh"} {
		detokenizers = append(detokenizers, NewMosesDetokenizer(lang, false))
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range detokenizers {
			got, want := d.Detokenize(pythonFields(s)), strings.ReplaceAll(" "+strings.Join(pythonFields(s), " ")+" ", " @-@ ", "-")
			if unspaced(got) != unspaced(want) {
				t.Fatalf("lang %q: %q became %q", d.lang, s, got)
			}
		}
		NewMosesDetokenizer("en", true).Detokenize(strings.Split(s, " "))
	})
}

func unspaced(s string) string { return strings.Join(pythonFields(s), "") }

// FuzzPunctuationNormalizer checks that no line breaks the normaliser and that
// what the rules replace is gone.
func FuzzPunctuationNormalizer(f *testing.F) {
	fuzzLines(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, lang := range []string{"en", "de", "cs", "xx"} {
			got := NewPunctuationNormalizer(lang).Normalize(s)
			if strings.ContainsAny(got, "\r`„“”–—´‘‚’…«»") {
				t.Fatalf("lang %q: %q became %q", lang, s, got)
			}
		}
	})
}
