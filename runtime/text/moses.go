package text

import (
	"regexp"
	"strings"
	"sync"
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
// 0.0.45 does (its port of Moses' tokenizer.perl, which fairseq calls), rule
// by rule: each rule is one pass over the characters. It is immutable and safe
// for concurrent use.
type MosesTokenizer struct {
	opts       MosesOptions
	classes    *runeClasses
	alnum      runeClass // the classes that count as word characters
	alpha      runeClass // the classes that count as letters
	apostrophe apostropheStyle
	prefixes   *prefixList
	scratch    sync.Pool // of *mosesScratch
}

// mosesScratch holds the buffers of one call.
type mosesScratch struct {
	a, b []rune
	out  []byte
}

// scratchLimit is the longest line, in bytes, whose buffers are kept.
const scratchLimit = 1 << 16

// NewMosesTokenizer returns the tokeniser of a language code such as "en".
// Codes are compared as they are, without case folding. Languages without an
// abbreviation list of their own use the English one, as in sacremoses. The
// only error is a nil pattern in opts.
func NewMosesTokenizer(lang string, opts MosesOptions) (*MosesTokenizer, error) {
	if err := checkPatterns(opts.ProtectedPatterns); err != nil {
		return nil, err
	}
	t := &MosesTokenizer{opts: opts, classes: mosesClasses(), apostrophe: apostropheStyleOf(lang)}
	script := scriptOf(lang)
	t.alnum, t.alpha = classAlnum|script, classAlpha|script
	t.prefixes = prefixesOf(lang)
	return t, nil
}

// scriptOf returns the classes that are letters in lang beside the usual ones,
// which have no Chinese, Japanese and Korean characters.
func scriptOf(lang string) runeClass {
	switch lang {
	case "ko":
		return classHangul
	case "zh":
		return classHan
	case "ja":
		return classKana | classHan
	case "cjk":
		return classHangul | classKana | classHan
	}
	return 0
}

// Tokenize returns the tokens of s, none for an empty or blank line. Bytes
// that are not UTF-8 count as U+FFFD, one each.
func (t *MosesTokenizer) Tokenize(s string) []string {
	return pythonFields(t.TokenizeLine(s))
}

// TokenizeLine returns the tokens of s with a space between them. Around a
// ".'" that ends the line there is one more, as in sacremoses.
func (t *MosesTokenizer) TokenizeLine(s string) string {
	w, _ := t.scratch.Get().(*mosesScratch)
	if w == nil {
		w = new(mosesScratch)
	}
	w.a = t.squeeze(w.a[:0], s)
	var protected []string
	if len(t.opts.ProtectedPatterns) > 0 {
		var masked string
		masked, protected = protect(string(w.a), t.opts.ProtectedPatterns)
		w.a = append(w.a[:0], []rune(masked)...)
	}
	t.split(w)
	w.out = t.joinWords(w.out[:0], w.a)
	if protected != nil {
		restored := unprotect(string(w.out), protected)
		w.out = append(w.out[:0], restored...)
	}
	line := restoreDots(w.out)
	if t.opts.Escape {
		line = mosesEscaper.Replace(line)
	}
	if len(s) <= scratchLimit {
		t.scratch.Put(w)
	}
	return line
}

var mosesEscaper = strings.NewReplacer("&", "&amp;", "|", "&#124;", "<", "&lt;", ">", "&gt;",
	"'", "&apos;", `"`, "&quot;", "[", "&#91;", "]", "&#93;")

// squeeze appends s with each run of white space made one space and then the
// control characters removed, which may leave two spaces side by side.
func (t *MosesTokenizer) squeeze(dst []rune, s string) []rune {
	blank := false
	for _, r := range s {
		switch {
		case isPythonSpace(r):
			if !blank {
				dst = append(dst, ' ')
			}
			blank = true
			continue
		case r > 0x1f:
			dst = append(dst, r)
		}
		blank = false
	}
	return dst
}

// split sets the symbols, dashes, runs of dots, commas and apostrophes of w.a
// apart by spaces, each rule in its turn.
func (t *MosesTokenizer) split(w *mosesScratch) {
	pass := func(rule func(dst, src []rune) []rune) {
		w.b = rule(w.b[:0], w.a)
		w.a, w.b = w.b, w.a
	}
	pass(t.padSymbols)
	if t.opts.AggressiveDashSplits {
		pass(t.splitDashes)
	}
	if hasDots(w.a) {
		pass(markDots)
	}
	if hasRune(w.a, ',') {
		pass(t.splitAfterComma)
		pass(t.splitBeforeComma)
		pass(t.splitLastComma)
	}
	if !hasRune(w.a, '\'') {
		return
	}
	switch t.apostrophe {
	case apostropheEnglish:
		for _, rule := range englishApostrophes {
			pass(func(dst, src []rune) []rune { return t.splitApostrophe(dst, src, rule) })
		}
	case apostropheRomance:
		for _, rule := range romanceApostrophes {
			pass(func(dst, src []rune) []rune { return t.splitApostrophe(dst, src, rule) })
		}
	default:
		pass(padApostrophes)
	}
}

// padSymbols strips src and puts spaces around each character that is neither
// a word character nor space nor one of . ' ` , -
func (t *MosesTokenizer) padSymbols(dst, src []rune) []rune {
	for len(src) > 0 && src[0] == ' ' {
		src = src[1:]
	}
	for len(src) > 0 && src[len(src)-1] == ' ' {
		src = src[:len(src)-1]
	}
	for _, r := range src {
		if t.classes.of(r)&t.alnum != 0 || r == ' ' || r == '.' || r == '\'' || r == '`' || r == ',' || r == '-' {
			dst = append(dst, r)
		} else {
			dst = append(dst, ' ', r, ' ')
		}
	}
	return dst
}

// splitDashes writes "a-b" as "a @-@ b" where a and b are word characters.
func (t *MosesTokenizer) splitDashes(dst, src []rune) []rune {
	for i, r := range src {
		if r == '-' && i > 0 && i+1 < len(src) && t.classes.of(src[i-1])&t.alnum != 0 && t.classes.of(src[i+1])&t.alnum != 0 {
			dst = append(dst, ' ', '@', '-', '@', ' ')
		} else {
			dst = append(dst, r)
		}
	}
	return dst
}

// splitAfterComma puts spaces around a comma that does not follow a number.
// The character before it is used up by the match, here and in the next rule.
func (t *MosesTokenizer) splitAfterComma(dst, src []rune) []rune {
	for i := 0; i < len(src); i++ {
		dst = append(dst, src[i])
		if i+1 < len(src) && src[i+1] == ',' && t.classes.of(src[i])&classNumber == 0 {
			dst = append(dst, ' ', ',', ' ')
			i++
		}
	}
	return dst
}

// splitBeforeComma puts spaces around a comma that no number follows.
func (t *MosesTokenizer) splitBeforeComma(dst, src []rune) []rune {
	for i := 0; i < len(src); i++ {
		if src[i] == ',' && i+1 < len(src) && t.classes.of(src[i+1])&classNumber == 0 {
			dst = append(dst, ' ', ',', ' ', src[i+1])
			i++
		} else {
			dst = append(dst, src[i])
		}
	}
	return dst
}

// splitLastComma puts spaces around a comma after a number that ends the line.
func (t *MosesTokenizer) splitLastComma(dst, src []rune) []rune {
	dst = append(dst, src...)
	if n := len(src); n > 1 && src[n-1] == ',' && t.classes.of(src[n-2])&classNumber != 0 {
		dst = append(dst[:len(dst)-1], ' ', ',', ' ')
	}
	return dst
}

func hasRune(s []rune, want rune) bool {
	for _, r := range s {
		if r == want {
			return true
		}
	}
	return false
}
