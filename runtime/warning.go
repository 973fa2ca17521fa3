package runtime

import "fmt"

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
