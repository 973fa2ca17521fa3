package fairseq

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"memsizer/format"
)

// Names of tokenisers and BPEs that we run, as fairseq spells them.
var (
	tokenizers = []string{"moses", "space", "nltk", "none"}
	bpes       = []string{"subword_nmt", "fastbpe", "sentencepiece", "gpt2", "bytes", "byte_bpe", "characters", "none"}
)

// settingsOf is a view on what the checkpoint says about tokenisation: the
// group of a cfg first, then flat args.
type settingsOf struct {
	set   *settings
	group map[string]any
}

func (s settingsOf) value(name string) any {
	if v, ok := s.group[name]; ok {
		return v
	}
	v, _ := s.set.lookup(name)
	return v
}

func (s settingsOf) text(name string) string {
	t, _ := s.value(name).(string)
	return t
}

func (s settingsOf) flag(name string) bool {
	b, _ := s.value(name).(bool)
	return b
}

// hint is what a setting used in training says beside the point.
func (s settingsOf) hint(names ...string) string {
	for _, name := range names {
		if t := s.text(name); t != "" && t != "space" {
			return fmt.Sprintf(" (its setting %q is %q)", name, t)
		}
	}
	return ""
}

// chosen is the name in a registry's group ("_name"), or the flat setting.
func (s settingsOf) chosen(registry string) string {
	if n, ok := s.group["_name"].(string); ok && n != "" {
		return n
	}
	if v, ok := s.set.lookup(registry); ok {
		switch v := v.(type) {
		case string:
			return v
		case map[string]any:
			n, _ := v["_name"].(string)
			return n
		}
	}
	return ""
}

// tokenization decides how text becomes tokens: by the options, else by the
// checkpoint's settings, else it is a problem that names the flag.
func (f *finder) tokenization(set *settings, source, target string) {
	t := &f.text.Tokenization
	t.SourceLang, t.TargetLang = source, target
	f.tokenizer(settingsOf{set, set.groups["tokenizer"]})
	f.bpe(settingsOf{set, set.groups["bpe"]})
}

func (f *finder) tokenizer(s settingsOf) {
	t, o := &f.text.Tokenization, f.opts
	t.Tokenizer = firstSet(o.Tokenizer, s.chosen("tokenizer"))
	switch {
	case t.Tokenizer == "":
		f.problem("the checkpoint does not say how text was tokenised%s; give --tokenizer %s", s.hint("eval_bleu_detok"), strings.Join(tokenizers, "|"))
		return
	case !slices.Contains(tokenizers, t.Tokenizer):
		f.problem("tokenizer %q is not supported; give --tokenizer %s", t.Tokenizer, strings.Join(tokenizers, "|"))
		return
	}
	t.NormalizePunctuation = o.NormalizePunctuation != nil && *o.NormalizePunctuation
	if t.Tokenizer != "moses" {
		return
	}
	t.MosesNoDashSplits = override(o.MosesNoDashSplits, s.flag("moses_no_dash_splits"))
	t.MosesNoEscape = override(o.MosesNoEscape, s.flag("moses_no_escape"))
	t.SourceLang = f.mosesLang(o.SourceLang, s, "source_lang", t.SourceLang)
	t.TargetLang = f.mosesLang(o.TargetLang, s, "target_lang", t.TargetLang)
}

func override(flag *bool, value bool) bool {
	if flag != nil {
		return *flag
	}
	return value
}

// mosesLang is the language whose rules the tokeniser uses.
func (f *finder) mosesLang(flag string, s settingsOf, name, lang string) string {
	own, _ := s.group[name].(string)
	lang = firstSet(flag, s.text("moses_"+name), own, lang)
	if lang == "" {
		f.note("moses rules for English: no %s is known", strings.ReplaceAll(name, "_lang", " language"))
		return "en"
	}
	return lang
}

func (f *finder) bpe(s settingsOf) {
	t, o := &f.text.Tokenization, f.opts
	t.BPE = firstSet(o.BPE, f.impliedBPE(), s.chosen("bpe"))
	switch {
	case t.BPE == "":
		f.problem("the checkpoint does not say how words were split%s; give --bpe %s", s.hint("eval_bleu_remove_bpe", "post_process", "remove_bpe"), strings.Join(bpes, "|"))
		return
	case !slices.Contains(bpes, t.BPE):
		f.problem("bpe %q is not supported; give --bpe %s", t.BPE, strings.Join(bpes, "|"))
		return
	}
	switch t.BPE {
	case "subword_nmt", "fastbpe":
		f.subwordFiles(s)
	case "sentencepiece":
		f.file(format.SectionSentencePiece, "--sentencepiece-model", o.SentencePieceModel,
			[]string{s.text("sentencepiece_model"), s.text("sentencepiece_vocab")}, "sentencepiece.bpe.model", "sentencepiece.model", "spm.model")
	case "byte_bpe":
		f.file(format.SectionSentencePiece, "--sentencepiece-model", o.SentencePieceModel,
			[]string{s.text("sentencepiece_model_path"), s.text("sentencepiece_model")}, "sentencepiece.bpe.model", "sentencepiece.model", "spm.model")
	case "gpt2":
		f.file(format.SectionGPT2Encoder, "--gpt2-encoder-json", o.GPT2EncoderJSON, []string{s.text("gpt2_encoder_json")}, "encoder.json")
		f.file(format.SectionGPT2Vocab, "--gpt2-vocab-bpe", o.GPT2VocabBPE, []string{s.text("gpt2_vocab_bpe")}, "vocab.bpe")
	}
}

// impliedBPE is the kind that the given files belong to.
func (f *finder) impliedBPE() string {
	o := f.opts
	switch {
	case o.SentencePieceModel != "":
		return "sentencepiece"
	case o.GPT2EncoderJSON != "" || o.GPT2VocabBPE != "":
		return "gpt2"
	case o.BPECodes != "":
		data, err := readTextFile(o.BPECodes)
		if err != nil {
			return "subword_nmt" // and the file is reported when it is added
		}
		line, _, _ := bytes.Cut(data, []byte("\n"))
		if !bytes.HasPrefix(line, []byte("#version")) && len(bytes.Fields(line)) == 3 {
			return "fastbpe"
		}
		return "subword_nmt"
	}
	return ""
}

func (f *finder) subwordFiles(s settingsOf) {
	t, o := &f.text.Tokenization, f.opts
	f.file(format.SectionBPECodes, "--bpe-codes", o.BPECodes, []string{s.text("bpe_codes")}, "bpe.codes", "bpecodes", "code", "codes")
	if t.BPE == "fastbpe" {
		return
	}
	if t.BPESeparator = firstSet(o.BPESeparator, s.text("bpe_separator")); t.BPESeparator == "@@" {
		t.BPESeparator = ""
	}
	t.BPEGlossaries = o.BPEGlossaries
	if o.BPEVocabThreshold != nil {
		t.BPEVocabularyThreshold = *o.BPEVocabThreshold
	}
	switch {
	case o.BPEVocab != "":
		f.add(format.SectionBPEVocab, o.BPEVocab)
	case t.BPEVocabularyThreshold > 0:
		f.problem("a vocabulary threshold needs the vocabulary; give it with --bpe-vocab")
	}
}

// file adds a tokenisation file: the one that was given, else the one the
// settings name (its path, or a file of that name beside the model), else one
// with a usual name beside the model.
func (f *finder) file(section, flag, given string, named []string, usual ...string) {
	if given != "" {
		f.add(section, given)
		return
	}
	for _, path := range named {
		if path == "" {
			continue
		}
		if exists(path) {
			f.add(section, path)
			return
		}
		if p := f.beside(filepath.Base(filepath.ToSlash(path))); p != "" {
			f.add(section, p)
			return
		}
	}
	// The usual names stand in only where the settings name no file.
	if firstSet(named...) == "" || section == format.SectionGPT2Encoder || section == format.SectionGPT2Vocab {
		if p := f.beside(usual...); p != "" {
			f.note("%s: %s, found beside the model", section, p)
			f.add(section, p)
			return
		}
	}
	what := fmt.Sprintf("%s needs a file", f.text.Tokenization.BPE)
	if path := firstSet(named...); path != "" {
		what = fmt.Sprintf("%s needs %q, which is neither there nor in %s", f.text.Tokenization.BPE, path, f.places())
	}
	f.problem("%s; give it with %s", what, flag)
}
