package runtime

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"memsizer/format"
	"memsizer/runtime/text"
)

// LongPolicy says what to do with a line that has more tokens than the model
// can take (max_source_positions, eos included).
type LongPolicy string

// Policies for long lines.
const (
	// LongSplit, the default (also ""), translates the sentences of the line
	// one by one and joins the translations. A sentence that is still too long
	// is cut after a clause, at a space, or, where there is none, anywhere.
	LongSplit LongPolicy = "split"
	// LongTruncate translates as many tokens as fit.
	LongTruncate LongPolicy = "truncate"
	// LongFail ends a stream with a [LongLineError].
	LongFail LongPolicy = "fail"
)

// LongLineError reports a line that is too long under [LongFail].
type LongLineError struct {
	Line   int // 0-based
	Tokens int // with eos
	Limit  int // the model's
}

// Error gives the 1-based number of the line and both lengths.
func (e *LongLineError) Error() string {
	return fmt.Sprintf("runtime: input line %d has %d tokens, the model takes at most %d", e.Line+1, e.Tokens, e.Limit)
}

// part is a piece of a line that is translated by itself.
type part struct {
	ids    []int32  // without eos
	pieces []string // what the ids stand for, as it was written
	// glue goes between this part's translation and the next one's.
	glue string
}

// splitter cuts long lines into parts of at most limit tokens.
type splitter struct {
	encode  func(string) ([]int32, []string)
	limit   int    // tokens of a part, without eos
	space   string // between sentences of the target language
	parts   []part
	dropped int // tokens that fit nowhere
}

// unspaced are languages that do not write spaces between sentences.
var unspaced = map[string]bool{"zh": true, "ja": true, "th": true, "lo": true, "km": true, "my": true}

func newSplitter(encode func(string) ([]int32, []string), limit int, targetLang string) *splitter {
	s := &splitter{encode: encode, limit: limit, space: " "}
	lang, _, _ := strings.Cut(strings.ToLower(targetLang), "_")
	lang, _, _ = strings.Cut(lang, "-")
	if unspaced[lang] {
		s.space = ""
	}
	return s
}

// split adds the parts of text.
func (s *splitter) split(text string) {
	for len(text) > 0 {
		n := sentenceEnd(text)
		s.fit(text[:n], s.space)
		text = text[n:]
	}
}

// fit adds text, in pieces when it is too long; glue follows the last one.
func (s *splitter) fit(text, glue string) {
	ids, words := s.encode(text)
	if len(ids) == 0 {
		return
	}
	if len(ids) <= s.limit {
		s.parts = append(s.parts, part{ids, words, glue})
		return
	}
	if single(text) {
		s.dropped += len(ids) - s.limit
		s.parts = append(s.parts, part{ids[:s.limit:s.limit], words[:s.limit], glue})
		return
	}
	pieces := len(ids)/s.limit + 1
	for ; pieces > 1 && !single(text); pieces-- {
		n, spaced := cut(text, len(text)/pieces)
		if spaced {
			s.fit(text[:n], s.space)
		} else {
			s.fit(text[:n], "")
		}
		text = text[n:]
	}
	s.fit(text, glue)
}

// single reports whether text has one character at most.
func single(text string) bool {
	_, n := utf8.DecodeRuneInString(text)
	return n == len(text)
}

// cut finds a place to cut text, which has at least two characters, near byte
// `at`: after a clause, else at white space, else between characters. Both
// sides are not empty. spaced: there is white space at the cut.
func cut(text string, at int) (n int, spaced bool) {
	near := max(at/4, 20)
	lo, hi := max(at-near, 1), min(at+near, len(text)-1)
	for lo < hi && !utf8.RuneStart(text[lo]) {
		lo++
	}
	clause, space := 0, 0
	prev := rune(0)
	for i, r := range text[lo:hi] {
		if unicode.IsSpace(r) && prev != 0 && !unicode.IsSpace(prev) {
			p := lo + i
			if strings.ContainsRune(",;:、，；：–—)", prev) && closer(p, clause, at) {
				clause = p
			}
			if closer(p, space, at) {
				space = p
			}
		}
		prev = r
	}
	switch {
	case clause > 0:
		return clause, true
	case space > 0:
		return space, true
	}
	n = min(max(at, 1), len(text)-1)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if n == 0 { // inside the first character
		_, n = utf8.DecodeRuneInString(text)
	}
	return n, false
}

func closer(p, than, at int) bool {
	return than == 0 || max(p-at, at-p) < max(than-at, at-than)
}

// sentenceEnd is the length of the first sentence of text, with the white
// space that follows it.
func sentenceEnd(text string) int {
	for i, r := range text {
		switch r {
		case '。', '！', '？', '｡', '．':
			end := i + utf8.RuneLen(r)
			end += closing(text[end:])
			return end + spaces(text[end:])
		case '.', '!', '?', '…', '؟', '।', '۔':
			end := i + utf8.RuneLen(r)
			end += closing(text[end:])
			n := spaces(text[end:])
			if n == 0 {
				continue
			}
			next, _ := utf8.DecodeRuneInString(text[end+n:])
			if unicode.IsLower(next) || r == '.' && abbreviated(text[:i]) {
				continue
			}
			return end + n
		}
	}
	return len(text)
}

// closing is the length of the quotes, brackets and further stops at the
// start of s.
func closing(s string) int {
	for i, r := range s {
		if !strings.ContainsRune(`.!?…"'”’»“)]}」』）`, r) {
			return i
		}
	}
	return len(s)
}

func spaces(s string) int {
	for i, r := range s {
		if !unicode.IsSpace(r) {
			return i
		}
	}
	return len(s)
}

// abbreviated reports whether the last word of s, which a full stop follows,
// is an initial or has no vowel ("Mr", "Dr", "St"): then the stop is no
// sentence's end.
func abbreviated(s string) bool {
	letters := 0
	for len(s) > 0 && letters < 5 {
		r, n := utf8.DecodeLastRuneInString(s)
		if !unicode.IsLetter(r) {
			break
		}
		if letters++; strings.ContainsRune("aeiouyAEIOUYäöüÄÖÜ", r) || r > 0x24F {
			// A vowel, or a script where the rule means nothing: an
			// abbreviation only if it is a single capital.
			rest, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
			return letters == 1 && unicode.IsUpper(r) && !unicode.IsLetter(rest)
		}
		s = s[:len(s)-n]
	}
	return 0 < letters && letters < 5
}

// prepare tokenises a line and cuts it as the options say.
func (t *Translator) prepare(l Line) (tr Translation, parts []part, err error) {
	tr = Translation{Line: l.Number, Source: l.Text}
	var n int
	if tr.Source, n = text.ValidUTF8(l.Text); n > 0 {
		tr.warn(WarnInvalidUTF8, n)
	}
	if n = strings.Count(tr.Source, "\x00"); n > 0 {
		tr.warn(WarnNUL, n)
	}
	ids, pieces := t.m.text.EncodeSource(tr.Source)
	if len(ids) == 0 {
		return tr, nil, nil
	}
	if known(ids) == 0 {
		tr.warn(WarnUnknown, len(ids))
	}
	limit := t.m.header.Config.Encoder.Positions.Max - 1
	if len(ids) <= limit {
		return tr, []part{{ids: ids, pieces: pieces}}, nil
	}
	switch t.o.Long {
	case LongFail:
		return tr, nil, &LongLineError{l.Number, len(ids) + 1, limit + 1}
	case LongTruncate:
		tr.warn(WarnTruncated, len(ids)-limit)
		return tr, []part{{ids: ids[:limit:limit], pieces: pieces[:limit]}}, nil
	}
	s := newSplitter(t.m.text.EncodeSource, limit, t.m.header.Tokenization.TargetLang)
	s.split(tr.Source)
	tr.warn(WarnSplit, len(s.parts))
	if s.dropped > 0 {
		tr.warn(WarnTruncated, s.dropped)
	}
	return tr, s.parts, nil
}

func (t *Translation) warn(k WarningKind, n int) { t.Warnings = append(t.Warnings, Warning{k, n}) }

func known(ids []int32) int {
	n := 0
	for _, id := range ids {
		if id != format.Unk {
			n++
		}
	}
	return n
}
