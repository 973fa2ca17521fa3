package text

import (
	"errors"
	"fmt"
	"strings"
)

// Python's \d, \w and \s know all of Unicode, Go's only ASCII.
const (
	patternDigit    = `\p{Nd}`
	patternNotDigit = `\P{Nd}`
	patternWord     = `\p{L}\p{N}_`
	patternSpace    = `\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`
)

// translatePattern rewrites a Python regular expression for Go's package
// regexp with the same meaning. What Go has no equal of (looking around, back
// references, Unicode word boundaries) is an error.
func translatePattern(p string) (string, error) {
	t := patternTranslator{in: p}
	for t.at < len(t.in) {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

type patternTranslator struct {
	in  string
	at  int
	out strings.Builder
}

func (t *patternTranslator) rest() string { return t.in[t.at:] }

func (t *patternTranslator) copy(n int) {
	t.out.WriteString(t.in[t.at : t.at+n])
	t.at += n
}

func (t *patternTranslator) next() error {
	s := t.rest()
	switch s[0] {
	case '\\':
		return t.escape(false)
	case '[':
		return t.class()
	case '{':
		if end := strings.IndexByte(s, '}'); end > 1 && s[1] == ',' && strings.Trim(s[2:end], "0123456789") == "" {
			// Python's {,n} is {0,n}, which Go takes for literal text.
			t.out.WriteString("{0")
			t.at++
			return nil
		}
	case '(':
		if strings.HasPrefix(s, "(?") {
			return t.group()
		}
	}
	t.copy(1)
	return nil
}

// group copies the opening of a group that is more than a parenthesis.
func (t *patternTranslator) group() error {
	s := t.rest()
	switch {
	case strings.HasPrefix(s, "(?:"):
		t.copy(3)
		return nil
	case strings.HasPrefix(s, "(?P<"):
		t.copy(4)
		return nil
	case strings.HasPrefix(s, "(?="), strings.HasPrefix(s, "(?!"), strings.HasPrefix(s, "(?<"):
		return errors.New("looking ahead or behind has no equal here")
	}
	n := 2
	for n < len(s) && strings.IndexByte("ims-", s[n]) >= 0 {
		n++
	}
	if n > 2 && n < len(s) && s[n] == ':' {
		t.copy(n + 1)
		return nil
	}
	return fmt.Errorf("group %q has no equal here", shorten(s))
}

// escape translates a backslash and what belongs to it.
func (t *patternTranslator) escape(inClass bool) error {
	s := t.rest()
	if len(s) < 2 {
		return errors.New("backslash at the end")
	}
	c := s[1]
	switch {
	case c == 'x':
		return t.hex(2)
	case c == 'u':
		return t.hex(4)
	case c == 'U':
		return t.hex(8)
	case '0' <= c && c <= '9':
		return t.octal(inClass)
	case strings.IndexByte("afnrtv", c) >= 0:
		t.copy(2)
		return nil
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return t.letter(c, inClass)
	case c < 0x80:
		t.copy(2)
		return nil
	}
	t.at++ // Python lets any other character be escaped
	return nil
}

func (t *patternTranslator) letter(c byte, inClass bool) error {
	open, shut := "[", "]"
	if inClass {
		open, shut = "", ""
	}
	switch {
	case c == 'd':
		t.out.WriteString(patternDigit)
	case c == 'D':
		t.out.WriteString(patternNotDigit)
	case c == 'w':
		t.out.WriteString(open + patternWord + shut)
	case c == 's':
		t.out.WriteString(open + patternSpace + shut)
	case c == 'W' && !inClass:
		t.out.WriteString("[^" + patternWord + "]")
	case c == 'S' && !inClass:
		t.out.WriteString("[^" + patternSpace + "]")
	case c == 'A' && !inClass:
		t.out.WriteString(`\A`)
	case c == 'Z' && !inClass:
		t.out.WriteString(`\z`)
	case c == 'b' && inClass:
		t.out.WriteString(`\x08`)
	default:
		return fmt.Errorf(`\%c has no equal here`, c)
	}
	t.at += 2
	return nil
}

// hex translates \x, \u and \U with exactly n digits.
func (t *patternTranslator) hex(n int) error {
	s := t.rest()
	if len(s) < 2+n || strings.Trim(s[2:2+n], "0123456789abcdefABCDEF") != "" {
		return fmt.Errorf(`\%c wants %d hexadecimal digits`, s[1], n)
	}
	t.out.WriteString(`\x{` + s[2:2+n] + "}")
	t.at += 2 + n
	return nil
}

// octal translates \0, \01, \012 and \123; other numbers refer to groups.
func (t *patternTranslator) octal(inClass bool) error {
	s := t.rest()
	n := 1
	for n < 4 && n < len(s) && '0' <= s[n] && s[n] <= '7' {
		n++
	}
	if s[1] != '0' && n != 4 && !inClass {
		return errors.New("a reference to a group has no equal here")
	}
	if n == 1 {
		return fmt.Errorf("bad octal escape %q", shorten(s))
	}
	value := 0
	for _, c := range s[1:n] {
		value = value*8 + int(c-'0')
	}
	if value > 0o377 {
		return fmt.Errorf("octal escape %q is beyond \\377", s[:n])
	}
	fmt.Fprintf(&t.out, `\x{%x}`, value)
	t.at += n
	return nil
}

// class translates a [set].
func (t *patternTranslator) class() error {
	t.copy(1)
	if strings.HasPrefix(t.rest(), "^") {
		t.copy(1)
	}
	for first := true; ; first = false {
		s := t.rest()
		switch {
		case s == "":
			return errors.New("unterminated set")
		case s[0] == ']' && first:
			t.out.WriteString(`\]`)
			t.at++
		case s[0] == ']':
			t.copy(1)
			return nil
		case s[0] == '[':
			t.out.WriteString(`\[`) // a bracket inside a set is only itself
			t.at++
		case s[0] == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		default:
			t.copy(1)
		}
	}
}
