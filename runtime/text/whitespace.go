package text

import (
	"strings"
	"unicode/utf8"
)

// The reference tools are Python programs, whose notion of white space (str's
// strip and split, and \s in a regular expression) has more characters than
// Go's: the separators U+001C to U+001F belong to it too.

// isPythonSpace reports whether Python's str.isspace is true of r.
func isPythonSpace(r rune) bool {
	switch {
	case r < 0x80:
		return r == ' ' || '\t' <= r && r <= '\r' || 0x1c <= r && r <= 0x1f
	case r < 0x1680:
		return r == 0x85 || r == 0xa0
	}
	switch {
	case 0x2000 <= r && r <= 0x200a:
		return true
	case r == 0x1680, r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return true
	}
	return false
}

// pythonStrip is Python's str.strip without arguments.
func pythonStrip(s string) string { return strings.TrimFunc(s, isPythonSpace) }

// pythonFields is Python's str.split without arguments.
func pythonFields(s string) []string { return strings.FieldsFunc(s, isPythonSpace) }

// collapseSpace replaces every run of white space by one space, as
// re.sub(r"\s+", " ", s).
func collapseSpace(s string) string {
	if !needsCollapse(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	inside := false
	for i, r := range s {
		if isPythonSpace(r) {
			if !inside {
				b.WriteByte(' ')
			}
			inside = true
			continue
		}
		inside = false
		_, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(s[i : i+n])
	}
	return b.String()
}

func needsCollapse(s string) bool {
	previous := false
	for _, r := range s {
		space := isPythonSpace(r)
		if space && (previous || r != ' ') {
			return true
		}
		previous = space
	}
	return false
}

// textLines splits the contents of a text file as Python's text mode does:
// "\n", "\r\n" and a lone "\r" end a line. There is no empty line after a
// final line end.
func textLines(s string) []string {
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// ValidUTF8 returns s as UTF-8, and how many ill-formed sequences there were:
// each longest start of a character that does not go on as it should becomes
// one U+FFFD, as the Unicode standard recommends (section 3.9) and Python's
// bytes.decode("utf-8", errors="replace") does.
func ValidUTF8(s string) (valid string, replaced int) {
	if utf8.ValidString(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n <= 1 {
			n = invalidLength(s)
			replaced++
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String(), replaced
}

// replaceInvalid is ValidUTF8 where nobody counts.
func replaceInvalid(s string) string {
	s, _ = ValidUTF8(s)
	return s
}

// invalidLength is the length of the ill-formed sequence that s begins with:
// as many bytes as could have begun one character, at least one.
func invalidLength(s string) int {
	low, high, want := byte(0x80), byte(0xbf), 0
	switch c := s[0]; {
	case 0xc2 <= c && c <= 0xdf:
		want = 1
	case 0xe0 <= c && c <= 0xef:
		want = 2
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	case 0xf0 <= c && c <= 0xf4:
		want = 3
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for n <= want && n < len(s) && low <= s[n] && s[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return n
}
