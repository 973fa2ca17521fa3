package main

import (
	"github.com/spf13/pflag"

	"memsizer/format/fairseq"
)

// modelFlags add what a checkpoint does not say. They have fairseq's names
// where fairseq has the option.
func modelFlags(f *pflag.FlagSet, o *fairseq.Options) {
	f.StringVar(&o.Args, "args", "", "JSON `file` of fairseq's settings, for files of bare weights; wins over the checkpoint's")
	f.StringVar(&o.DictDir, "dict-dir", "", "`folder` of dict.<lang>.txt (default the checkpoint's)")
	f.StringVar(&o.Dict, "dict", "", "dictionary `file` of a language model, or of both sides")
	f.StringVar(&o.SourceDict, "source-dict", "", "source dictionary `file`")
	f.StringVar(&o.TargetDict, "target-dict", "", "target dictionary `file`")
	f.StringVarP(&o.SourceLang, "source-lang", "s", "", "source `language`, such as en")
	f.StringVarP(&o.TargetLang, "target-lang", "t", "", "target `language`, such as de")

	f.StringVar(&o.Tokenizer, "tokenizer", "", "moses, space, nltk or none (default the checkpoint's)")
	o.MosesNoDashSplits = f.Bool("moses-no-dash-splits", false, "moses: do not split at dashes between letters")
	o.MosesNoEscape = f.Bool("moses-no-escape", false, "moses: do not escape markup characters")
	o.NormalizePunctuation = f.Bool("normalize-punctuation", false, "moses: normalise punctuation before tokenising (fairseq itself never does)")

	f.StringVar(&o.BPE, "bpe", "", "subword_nmt, fastbpe, sentencepiece, gpt2, bytes, byte_bpe, characters or none (default the checkpoint's)")
	f.StringVar(&o.BPECodes, "bpe-codes", "", "code `file` of subword_nmt or fastbpe")
	f.StringVar(&o.BPESeparator, "bpe-separator", "", "mark of a piece that continues (default @@)")
	f.StringVar(&o.BPEVocab, "bpe-vocab", "", "subword_nmt: vocabulary `file` for --bpe-vocab-threshold")
	o.BPEVocabThreshold = f.Int("bpe-vocab-threshold", 0, "subword_nmt: use only pieces at least this frequent in --bpe-vocab")
	f.StringArrayVar(&o.BPEGlossaries, "bpe-glossary", nil, "subword_nmt: `pattern` that is never split (repeatable)")
	f.StringVar(&o.SentencePieceModel, "sentencepiece-model", "", "`file` of the sentencepiece or byte_bpe model")
	f.StringVar(&o.GPT2EncoderJSON, "gpt2-encoder-json", "", "gpt2: encoder.json `file`")
	f.StringVar(&o.GPT2VocabBPE, "gpt2-vocab-bpe", "", "gpt2: vocab.bpe `file`")
}

// given drops the values of flags that were not on the command line, so that
// the checkpoint's own hold.
func given(f *pflag.FlagSet, o fairseq.Options) fairseq.Options {
	for name, p := range map[string]**bool{
		"moses-no-dash-splits":  &o.MosesNoDashSplits,
		"moses-no-escape":       &o.MosesNoEscape,
		"normalize-punctuation": &o.NormalizePunctuation,
	} {
		if !f.Changed(name) {
			*p = nil
		}
	}
	if !f.Changed("bpe-vocab-threshold") {
		o.BPEVocabThreshold = nil
	}
	return o
}
