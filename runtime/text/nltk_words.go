package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// treebankWords splits one sentence as NLTK's NLTKWordTokenizer does: rules
// that put spaces around what they find, each over the whole sentence.
func treebankWords(s string) []string {
	s = padQuotes(s)
	if strings.HasPrefix(s, `"`) {
		s = "``" + s[1:]
	}
	s = strings.ReplaceAll(s, "``", " `` ")
	s = openQuotes(s)
	s = splitApostropheLetter(s)

	s = splitFinalPeriod(s, "])}>\"'»”’ ", " ")
	s = splitColons(s)
	s = padDots(s)
	s = padRunes(s, ";@#$%&")
	s = splitFinalPeriod(s, "])}>\"'", "")
	s = padRunes(s, "?!")
	s = replaceFunc(s, "' ", func(before, _ string) (int, string, bool) {
		return 0, " ' ", before != "" && before[len(before)-1] != '\''
	})
	s = padRunes(s, "*")
	s = padRunes(s, "][(){}<>")
	s = " " + strings.ReplaceAll(s, "--", " -- ") + " "

	s = padRunes(s, "»”’")
	s = strings.ReplaceAll(s, "''", " '' ")
	s = strings.ReplaceAll(s, `"`, " '' ")
	s = replaceFunc(s, "'", splitClitic)
	s = replaceFunc(s, "'", splitLongClitic)
	s = splitNot(splitNot(s, "n't "), "N'T ")

	for _, c := range treebankContractions {
		s = splitContraction(s, c)
	}
	return pythonFields(s)
}

// padRunes puts spaces around each character of set.
func padRunes(s, set string) string {
	for i, r := range set {
		if c := set[i : i+utf8.RuneLen(r)]; strings.Contains(s, c) {
			s = strings.ReplaceAll(s, c, " "+c+" ")
		}
	}
	return s
}

// padQuotes puts spaces around each opening quotation mark and around each run
// of backquotes.
func padQuotes(s string) string {
	return padRuns(padRunes(s, "«“‘„"), '`', 1)
}

// padDots puts spaces around runs of two dots or more.
func padDots(s string) string { return padRuns(s, '.', 2) }

func padRuns(s string, c byte, atLeast int) string {
	if strings.IndexByte(s, c) < 0 {
		return s
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(s, c)
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		end := at + 1
		for end < len(s) && s[end] == c {
			end++
		}
		if end-at >= atLeast {
			out.WriteString(s[:at] + " " + s[at:end] + " ")
		} else {
			out.WriteString(s[:end])
		}
		s = s[end:]
	}
}

// openQuotes writes a double quote, or two apostrophes, behind a space or an
// opening bracket as "“".
func openQuotes(s string) string {
	if !strings.Contains(s, `"`) && !strings.Contains(s, "''") {
		return s
	}
	var out strings.Builder
	for {
		at := strings.IndexAny(s, " ([{<")
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:at+1])
		s = s[at+1:]
		rest, ok := strings.CutPrefix(s, `"`)
		if !ok {
			rest, ok = strings.CutPrefix(s, "''")
		}
		if ok {
			out.WriteString(" `` ")
			s = rest
		}
	}
}

// splitApostropheLetter sets an apostrophe apart from a single letter or digit
// behind it, other than those of 's, 'm, 't, 'd and n.
func splitApostropheLetter(s string) string {
	return replaceFunc(s, "'", func(_, after string) (int, string, bool) {
		r, size := utf8.DecodeRuneInString(after)
		next, _ := utf8.DecodeRuneInString(after[size:])
		if size == 0 || !isWord(r) || len(after) > size && isWord(next) || strings.ContainsRune("mtsdnMTSDNſ", r) {
			return 0, "", false
		}
		return size, "' " + after[:size], true
	})
}

// splitFinalPeriod sets apart the period that ends s before closing characters
// and white space, unless it follows another, and the closing ones behind
// between.
func splitFinalPeriod(s, closing, between string) string {
	at := strings.LastIndexByte(s, '.')
	if at < 1 || s[at-1] == '.' {
		return s
	}
	rest := s[at+1:]
	end := len(rest) - len(strings.TrimLeft(rest, closing))
	if pythonStrip(rest[end:]) != "" {
		return s
	}
	return s[:at] + " ." + between + rest[:end] + " "
}

// splitColons puts spaces around each colon and comma that no digit follows;
// the match takes the character behind it.
func splitColons(s string) string {
	if !strings.ContainsAny(s, ":,") {
		return s
	}
	var out strings.Builder
	for {
		at := strings.IndexAny(s, ":,")
		if at < 0 || at == len(s)-1 {
			break
		}
		r, size := utf8.DecodeRuneInString(s[at+1:])
		if mosesClasses().of(r)&classDigit != 0 {
			out.WriteString(s[:at+1])
			s = s[at+1:]
		} else {
			out.WriteString(s[:at] + " " + s[at:at+1] + " " + s[at+1:at+1+size])
			s = s[at+1+size:]
		}
	}
	out.WriteString(s)
	s = out.String()
	body := strings.TrimSuffix(s, "\n")
	if n := len(body); n > 0 && (body[n-1] == ':' || body[n-1] == ',') {
		return body[:n-1] + " " + body[n-1:] + " " + s[n:]
	}
	return s
}

// splitClitic sets 's, 'm, 'd and a lone apostrophe apart before a space.
func splitClitic(before, after string) (int, string, bool) {
	if before == "" || strings.IndexByte("' ", before[len(before)-1]) >= 0 {
		return 0, "", false
	}
	if len(after) > 1 && after[1] == ' ' && strings.IndexByte("sSmMdD", after[0]) >= 0 {
		return 2, " '" + after[:2], true
	}
	return 1, " ' ", strings.HasPrefix(after, " ")
}

// splitLongClitic sets 'll, 're and 've apart before a space.
func splitLongClitic(before, after string) (int, string, bool) {
	if before == "" || strings.IndexByte("' ", before[len(before)-1]) >= 0 || len(after) < 3 || after[2] != ' ' {
		return 0, "", false
	}
	switch after[:2] {
	case "ll", "LL", "re", "RE", "ve", "VE":
		return 3, " '" + after[:3], true
	}
	return 0, "", false
}

// splitNot sets "n't " apart from what precedes it.
func splitNot(s, not string) string {
	return replaceFunc(s, not, func(before, _ string) (int, string, bool) {
		return 0, " " + not, before != "" && strings.IndexByte("' ", before[len(before)-1]) < 0
	})
}

// contraction is two words written as one, in small letters.
type contraction struct {
	lead   string // what precedes it; otherwise it begins a word
	first  string
	second string
	space  bool // white space follows; otherwise it ends a word
}

var treebankContractions = []contraction{
	{first: "can", second: "not"}, {first: "d", second: "'ye"}, {first: "gim", second: "me"},
	{first: "gon", second: "na"}, {first: "got", second: "ta"}, {first: "lem", second: "me"},
	{first: "more", second: "'n"}, {first: "wan", second: "na", space: true},
	{lead: " ", first: "'t", second: "is"}, {lead: " ", first: "'t", second: "was"},
}

// splitContraction puts spaces around both words of each c in s, in any case.
func splitContraction(s string, c contraction) string {
	heads := c.first[:1] + strings.ToUpper(c.first[:1])
	if c.lead != "" {
		heads = c.lead
	}
	var out strings.Builder
	done := 0
	for i := strings.IndexAny(s, heads); i >= 0; {
		end := i + 1
		before, size := utf8.DecodeLastRuneInString(s[:i])
		if n, m := matchContraction(s[i:], c); n > 0 && (c.lead != "" || size == 0 || !isWord(before)) {
			end = i + m
			out.WriteString(s[done:i] + " " + s[i+len(c.lead):i+n] + " " + s[i+n:end] + " ")
			done = end
		}
		if i = strings.IndexAny(s[end:], heads); i >= 0 {
			i += end
		}
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// matchContraction returns where the words of c end at the head of s, or zeros.
func matchContraction(s string, c contraction) (first, second int) {
	if !strings.HasPrefix(s, c.lead) {
		return 0, 0
	}
	first = len(c.lead)
	n := prefixFold(s[first:], c.first)
	if n == 0 {
		return 0, 0
	}
	first += n
	if n = prefixFold(s[first:], c.second); n == 0 {
		return 0, 0
	}
	second = first + n
	next, size := utf8.DecodeRuneInString(s[second:])
	if c.space && (size == 0 || !isPythonSpace(next)) || !c.space && size > 0 && isWord(next) {
		return 0, 0
	}
	return first, second
}

// prefixFold returns the length of the prefix of s that equals the small
// letters of word when case is ignored as Python's re does, or 0.
func prefixFold(s, word string) int {
	at := 0
	for _, want := range word {
		r, size := utf8.DecodeRuneInString(s[at:])
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		switch r {
		case 'İ', 'ı':
			r = 'i'
		case 'ſ':
			r = 's'
		}
		if size == 0 || r != want {
			return 0
		}
		at += size
	}
	return at
}

// isWord tells what Python's \w matches: letters, numbers and the underscore.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
}
