package text

import "sync"

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
		classCJK: cjkRanges, classDigit: digitRanges,
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
