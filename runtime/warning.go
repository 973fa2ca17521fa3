package runtime

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Warning says that something had to be done to a line to translate it.
type Warning struct {
	Kind WarningKind
	// Count is how many there were: characters, parts, tokens (see the kinds).
	Count int
}

// WarningKind is what was done.
type WarningKind string

// Kinds of warnings.
const (
	// WarnInvalidUTF8: Count ill-formed byte sequences were replaced by
	// U+FFFD each.
	WarnInvalidUTF8 WarningKind = "invalid-utf8"
	// WarnNUL: the line has Count NUL characters. What becomes of them is the
	// tokenizer's choice; Moses drops them.
	WarnNUL WarningKind = "nul"
	// WarnSplit: the line was longer than the model can take and was
	// translated in Count parts.
	WarnSplit WarningKind = "split"
	// WarnTruncated: Count tokens at the end were dropped.
	WarnTruncated WarningKind = "truncated"
	// WarnUnknown: all Count tokens of the line are unknown to the model.
	WarnUnknown WarningKind = "unknown"
	// WarnCut: Count bytes at the end of the line were not read. Translators
	// never do that; it is for programs that bound the length of a line.
	WarnCut WarningKind = "cut"
)

// String describes the warning in a few words.
func (w Warning) String() string {
	n := func(one, many string) string {
		if w.Count == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", w.Count, many)
	}
	switch w.Kind {
	case WarnInvalidUTF8:
		return n("invalid UTF-8 sequence", "invalid UTF-8 sequences") + " replaced by U+FFFD"
	case WarnNUL:
		return n("NUL character", "NUL characters")
	case WarnSplit:
		return "too long for the model, translated in " + n("part", "parts")
	case WarnTruncated:
		return "too long for the model, " + n("token", "tokens") + " dropped"
	case WarnCut:
		return "too long to be read, " + n("byte", "bytes") + " dropped"
	case WarnUnknown:
		return n("token, unknown to the model", "tokens, all unknown to the model")
	}
	return fmt.Sprintf("%s (%d)", w.Kind, w.Count)
}

// validUTF8 replaces every maximal ill-formed subsequence of s by U+FFFD, as
// the Unicode standard recommends (section 3.9), and counts them.
func validUTF8(s string) (string, int) {
	if utf8.ValidString(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	count := 0
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n <= 1 {
			n = illFormed(s)
			count++
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String(), count
}

// illFormed is the length of the maximal ill-formed subsequence at the start
// of s: the longest beginning of a well-formed character, or one byte.
func illFormed(s string) int {
	c := s[0]
	lo, hi, want := byte(0x80), byte(0xBF), 0
	switch {
	case 0xC2 <= c && c <= 0xDF:
		want = 1
	case 0xE0 <= c && c <= 0xEF:
		want = 2
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case 0xF0 <= c && c <= 0xF4:
		want = 3
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	}
	n := 1
	for n <= want && n < len(s) && lo <= s[n] && s[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}
