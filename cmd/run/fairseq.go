package main

import (
	"math"
	"strconv"
	"strings"

	"memsizer/runtime"
)

// fairseqForm writes what fairseq-interactive prints: for each line
//
//	S-i  source tokens
//	H-i  score  tokens      and for each hypothesis
//	D-i  score  text
//	P-i  score of each token, eos included
//
// separated by tabs, i counted from 0, scores in base 2. An empty line, which
// fairseq would translate, has an H line with score 0 and no tokens.
type fairseqForm struct {
	nbest          int
	source, target vocabulary
}

func (f fairseqForm) append(dst []byte, t *runtime.Translation) []byte {
	label := func(letter byte) {
		dst = append(dst, letter, '-')
		dst = strconv.AppendInt(dst, int64(t.Line), 10)
		dst = append(dst, '\t')
	}
	label('S')
	dst = append(append(dst, oneLine(f.source.Join(t.SourceTokens))...), '\n')
	hyps, texts := t.Hypotheses, t.Texts
	if len(hyps) == 0 {
		hyps, texts = []runtime.Hypothesis{{}}, []string{t.Text()}
	}
	for i := range hyps[:min(len(hyps), f.nbest)] {
		h := &hyps[i]
		for _, l := range []struct {
			letter byte
			text   string
		}{{'H', f.target.Join(h.Tokens)}, {'D', texts[i]}} {
			label(l.letter)
			dst = appendPythonFloat(dst, float64(base2(h.Score)))
			dst = append(dst, '\t')
			dst = append(append(dst, oneLine(l.text)...), '\n')
		}
		label('P')
		for k, s := range h.TokenScores {
			if k > 0 {
				dst = append(dst, ' ')
			}
			dst = appendFixed(dst, float64(base2(s)))
		}
		dst = append(dst, '\n')
	}
	return dst
}

// base2 divides as torch does, in float32.
func base2(s float32) float32 { return s / float32(math.Ln2) }

// appendFixed is Python's "{:.4f}".
func appendFixed(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return appendPythonFloat(dst, f)
	}
	return strconv.AppendFloat(dst, f, 'f', 4, 64)
}

// appendPythonFloat is Python's repr of a float.
func appendPythonFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return append(dst, s...)
}
