package text

import (
	"embed"
	"strings"
	"sync"
	"unicode/utf8"
)

// prefixFiles holds the abbreviations of each language that do not end a
// sentence: one a line, without the period; those that keep it only before a
// number have " #" behind them. They are the words of the lists that sacremoses
// carries from Moses.
//
//go:embed prefixes/*.txt
var prefixFiles embed.FS

// prefixList is one language's abbreviations.
type prefixList struct {
	numericOnly map[string]bool // by abbreviation
	longest     int             // bytes
}

var prefixLists sync.Map // language code → *prefixList

// prefixesOf returns the list of lang, or English's if it has none.
func prefixesOf(lang string) *prefixList {
	if p, ok := prefixLists.Load(lang); ok {
		return p.(*prefixList)
	}
	data, err := prefixFiles.ReadFile("prefixes/" + lang + ".txt")
	if err != nil {
		lang = "en"
		if data, err = prefixFiles.ReadFile("prefixes/en.txt"); err != nil {
			panic("text: no English abbreviations: " + err.Error())
		}
	}
	p := &prefixList{numericOnly: make(map[string]bool)}
	for word := range strings.Lines(string(data)) {
		word, numeric := strings.CutSuffix(strings.TrimSuffix(word, "\n"), " #")
		p.numericOnly[word] = numeric
		p.longest = max(p.longest, len(word))
	}
	prefixLists.Store(lang, p)
	return p
}

// joinWords appends the words of src, UTF-8, with one space between them. A
// period at the end of a word is set apart unless the word is an abbreviation,
// and at the end of the line ".'" is, with a space behind it.
func (t *MosesTokenizer) joinWords(dst []byte, src []rune) []byte {
	word, next := cutWord(src)
	for len(word) > 0 {
		var following []rune
		following, next = cutWord(next)
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		from := len(dst)
		for _, r := range word {
			dst = utf8.AppendRune(dst, r)
		}
		if n := len(word); n > 1 && word[n-1] == '.' && !t.keepsPeriod(word[:n-1], dst[from:len(dst)-1], following) {
			dst = append(dst[:len(dst)-1], ' ', '.')
		}
		word = following
	}
	if n := len(dst); n > 1 && dst[n-1] == '\'' && dst[n-2] == '.' {
		dst = append(dst[:n-2], " . ' "...)
	}
	return dst
}

// cutWord returns the first word of src and what is behind it.
func cutWord(src []rune) (word, rest []rune) {
	for len(src) > 0 && src[0] == ' ' {
		src = src[1:]
	}
	for i, r := range src {
		if r == ' ' {
			return src[:i], src[i:]
		}
	}
	return src, nil
}

// keepsPeriod tells whether the period behind prefix belongs to it: prefix
// holds a period and a letter, or is an abbreviation, or the next word begins
// in lower case; some abbreviations want a digit next. utf8Prefix is prefix.
func (t *MosesTokenizer) keepsPeriod(prefix []rune, utf8Prefix []byte, next []rune) bool {
	if hasRune(prefix, '.') {
		for _, r := range prefix {
			if t.classes.of(r)&t.alpha != 0 {
				return true
			}
		}
	}
	numeric, listed := false, false
	if len(utf8Prefix) <= t.prefixes.longest {
		numeric, listed = t.prefixes.numericOnly[string(utf8Prefix)]
	}
	if listed && !numeric || len(next) > 0 && t.classes.of(next[0])&classLower != 0 {
		return true
	}
	return numeric && len(next) > 0 && '0' <= next[0] && next[0] <= '9'
}
