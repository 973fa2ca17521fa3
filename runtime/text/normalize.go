package text

import "strings"

// PunctuationNormalizer writes quotes, dashes and spaces of raw text in a
// plain form as sacremoses' MosesPunctNormalizer does with its defaults (a port
// of Moses' normalize-punctuation.perl). It is immutable and safe for
// concurrent use.
type PunctuationNormalizer struct {
	rules []normalizeRule
}

// normalizeRule is one substitution over the whole line: of a string, or by a
// function.
type normalizeRule struct {
	old, new string
	apply    func(s string) string
}

// NewPunctuationNormalizer returns the normaliser of a language code. The
// rules differ for en (a quote goes behind the comma), for de, es and fr (before
// it), and for de, es, fr, cs and cz (a no-break space between digits becomes a
// comma, elsewhere a period).
func NewPunctuationNormalizer(lang string) *PunctuationNormalizer {
	n := &PunctuationNormalizer{rules: normalizeRules}
	add := func(rules ...normalizeRule) { n.rules = append(n.rules[:len(n.rules):len(n.rules)], rules...) }
	switch lang {
	case "en":
		add(normalizeRule{apply: quoteAfterComma})
	case "de", "es", "fr":
		add(normalizeRule{old: `,"`, new: `",`}, normalizeRule{apply: quoteBeforePeriod})
	}
	switch lang {
	case "de", "es", "cz", "cs", "fr":
		add(normalizeRule{apply: func(s string) string { return joinDigits(s, ",") }})
	default:
		add(normalizeRule{apply: func(s string) string { return joinDigits(s, ".") }})
	}
	return n
}

// Normalize returns the normalised text of one line, without white space at
// its ends. Bytes that are not UTF-8 stay as they are.
func (n *PunctuationNormalizer) Normalize(s string) string {
	for _, r := range n.rules {
		if r.apply != nil {
			s = r.apply(s)
		} else if strings.Contains(s, r.old) {
			s = strings.ReplaceAll(s, r.old, r.new)
		}
	}
	return pythonStrip(s)
}

// nbsp is the no-break space.
const nbsp = "\u00a0"

// normalizeRules are the rules of all languages, in order.
var normalizeRules = []normalizeRule{
	// spaces
	{old: "\r", new: ""},
	{old: "(", new: " ("},
	{old: ")", new: ") "},
	{apply: squeezeBlanks},
	{apply: closeParenthesis},
	{old: "( ", new: "("},
	{old: " )", new: ")"},
	{apply: joinPercent},
	{old: " :", new: ":"},
	{old: " ;", new: ";"},
	// quotes written with apostrophes
	{old: "`", new: "'"},
	{old: "''", new: ` " `},
	// quotes, dashes, ellipses
	{old: "„", new: `"`},
	{old: "“", new: `"`},
	{old: "”", new: `"`},
	{old: "–", new: "-"},
	{old: "—", new: " - "},
	{apply: squeezeBlanks},
	{old: "´", new: "'"},
	// Quotes between letters become apostrophes, but so they do anywhere.
	{old: "‘", new: "'"},
	{old: "‚", new: "'"},
	{old: "’", new: "'"},
	{old: "''", new: `"`},
	{old: "…", new: "..."},
	// French quotes
	{old: nbsp + "«" + nbsp, new: `"`},
	{old: "«" + nbsp, new: `"`},
	{old: "«", new: `"`},
	{old: nbsp + "»" + nbsp, new: `"`},
	{old: nbsp + "»", new: `"`},
	{old: "»", new: `"`},
	// no-break spaces
	{old: nbsp + "%", new: "%"},
	{old: "nº" + nbsp, new: "nº "},
	{old: nbsp + ":", new: ":"},
	{old: nbsp + "ºC", new: " ºC"},
	{old: nbsp + "cm", new: " cm"},
	{old: nbsp + "?", new: "?"},
	{old: nbsp + "!", new: "!"},
	{old: nbsp + ";", new: ";"},
	{old: "," + nbsp, new: ", "},
	{apply: squeezeBlanks},
}
