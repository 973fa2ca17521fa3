package text

import (
	"bytes"
	"strings"
)

// sacremoses keeps runs of dots out of the other rules by writing n > 1 dots
// as n-1 times "DOT" and "DOTMULTI". The words show in the result when the
// text itself holds them, so they are written here too.
const (
	dotWord   = "DOT"
	multiWord = "DOTMULTI"
)

var multiRunes = []rune(multiWord)

// hasDots tells whether markDots would change src: two dots side by side, or
// "DOTMULTI." in the text itself.
func hasDots(src []rune) bool {
	for i := 1; i < len(src); i++ {
		if src[i] == '.' && (src[i-1] == '.' || endsWithMulti(src[:i])) {
			return true
		}
	}
	return false
}

func endsWithMulti(src []rune) bool {
	if len(src) < len(multiRunes) {
		return false
	}
	tail := src[len(src)-len(multiRunes):]
	for i, r := range multiRunes {
		if tail[i] != r {
			return false
		}
	}
	return true
}

// markDots writes each run of dots as words between spaces. sacremoses
// takes one dot off every run per round; a run's last round matches the
// character behind it too and puts a space before that, unless the round
// before used up the first letter of this run's word, which only happens when
// the text itself holds "DOTMULTI." twice in a row.
func markDots(dst, src []rune) []rune {
	usedUp := -1 // index in src of the character that the last match took
	for i := 0; i < len(src); {
		n := 0
		for i+n < len(src) && src[i+n] == '.' {
			n++
		}
		literal := n == 1 && endsWithMulti(src[:i])
		if n < 2 && !literal {
			dst = append(dst, src[i])
			i++
			continue
		}
		var taken bool
		if literal {
			// The word is already written: "DOTMULTI." becomes "DOTDOTMULTI".
			taken = usedUp == i-len(multiRunes)
			dst = append(dst[:len(dst)-len(multiRunes)], []rune(dotWord+multiWord)...)
		} else {
			dst = append(dst, ' ')
			for range n - 1 {
				dst = append(dst, 'D', 'O', 'T')
			}
			dst = append(dst, multiRunes...)
		}
		i += n
		if !taken && i < len(src) {
			dst = append(dst, ' ')
			if n <= 2 {
				usedUp = i
			}
		}
	}
	return dst
}

// restoreDots returns line with the words of markDots made dots again: k times
// "DOT" and then "DOTMULTI" are k+1 dots.
func restoreDots(line []byte) string {
	if !bytes.Contains(line, []byte(multiWord)) {
		return string(line)
	}
	var out strings.Builder
	rest := line
	for {
		at := bytes.Index(rest, []byte(multiWord))
		if at < 0 {
			break
		}
		from, dots := at, 1
		for from >= len(dotWord) && string(rest[from-len(dotWord):from]) == dotWord {
			from -= len(dotWord)
			dots++
		}
		out.Write(rest[:from])
		for range dots {
			out.WriteByte('.')
		}
		rest = rest[at+len(multiWord):]
	}
	out.Write(rest)
	return out.String()
}
