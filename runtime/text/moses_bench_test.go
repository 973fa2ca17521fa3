package text

import (
	"strings"
	"testing"
)

// mosesText is English and German with the punctuation of news.
var mosesText = []string{
	`Mr. Smith paid $1,234.56 for "The Jones' house" (built in 1990's London), didn't he?`,
	`A man in an orange hat is staring at something while two well-dressed women walk by.`,
	`Die Straße war übrigens gesperrt; um 12:30 Uhr kam z.B. Dr. Müller – ohne „Erlaubnis“ – vorbei...`,
}

func BenchmarkMosesTokenizer(b *testing.B) {
	for _, lang := range []string{"en", "de"} {
		b.Run(lang, func(b *testing.B) {
			tok := mosesTokenizer(b, lang, true, true)
			b.SetBytes(int64(len(strings.Join(mosesText, "\n"))))
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range mosesText {
					tok.Tokenize(s)
				}
			}
		})
	}
}

func BenchmarkMosesDetokenizer(b *testing.B) {
	tok, d := mosesTokenizer(b, "de", true, true), NewMosesDetokenizer("de", true)
	var lines [][]string
	size := 0
	for _, s := range mosesText {
		lines = append(lines, tok.Tokenize(s))
		size += len(tok.TokenizeLine(s))
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, words := range lines {
			d.Detokenize(words)
		}
	}
}

func BenchmarkPunctuationNormalizer(b *testing.B) {
	n := NewPunctuationNormalizer("de")
	b.SetBytes(int64(len(strings.Join(mosesText, "\n"))))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range mosesText {
			n.Normalize(s)
		}
	}
}

// A line of a million characters must take time in proportion to its length,
// whatever it is made of.
func BenchmarkMosesLongLine(b *testing.B) {
	for _, unit := range []string{".", ",", "'", "a.", `."`, "DOTMULTI.", "a ", "&", " ", "-", "a-", "'' "} {
		b.Run(strings.ReplaceAll(unit, " ", "_"), func(b *testing.B) {
			s := strings.Repeat(unit, 1_000_000/len(unit))
			tok, d, n := mosesTokenizer(b, "en", true, true), NewMosesDetokenizer("en", true), NewPunctuationNormalizer("de")
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				d.Detokenize(tok.Tokenize(n.Normalize(s)))
			}
		})
	}
}
