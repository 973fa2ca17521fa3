package text

// NLTKTokenizer splits raw text into words and punctuation as NLTK 3.7 and 3.8
// do with word_tokenize, which fairseq's "nltk" tokenizer calls: sentences as
// the Punkt model of English finds them, and Penn Treebank words in each, so
// that only periods at the end of a sentence are set apart. Double quotes
// become “ and ” in the Treebank's way (two backquotes, two apostrophes).
// fairseq has no way back: what it decodes stays tokenised. It is immutable
// and safe for concurrent use.
type NLTKTokenizer struct {
	model *punktModel
}

// NewNLTKTokenizer returns the tokeniser; there is one for all languages, as in
// fairseq.
func NewNLTKTokenizer() *NLTKTokenizer {
	return &NLTKTokenizer{model: punktEnglish()}
}

// Tokenize returns the tokens of s, none for an empty or blank line.
func (t *NLTKTokenizer) Tokenize(s string) []string {
	var words []string
	for _, sentence := range t.model.sentences(s) {
		words = append(words, treebankWords(sentence)...)
	}
	return words
}
