package text

import (
	"strings"

	"memsizer/format"
)

// wordTokenizer is what fairseq calls a tokenizer, for one language: a raw
// line becomes a line of words, and back.
type wordTokenizer struct {
	normalizer  *PunctuationNormalizer // nil for none
	moses       *MosesTokenizer        // nil for none
	detokenizer *MosesDetokenizer      // with moses
	line        func(string) string    // another tokenizer, nil for none
}

// newWordTokenizer makes the tokenizer that t names, which [Needs] knows.
// English is the default language, as in fairseq.
func newWordTokenizer(t format.Tokenization, lang string) (w wordTokenizer, err error) {
	if lang == "" {
		lang = "en"
	}
	if t.NormalizePunctuation {
		w.normalizer = NewPunctuationNormalizer(lang)
	}
	switch t.Tokenizer {
	case "moses":
		w.moses, err = NewMosesTokenizer(lang, MosesOptions{
			AggressiveDashSplits: !t.MosesNoDashSplits,
			Escape:               !t.MosesNoEscape,
		})
		w.detokenizer = NewMosesDetokenizer(lang, true)
	case "space":
		w.line = collapseSpace
	case "nltk":
		nltk := NewNLTKTokenizer()
		w.line = func(line string) string { return strings.Join(nltk.Tokenize(line), " ") }
	}
	return w, err
}

func (w *wordTokenizer) encode(line string) string {
	if w.normalizer != nil {
		line = w.normalizer.Normalize(line)
	}
	switch {
	case w.moses != nil:
		return w.moses.TokenizeLine(line)
	case w.line != nil:
		return w.line(line)
	}
	return line
}

func (w *wordTokenizer) decode(line string) string {
	if w.detokenizer != nil {
		return w.detokenizer.Detokenize(pythonFields(line))
	}
	return line
}
