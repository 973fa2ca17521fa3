package text

import (
	"strings"
	"sync"
)

// runeClass is a set of the character classes that the Moses rules ask for.
// The sets are sacremoses' own lists and Python 3.11's: Go's unicode tables
// belong to another version of Unicode and draw other lines.
type runeClass uint16

const (
	classAlnum    runeClass = 1 << iota // word characters
	classAlpha                          // letters of the tokeniser
	classLetter                         // letters of the detokeniser
	classNumber                         // numbers, fractions and numerals too
	classLower                          // lower-case letters
	classCurrency                       // currency signs
	classHangul                         // Korean
	classHan                            // Chinese characters
	classKana                           // Japanese syllables
	classCJK                            // what the detokeniser joins
	classSpace                          // white space
	classDigit                          // decimal digits
)

// runeRange is every stride-th character from lo to hi.
type runeRange struct{ lo, hi, stride rune }

// runeClasses maps each character to its classes by pages of 256.
type runeClasses struct {
	pages [0x1100]*[256]runeClass
}

func (c *runeClasses) of(r rune) runeClass { return c.pages[r>>8][r&0xff] }

var mosesClasses = sync.OnceValue(func() *runeClasses {
	c, empty := new(runeClasses), new([256]runeClass)
	for i := range c.pages {
		c.pages[i] = empty
	}
	for class, ranges := range map[runeClass][]runeRange{
		classAlnum: alnumRanges, classAlpha: alphaRanges, classLetter: letterRanges,
		classNumber: numberRanges, classLower: lowerRanges, classCurrency: currencyRanges,
		classHangul: hangulRanges, classHan: hanRanges, classKana: kanaRanges,
		classCJK: cjkRanges, classSpace: spaceRanges, classDigit: digitRanges,
	} {
		for _, g := range ranges {
			for r := g.lo; r <= g.hi; r += g.stride {
				page := c.pages[r>>8]
				if page == empty {
					page = new([256]runeClass)
					c.pages[r>>8] = page
				}
				page[r&0xff] |= class
			}
		}
	}
	return c
})

// isSpace tells white space as Python's str.isspace does: U+001C to U+001F
// and U+0085 are, U+200B is not.
func isSpace(r rune) bool {
	switch {
	case r < 0x80:
		return r == ' ' || '\t' <= r && r <= '\r' || 0x1c <= r && r <= 0x1f
	case r < 0x1680:
		return r == 0x85 || r == 0xa0
	}
	return r == 0x1680 || 0x2000 <= r && r <= 0x200a || r == 0x2028 || r == 0x2029 ||
		r == 0x202f || r == 0x205f || r == 0x3000
}

// splitSpace returns the words of s as Python's str.split does.
func splitSpace(s string) []string { return strings.FieldsFunc(s, isSpace) }

// trimSpace strips s as Python's str.strip does.
func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }
