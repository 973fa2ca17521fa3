package text

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"sync"
)

// How a word was seen written when the model was trained, as bits.
const (
	punktBeginUpper = 1 << (iota + 1) // capitalised at the head of a sentence
	punktMidUpper                     // capitalised within one
	punktSomeUpper                    // capitalised where the place is unknown
	punktBeginLower                   // and in small letters
	punktMidLower
	punktSomeLower

	punktUpper = punktBeginUpper | punktMidUpper | punktSomeUpper
	punktLower = punktBeginLower | punktMidLower | punktSomeLower
)

// punktModel is a trained model of sentence ends (Kiss and Strunk 2006).
type punktModel struct {
	abbreviations map[string]bool
	collocations  map[string]bool // pairs with a tab between: no sentence ends there
	starters      map[string]bool // words that often begin sentences
	contexts      map[string]byte // how words were written
}

// punktEnglishData is the model of English that NLTK distributes under the
// Apache License 2.0 (punkt_tab, trained by Tibor Kiss and Jan Strunk on the
// Wall Street Journal): lines of a kind and a value, in testdata/nltk_oracle.py.
//
//go:embed nltk_punkt_english.gz
var punktEnglishData []byte

var punktEnglish = sync.OnceValue(func() *punktModel {
	z, err := gzip.NewReader(bytes.NewReader(punktEnglishData))
	if err != nil {
		panic("text: model of English sentences: " + err.Error())
	}
	lines, err := io.ReadAll(z)
	if err != nil {
		panic("text: model of English sentences: " + err.Error())
	}
	m := &punktModel{make(map[string]bool), make(map[string]bool), make(map[string]bool), make(map[string]byte)}
	for line := range strings.Lines(string(lines)) {
		kind, word, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch kind {
		case "abbreviation":
			m.abbreviations[word] = true
		case "collocation":
			m.collocations[word] = true
		case "starter":
			m.starters[word] = true
		default: // the bits as a number
			bits, err := strconv.ParseUint(kind, 10, 8)
			if err != nil {
				panic("text: model of English sentences: " + err.Error())
			}
			m.contexts[word] = byte(bits)
		}
	}
	return m
})
