package text

import (
	"strings"
	"unicode/utf8"
)

// squeezeBlanks makes each run of spaces (U+0020 alone) one space.
func squeezeBlanks(s string) string {
	at := strings.Index(s, "  ")
	if at < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for at >= 0 {
		out.WriteString(s[:at+1])
		s = strings.TrimLeft(s[at:], " ")
		at = strings.Index(s, "  ")
	}
	out.WriteString(s)
	return out.String()
}

// closeParenthesis takes the space out of ") ." and the like.
func closeParenthesis(s string) string {
	return replaceFunc(s, ") ", func(before, after string) (skip int, repl string, ok bool) {
		if after == "" || !strings.Contains(".!:?;,", after[:1]) {
			return 0, "", false
		}
		return 1, ")" + after[:1], true
	})
}

// joinPercent takes the space out of "5 %".
func joinPercent(s string) string {
	return replaceFunc(s, " %", func(before, _ string) (int, string, bool) {
		return 0, "%", endsInDigit(before)
	})
}

// joinDigits puts separator for the no-break space between two digits; the
// second of them is used up, so that "1 2 3" keeps its second space.
func joinDigits(s, separator string) string {
	return replaceFunc(s, nbsp, func(before, after string) (int, string, bool) {
		r, size := utf8.DecodeRuneInString(after)
		if !endsInDigit(before) || mosesClasses().of(r)&classDigit == 0 {
			return 0, "", false
		}
		return size, separator + after[:size], true
	})
}

// quoteAfterComma writes `",.` as `,."`.
func quoteAfterComma(s string) string {
	return replaceFunc(s, `"`, func(_, after string) (int, string, bool) {
		n := len(after) - len(strings.TrimLeft(after, ",."))
		return n, after[:n] + `"`, n > 0
	})
}

// quoteBeforePeriod writes `."` as `".`, except before a tag and at the end of
// the line. A match takes white space and one character behind the quote.
func quoteBeforePeriod(s string) string {
	if !strings.Contains(s, `."`) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	done := 0 // what is before is written, and no match may reach back into it
	for at := 0; ; {
		next := strings.Index(s[at:], `."`)
		if next < 0 {
			break
		}
		quote := at + next + 1
		dots := quote
		for dots > done && s[dots-1] == '.' {
			dots--
		}
		behind := s[quote+1:]
		blank := len(behind) - len(strings.TrimLeftFunc(behind, isPythonSpace))
		_, size := utf8.DecodeRuneInString(behind[blank:])
		if size > 0 && behind[blank] == '<' {
			size = 0
		}
		at = quote + 1
		if blank+size == 0 {
			continue
		}
		at += blank + size
		out.WriteString(s[done:dots])
		out.WriteByte('"')
		out.WriteString(s[dots:quote])
		out.WriteString(s[quote+1 : at])
		done = at
	}
	out.WriteString(s[done:])
	return out.String()
}

// replaceFunc looks for old in s from left to right. f gets what lies between
// the end of the last match and old, and what is behind old; it returns how
// many bytes of the latter the match takes too and what to write for it all.
func replaceFunc(s, old string, f func(before, after string) (skip int, repl string, ok bool)) string {
	at := strings.Index(s, old)
	if at < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	done := 0
	for at >= 0 {
		end := at + len(old)
		if skip, repl, ok := f(s[done:at], s[end:]); ok {
			out.WriteString(s[done:at])
			out.WriteString(repl)
			end += skip
			done = end
		}
		if at = strings.Index(s[end:], old); at >= 0 {
			at += end
		}
	}
	out.WriteString(s[done:])
	return out.String()
}

func endsInDigit(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return mosesClasses().of(r)&classDigit != 0
}
