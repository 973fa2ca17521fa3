package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// fairseq's byte symbols: Latin-1 characters that are printable stand for
// themselves, other bytes for the character 256 higher.
func byteRune(c byte) rune {
	if 32 <= c && c <= 126 || 161 <= c && c <= 172 || c >= 174 {
		return rune(c)
	}
	return 256 + rune(c)
}

func runeByte(r rune) (byte, bool) {
	if r < 0 || r >= 512 {
		return 0, false
	}
	c := byte(r)
	return c, byteRune(c) == r
}

// byteEncode writes the bytes of a line as byte symbols, after collapsing
// white space.
func byteEncode(line string) string {
	line = collapseSpace(line)
	var b strings.Builder
	b.Grow(len(line) * 2)
	for i := range len(line) {
		b.WriteRune(byteRune(line[i]))
	}
	return b.String()
}

// byteDecode is the text that byte symbols stand for, "" if they are none or
// the bytes are not UTF-8.
func byteDecode(symbols []rune) string {
	b := make([]byte, len(symbols))
	for i, r := range symbols {
		c, ok := runeByte(r)
		if !ok {
			return ""
		}
		b[i] = c
	}
	if !utf8.Valid(b) {
		return ""
	}
	return string(b)
}

// smartByteDecode is byteDecode, where bytes that do not belong to a character
// are left out so that as many characters as possible remain.
func smartByteDecode(s string) string {
	symbols := []rune(s)
	if out := byteDecode(symbols); out != "" {
		return out
	}
	most := make([]int32, len(symbols)+1) // characters in the first i symbols
	from := make([]int32, len(symbols)+1) // where the last step began
	for i := 1; i <= len(symbols); i++ {
		most[i], from[i] = most[i-1], int32(i-1)
		for j := 1; j <= min(4, i); j++ {
			if most[i-j]+1 > most[i] && byteDecode(symbols[i-j:i]) != "" {
				most[i], from[i] = most[i-j]+1, int32(i-j)
			}
		}
	}
	var parts []string
	for i := int32(len(symbols)); i > 0; i = from[i] {
		if most[i] == most[from[i]]+1 {
			parts = append(parts, byteDecode(symbols[from[i]:i]))
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

// spaced puts a space between all characters of s.
func spaced(s string) string {
	var b strings.Builder
	b.Grow(2 * len(s))
	for i, r := range s {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func escapeSpaces(s string) string { return strings.ReplaceAll(s, " ", spaceSymbol) }
func unescapeSpaces(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, " ", ""), spaceSymbol, " ")
}
