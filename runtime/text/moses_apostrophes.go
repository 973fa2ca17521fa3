package text

// apostropheStyle is how a language sets apostrophes apart.
type apostropheStyle int

const (
	apostropheAlone   apostropheStyle = iota // always a token of its own
	apostropheEnglish                        // goes with what follows: do n't → don 't
	apostropheRomance                        // goes with what precedes: l' homme
)

func apostropheStyleOf(lang string) apostropheStyle {
	switch lang {
	case "en":
		return apostropheEnglish
	case "fr", "it":
		return apostropheRomance
	}
	return apostropheAlone
}

// apostropheRule says what to do with an apostrophe between two characters.
type apostropheRule struct {
	before, after func(r rune, c runeClass) bool
	left, right   bool // write a space to the left and right of it
}

func isAlpha(_ rune, c runeClass) bool    { return c&classAlpha != 0 }
func isNotAlpha(_ rune, c runeClass) bool { return c&classAlpha == 0 }
func isNumber(_ rune, c runeClass) bool   { return c&classNumber != 0 }
func isNeither(_ rune, c runeClass) bool  { return c&(classAlpha|classNumber) == 0 }
func isPlainS(r rune, _ runeClass) bool   { return r == 's' }

// The rules in the order in which they are applied, each to the whole line.
var (
	englishApostrophes = []apostropheRule{
		{isNotAlpha, isNotAlpha, true, true},
		{isNeither, isAlpha, true, true},
		{isAlpha, isNotAlpha, true, true},
		{isAlpha, isAlpha, true, false},
		{isNumber, isPlainS, true, false},
	}
	romanceApostrophes = []apostropheRule{
		{isNotAlpha, isNotAlpha, true, true},
		{isNotAlpha, isAlpha, true, true},
		{isAlpha, isNotAlpha, true, true},
		{isAlpha, isAlpha, false, true},
	}
)

// splitApostrophe applies one rule from left to right; a match uses up the
// characters on both sides.
func (t *MosesTokenizer) splitApostrophe(dst, src []rune, rule apostropheRule) []rune {
	for i := 0; i < len(src); i++ {
		dst = append(dst, src[i])
		if i+2 >= len(src) || src[i+1] != '\'' ||
			!rule.before(src[i], t.classes.of(src[i])) || !rule.after(src[i+2], t.classes.of(src[i+2])) {
			continue
		}
		if rule.left {
			dst = append(dst, ' ')
		}
		dst = append(dst, '\'')
		if rule.right {
			dst = append(dst, ' ')
		}
		dst = append(dst, src[i+2])
		i += 2
	}
	return dst
}

// padApostrophes puts spaces around every apostrophe.
func padApostrophes(dst, src []rune) []rune {
	for _, r := range src {
		if r == '\'' {
			dst = append(dst, ' ', r, ' ')
		} else {
			dst = append(dst, r)
		}
	}
	return dst
}
