package text

import (
	"strings"
	"unicode/utf8"
)

// MosesDetokenizer joins tokens into text as sacremoses 0.0.45 does (its port
// of Moses' detokenizer.perl). It is immutable and safe for concurrent use.
type MosesDetokenizer struct {
	lang     string
	unescape bool
	classes  *runeClasses
}

// NewMosesDetokenizer returns the detokeniser of a language code; unescape
// turns &apos; and its like back into characters first (fairseq always does).
// The codes en, fr, it, ga, cs, fi and ko have rules of their own.
func NewMosesDetokenizer(lang string, unescape bool) *MosesDetokenizer {
	return &MosesDetokenizer{lang: lang, unescape: unescape, classes: mosesClasses()}
}

var mosesUnescaper = strings.NewReplacer("&bar;", "|", "&#124;", "|", "&lt;", "<", "&gt;", ">", "&bra;", "[",
	"&ket;", "]", "&quot;", `"`, "&apos;", "'", "&#91;", "[", "&#93;", "]", "&amp;", "&")

// Detokenize returns the text of tokens, which may hold spaces themselves:
// "@-@" between two of them becomes a dash, entities become characters, and
// what white space then separates are the words that the rules join. fairseq
// passes the words of its output.
//
// Where sacremoses raises an exception (Czech: a word that ends in a letter and
// an apostrophe, a dash, "li" or "mail…") the dash is joined to both, as the
// original Perl program means to.
func (d *MosesDetokenizer) Detokenize(tokens []string) string {
	line := strings.ReplaceAll(" "+strings.Join(tokens, " ")+" ", " @-@ ", "-")
	if d.unescape && strings.Contains(line, "&") {
		line = mosesUnescaper.Replace(line)
	}
	j := joiner{MosesDetokenizer: d, words: pythonFields(line)}
	j.out.Grow(len(line))
	for i := 0; i < len(j.words); i++ {
		i += j.add(i)
	}
	return strings.Trim(j.out.String(), " ")
}

// joiner is the state of one call.
type joiner struct {
	*MosesDetokenizer
	words  []string
	out    strings.Builder
	tight  bool           // the next word follows without a space
	quotes map[string]int // how many of each quotation mark there were
}

// left joins word to what precedes it.
func (j *joiner) left(word string) {
	j.out.WriteString(word)
	j.tight = false
}

// right puts word apart from what precedes it; tight says that what follows
// is joined to it.
func (j *joiner) right(word string, tight bool) {
	if !j.tight {
		j.out.WriteByte(' ')
	}
	j.out.WriteString(word)
	j.tight = tight
}

// add appends word i and returns how many words after it were used up too.
func (j *joiner) add(i int) int {
	word := j.words[i]
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case j.classes.of(first)&classCJK != 0 && j.lang != "ko":
		if i > 0 && j.lastClass(j.words[i-1])&classCJK != 0 {
			j.left(word)
		} else {
			j.right(word, false)
		}
	case onlyRunes(word, j.opens):
		j.right(word, true)
	case onlyRunes(word, closes):
		if j.lang == "fr" && len(word) == 1 && strings.Contains(`?!:;\%`, word) {
			j.out.WriteByte(' ')
		}
		j.left(word)
	case j.lang == "en" && i > 0 && word[0] == '\'' && j.startsWith(word[1:], classLetter):
		j.left(word)
	case j.lang == "cs" && j.isDecimal(i):
		j.left(word)
	case (j.lang == "fr" || j.lang == "it" || j.lang == "ga") && i+1 < len(j.words) &&
		j.endsElided(word) && j.startsWith(j.words[i+1], classLetter):
		j.right(word, true)
	case j.lang == "cs" && i+2 < len(j.words) && j.endsElided(word) && isDash(j.words[i+1]) && isCzechDashed(j.words[i+2]):
		j.right(word+j.words[i+1], true)
		return 1
	case onlyRunes(word, isQuote):
		j.addQuote(i)
	default:
		// In Finnish a case ending after a colon is meant to be joined
		// ("EU :n"), but sacremoses puts a space there as well.
		j.right(word, false)
	}
	return 0
}

// addQuote appends quotation mark i: an odd one opens, an even one closes.
func (j *joiner) addQuote(i int) {
	word := j.words[i]
	kind := word
	if onlyRunes(word, func(r rune) bool { return r == '„' || r == '“' }) {
		kind = `"`
	}
	if j.quotes == nil {
		j.quotes = make(map[string]int)
	}
	if j.lang == "cs" {
		switch word {
		case "„":
			j.quotes[kind] = 0
		case "“":
			j.quotes[kind] = 1
		}
	}
	switch {
	case j.quotes[kind]%2 != 0:
		j.left(word)
		j.quotes[kind]++
	case j.lang == "en" && word == "'" && i > 0 && strings.HasSuffix(j.words[i-1], "s"):
		j.left(word) // the Jones' house
	default:
		j.right(word, true)
		j.quotes[kind]++
	}
}

// opens tells the characters that what follows is joined to.
func (j *joiner) opens(r rune) bool {
	return r == '(' || r == '[' || r == '{' || r == '¿' || r == '¡' || j.classes.of(r)&classCurrency != 0
}

// closes tells the characters that are joined to what precedes them.
func closes(r rune) bool {
	switch r {
	case ',', '.', '?', '!', ':', ';', '\\', '%', '}', ']', ')':
		return true
	}
	return false
}

func isQuote(r rune) bool {
	switch r {
	case '\'', '"', '„', '“', '`':
		return true
	}
	return false
}

// isDecimal tells whether word i is a number and the line's last words are a
// number and a separator: sacremoses looks there, not at the words before i.
func (j *joiner) isDecimal(i int) bool {
	n := len(j.words)
	return i > 1 && onlyRunes(j.words[i], isASCIIDigit) && onlyRunes(j.words[n-2], isASCIIDigit) &&
		(j.words[n-1] == "." || j.words[n-1] == ",")
}

// endsElided tells whether word ends in a letter and an apostrophe.
func (j *joiner) endsElided(word string) bool {
	stem, ok := strings.CutSuffix(word, "'")
	return ok && stem != "" && j.lastClass(stem)&classLetter != 0
}

func (j *joiner) startsWith(s string, class runeClass) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && j.classes.of(r)&class != 0
}

func (j *joiner) lastClass(s string) runeClass {
	r, _ := utf8.DecodeLastRuneInString(s)
	return j.classes.of(r)
}

func isASCIIDigit(r rune) bool { return '0' <= r && r <= '9' }

func isDash(s string) bool { return s == "-" || s == "–" }

func isCzechDashed(s string) bool {
	return strings.EqualFold(s, "li") || len(s) >= len("mail") && strings.EqualFold(s[:len("mail")], "mail")
}

// onlyRunes tells whether s is not empty and all its characters are in set.
func onlyRunes(s string, set func(rune) bool) bool {
	for _, r := range s {
		if !set(r) {
			return false
		}
	}
	return s != ""
}
