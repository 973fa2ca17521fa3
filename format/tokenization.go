package format

// Tokenization says how raw text becomes tokens and back. It travels in the
// .msz header; the files it needs (BPE codes, SentencePiece models, …) are
// named sections. Package runtime/text implements it.
type Tokenization struct {
	// SourceLang and TargetLang are language codes such as "en", "de".
	SourceLang string `json:"source_lang,omitempty"`
	TargetLang string `json:"target_lang,omitempty"`
	// Tokenizer is "moses", "space", "nltk" or "none".
	Tokenizer string `json:"tokenizer"`
	// MosesNoDashSplits and MosesNoEscape are fairseq's options of the same
	// names. Without them dashes between letters are split ("@-@") and
	// markup characters are escaped ("&apos;").
	MosesNoDashSplits bool `json:"moses_no_dash_splits,omitempty"`
	MosesNoEscape     bool `json:"moses_no_escape,omitempty"`
	// NormalizePunctuation: Moses punctuation normalisation of the source
	// before tokenising.
	NormalizePunctuation bool `json:"normalize_punctuation,omitempty"`
	// BPE is "subword_nmt", "fastbpe", "sentencepiece", "gpt2", "bytes",
	// "byte_bpe", "characters" or "none".
	BPE string `json:"bpe"`
	// BPESeparator marks a piece that continues, "@@" by default.
	BPESeparator string `json:"bpe_separator,omitempty"`
	// BPEVocabularyThreshold and BPEGlossaries are subword-nmt's.
	BPEVocabularyThreshold int      `json:"bpe_vocabulary_threshold,omitempty"`
	BPEGlossaries          []string `json:"bpe_glossaries,omitempty"`
}

// Names of the sections that a tokenisation or vocabulary may need. Contents
// are the files as they were given.
const (
	SectionSourceDict    = "dict.source" // dict.<lang>.txt
	SectionTargetDict    = "dict.target" // absent when it equals dict.source or the model has no encoder (then dict.target alone)
	SectionBPECodes      = "bpe.codes"   // subword-nmt 0.1/0.2 or fastBPE codes
	SectionBPEVocab      = "bpe.vocab"   // vocabulary of the threshold
	SectionSentencePiece = "sentencepiece.model"
	SectionGPT2Encoder   = "gpt2.encoder.json"
	SectionGPT2Vocab     = "gpt2.vocab.bpe"
)
