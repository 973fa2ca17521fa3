package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences cuts s into sentences as NLTK's PunktSentenceTokenizer does.
func (m *punktModel) sentences(s string) []string {
	type span struct{ from, to int }
	var spans []span
	from := 0
	for _, c := range sentenceEnds(s) {
		if m.breaks(s[c.from : c.end+c.behind]) {
			spans = append(spans, span{from, c.end})
			from = c.end + c.gap
		}
	}
	spans = append(spans, span{from, len(strings.TrimRightFunc(s, isPythonSpace))})

	// Closing quotes and brackets at the head of a sentence belong to the last.
	var out []string
	shift := 0
	for i, p := range spans {
		p.from += shift
		shift = 0
		if i+1 < len(spans) {
			next := spans[i+1]
			if next.from < next.to {
				kept, skipped := closers(s[next.from:next.to])
				if skipped > 0 {
					p.to, shift = next.from+kept, skipped
				}
			}
		}
		if p.from < p.to {
			out = append(out, s[p.from:p.to])
		}
	}
	return out
}

// closers returns the length of the quotes and brackets at the head of s that
// white space, "--" or the end follows, without and with that space.
func closers(s string) (kept, skipped int) {
	rest := strings.TrimLeft(s, `"')]}`)
	kept = len(s) - len(rest)
	if kept == 0 || rest == "" || strings.HasPrefix(rest, "--") {
		return kept, kept
	}
	skipped = len(s) - len(strings.TrimLeftFunc(rest, isPythonSpace))
	if skipped == kept {
		return 0, 0
	}
	return kept, skipped
}

// sentenceEnd is a mark that may end a sentence, in bytes of the text.
type sentenceEnd struct {
	from   int // start of the word that it is part of
	at     int // the mark
	end    int // behind the mark
	behind int // length of the white space and word behind it, or of the bracket
	gap    int // length of that white space
}

// sentenceEnds finds the marks of s before white space and a word, or before a
// bracket or the like; of several in one word, the last.
func sentenceEnds(s string) []sentenceEnd {
	var ends []sentenceEnd
	last := sentenceEnd{} // not yet among ends
	found := false
	for i := 0; i < len(s); i++ {
		if s[i] != '.' && s[i] != '?' && s[i] != '!' {
			continue
		}
		behind, gap := afterMark(s[i+1:])
		if behind == 0 {
			continue
		}
		// The word begins behind the last space since the mark before; Punkt
		// takes a space right at that mark for none.
		from := last.from
		if at := strings.LastIndexAny(s[last.at:i], " \t\n\r\v\f"); at > 0 {
			from = last.at + at + 1
		}
		if found && last.at <= from {
			ends = append(ends, last)
		}
		last, found = sentenceEnd{from, i, i + 1, behind, gap}, true
	}
	if found {
		ends = append(ends, last)
	}
	return ends
}

// afterMark returns the length of what a mark must have behind it, or 0.
func afterMark(s string) (behind, gap int) {
	if s == "" {
		return 0, 0
	}
	if isNonWord(s[0]) {
		return 1, 0
	}
	rest := strings.TrimLeftFunc(s, isPythonSpace)
	gap = len(s) - len(rest)
	if gap == 0 || rest == "" {
		return 0, 0
	}
	if n := strings.IndexFunc(rest, isPythonSpace); n >= 0 {
		rest = rest[:n]
	}
	return gap + len(rest), gap
}

// isNonWord tells the characters that no word of Punkt's holds.
func isNonWord(c byte) bool { return strings.IndexByte(`)";}]*:@'({[?!`, c) >= 0 }

// punktToken is a word with what Punkt knows of it.
type punktToken struct {
	word     string
	kind     string // in small letters; "##number##" for numbers
	breaks   bool   // ends a sentence
	abbr     bool   // is an abbreviation
	ellipsis bool   // is dots
}

// breaks tells whether a sentence ends within s before its last word.
func (m *punktModel) breaks(s string) bool {
	var tokens []punktToken
	for _, word := range punktWords(s) {
		tokens = append(tokens, m.classify(word))
	}
	for i := 0; i+1 < len(tokens); i++ {
		if m.revise(&tokens[i], &tokens[i+1]); tokens[i].breaks {
			return true
		}
	}
	return false
}

// classify is Punkt's first pass: what the word alone tells.
func (m *punktModel) classify(word string) punktToken {
	t := punktToken{word: word, kind: pythonLower(word)}
	if isPunktNumber(t.kind) {
		t.kind = "##number##"
	}
	switch stem, period := strings.CutSuffix(word, "."); {
	case word == "." || word == "?" || word == "!":
		t.breaks = true
	case strings.Trim(word, ".") == "":
		t.ellipsis = true
	case period && !strings.HasSuffix(stem, "."):
		stem = pythonLower(stem)
		t.abbr = m.abbreviations[stem] || m.abbreviations[stem[strings.LastIndexByte(stem, '-')+1:]]
		t.breaks = !t.abbr
	}
	return t
}

// revise is Punkt's second pass: what the next word tells about t.
func (m *punktModel) revise(t, next *punktToken) {
	if !strings.HasSuffix(t.word, ".") {
		return
	}
	kind, nextKind := t.kindNoPeriod(), next.kind
	if next.breaks {
		nextKind = next.kindNoPeriod()
	}
	first, size := utf8.DecodeRuneInString(t.word)
	initial := t.word[size:] == "." && isWord(first) && mosesClasses().of(first)&classDigit == 0
	if m.collocations[kind+"\t"+nextKind] {
		t.breaks, t.abbr = false, true
		return
	}
	head, _ := utf8.DecodeRuneInString(next.word)
	starts, known := m.startsSentence(next.word, nextKind)
	if (t.abbr || t.ellipsis) && !initial {
		if known && starts || isPythonUpper(head) && m.starters[nextKind] {
			t.breaks = true
			return
		}
	}
	if !initial && kind != "##number##" {
		return
	}
	if known && !starts || !known && initial && isPythonUpper(head) && m.contexts[nextKind]&punktLower == 0 {
		t.breaks, t.abbr = false, true
	}
}

func (t *punktToken) kindNoPeriod() string {
	if len(t.kind) > 1 {
		return strings.TrimSuffix(t.kind, ".")
	}
	return t.kind
}

// startsSentence tells from how the model saw a word written whether it begins
// a sentence here, if that says anything.
func (m *punktModel) startsSentence(word, kind string) (starts, known bool) {
	if len(word) == 1 && strings.Contains(";:,.!?", word) {
		return false, true
	}
	head, _ := utf8.DecodeRuneInString(word)
	seen := m.contexts[kind]
	if isPythonUpper(head) && seen&punktLower != 0 && seen&punktMidUpper == 0 {
		return true, true
	}
	if isPythonLower(head) && (seen&punktUpper != 0 || seen&punktBeginLower == 0) {
		return false, true
	}
	return false, false
}

// punktWords splits s into Punkt's words, which keep their periods.
func punktWords(s string) []string {
	var words []string
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if isPythonSpace(r) {
			i += size
			continue
		}
		n := multiPunct(s[i:])
		if n == 0 {
			n = size
			if strings.IndexByte("(\"`{[:;&#*@)}]-,", s[i]) < 0 {
				for !endsWord(s[i+n:]) {
					_, size = utf8.DecodeRuneInString(s[i+n:])
					n += size
				}
			}
		}
		words = append(words, s[i:i+n])
		i += n
	}
	return words
}

// endsWord tells whether a word ends before s.
func endsWord(s string) bool {
	s = strings.TrimPrefix(s, ",")
	r, _ := utf8.DecodeRuneInString(s)
	return s == "" || isPythonSpace(r) || isNonWord(s[0]) || multiPunct(s) > 0
}

// multiPunct returns the length of the dashes or dots at the head of s, if
// there are several (dots with white space between count), or 0.
func multiPunct(s string) int {
	for _, c := range "-." {
		if n := len(s) - len(strings.TrimLeft(s, string(c))); n > 1 {
			return n
		}
	}
	// ". . .": the white space may be any one character.
	n, dots := 0, 0
	for strings.HasPrefix(s[n:], ".") {
		dots++
		r, size := utf8.DecodeRuneInString(s[n+1:])
		if size == 0 || !isPythonSpace(r) || !strings.HasPrefix(s[n+1+size:], ".") {
			n++
			break
		}
		n += 1 + size
	}
	if dots < 3 {
		return 0
	}
	return n
}

// isPunktNumber tells -1.5, .5, 1,000 and the like, with or without a period.
func isPunktNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s != "" && (s[0] == '.' || s[0] == ',') {
		s = s[1:]
	}
	for i, r := range s {
		if mosesClasses().of(r)&classDigit == 0 && (i == 0 || r != ',' && r != '.' && r != '-') {
			return false
		}
	}
	return s != ""
}

// pythonLower is Python's str.lower but for the Greek final sigma.
func pythonLower(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
}

func isPythonUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func isPythonLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }
