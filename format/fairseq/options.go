package fairseq

// Options say what the checkpoint does not, and override what it does say. A
// zero field (empty string, nil pointer) leaves the checkpoint's own value.
type Options struct {
	// Args is a JSON file with the plain values of fairseq's args, for files
	// of bare weights. Its values win over settings in the checkpoint.
	Args string
	// Average lists further checkpoints of the same model; every tensor
	// becomes the mean over the checkpoint and these, taken in float64.
	Average []string

	// Limit is the largest magnitude an element may have, 65504 for a float16
	// target; 0 means float32's.
	Limit float32

	// DictDir is where dict.<lang>.txt (dict.txt) are looked for first; the
	// checkpoint's own folder is next.
	DictDir string
	// SourceDict and TargetDict name the dictionaries of a translation
	// model; Dict names one file for both, or that of a language model.
	SourceDict, TargetDict, Dict string

	// SourceLang and TargetLang are language codes ("en", "de").
	SourceLang, TargetLang string

	// Tokenizer is "moses", "space", "nltk" or "none".
	Tokenizer string
	// Options of the moses tokeniser (fairseq's), and our own punctuation
	// normalisation before it.
	MosesNoDashSplits    *bool
	MosesNoEscape        *bool
	NormalizePunctuation *bool

	// BPE is "subword_nmt", "fastbpe", "sentencepiece", "gpt2", "bytes",
	// "byte_bpe", "characters" or "none".
	BPE string
	// BPECodes is the code file of subword_nmt or fastbpe.
	BPECodes string
	// BPESeparator marks a piece that continues ("@@").
	BPESeparator string
	// BPEVocab and BPEVocabThreshold restrict subword_nmt to frequent pieces.
	BPEVocab          string
	BPEVocabThreshold *int
	// BPEGlossaries are subword_nmt's patterns that are never split.
	BPEGlossaries []string
	// SentencePieceModel is the .model file of sentencepiece or byte_bpe.
	SentencePieceModel string
	// GPT2EncoderJSON and GPT2VocabBPE are the files of gpt2.
	GPT2EncoderJSON, GPT2VocabBPE string
}
