package main

import (
	"math"
	"strconv"
	"strings"

	"memsizer/runtime"
)

// form appends the record of a translation to dst: one line, or several that
// belong together.
type form func(dst []byte, t *runtime.Translation) []byte

// vocabulary turns ids into symbols.
type vocabulary interface {
	Symbol(id int32) string
	Join(ids []int32) string
}

// newForm returns a form by its name.
func newForm(name string, nbest int, source, target vocabulary) (form, bool) {
	switch {
	case name == "text" && nbest > 1:
		return func(dst []byte, t *runtime.Translation) []byte { return appendNBest(dst, t, nbest) }, true
	case name == "text":
		return appendText, true
	case name == "fairseq":
		return fairseqForm{nbest, source, target}.append, true
	case name == "jsonl":
		return jsonForm{target}.append, true
	}
	return nil, false
}

// oneLine replaces line ends in a translation, which a byte-level vocabulary
// can produce.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\n\r") {
		s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
	}
	return s
}

// appendText is the best translation.
func appendText(dst []byte, t *runtime.Translation) []byte {
	return append(append(dst, oneLine(t.Text())...), '\n')
}

// appendNBest is n lines: the 1-based number of the input line, the score
// (natural logarithm), the translation, separated by tabs. Where there are
// fewer translations, lines without text and the score -inf stand in.
func appendNBest(dst []byte, t *runtime.Translation, n int) []byte {
	for i := range n {
		score, text := float32(math.Inf(-1)), ""
		switch {
		case i < len(t.Hypotheses):
			score, text = t.Hypotheses[i].Score, t.Texts[i]
		case i == 0 && len(t.Texts) > 0: // an empty line
			score = 0
		}
		dst = strconv.AppendInt(dst, int64(t.Line+1), 10)
		dst = append(dst, '\t')
		dst = appendScore(dst, score)
		dst = append(dst, '\t')
		dst = append(append(dst, oneLine(text)...), '\n')
	}
	return dst
}

// appendScore writes the shortest digits that give the same float32 again.
func appendScore(dst []byte, s float32) []byte {
	switch f := float64(s); {
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	default:
		return strconv.AppendFloat(dst, f, 'g', -1, 32)
	}
}
