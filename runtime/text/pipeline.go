package text

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"memsizer/format"
)

// Pipeline is the way from a raw line to ids and back, as fairseq-interactive
// goes it: tokenizer, BPE and dictionary; then dictionary, BPE and tokenizer
// in reverse. It is immutable and safe for concurrent use.
type Pipeline struct {
	source, target           *Dictionary
	sourceWords, targetWords wordTokenizer
	segmenter                segmenter
}

// Need is a section that a tokenisation cannot do without, and the option of
// the converter that gives it.
type Need struct {
	Section string
	Option  string
}

// Needs lists the sections that t cannot do without, besides the dictionaries.
// Names that this package does not know are an error of type
// [UnsupportedError].
func Needs(t format.Tokenization) ([]Need, error) {
	if !slices.Contains(tokenizers, orNone(t.Tokenizer)) {
		return nil, &UnsupportedError{Name: "tokenizer", What: fmt.Sprintf("%q, want one of %q", t.Tokenizer, tokenizers)}
	}
	var needs []Need
	switch orNone(t.BPE) {
	case "none", "bytes", "characters":
	case "subword_nmt", "fastbpe":
		needs = append(needs, Need{format.SectionBPECodes, "--bpe-codes"})
		if t.BPEVocabularyThreshold != 0 {
			needs = append(needs, Need{format.SectionBPEVocab, "--bpe-vocab"})
		}
	case "sentencepiece", "byte_bpe":
		needs = append(needs, Need{format.SectionSentencePiece, "--sentencepiece-model"})
	case "gpt2":
		needs = append(needs, Need{format.SectionGPT2Encoder, "--gpt2-encoder-json"},
			Need{format.SectionGPT2Vocab, "--gpt2-vocab-bpe"})
	default:
		return nil, &UnsupportedError{Name: "bpe", What: fmt.Sprintf("%q, want one of %q", t.BPE, segmenters)}
	}
	return needs, nil
}

var (
	tokenizers = []string{"moses", "space", "nltk", "none"}
	segmenters = []string{"subword_nmt", "fastbpe", "sentencepiece", "gpt2", "bytes", "byte_bpe", "characters", "none"}
)

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// NewPipeline makes the pipeline that t describes. section returns the
// contents of a named section, or an error that is [fs.ErrNotExist] when there
// is none of that name. All sections that are missing are named in one error,
// with the options of the converter that give them.
func NewPipeline(t format.Tokenization, section func(name string) ([]byte, error)) (*Pipeline, error) {
	s, err := collect(t, section)
	if err != nil {
		return nil, err
	}
	p := &Pipeline{}
	if err := p.readDictionaries(s); err != nil {
		return nil, err
	}
	if p.sourceWords, err = newWordTokenizer(t, t.SourceLang); err != nil {
		return nil, err
	}
	if p.targetWords, err = newWordTokenizer(t, t.TargetLang); err != nil {
		return nil, err
	}
	p.segmenter, err = newSegmenter(t, s)
	return p, err
}

// sections are the contents of those sections that are there.
type sections map[string][]byte

// collect reads every section that t may use.
func collect(t format.Tokenization, section func(name string) ([]byte, error)) (sections, error) {
	needs, err := Needs(t)
	if err != nil {
		return nil, err
	}
	names := []string{format.SectionSourceDict, format.SectionTargetDict, format.SectionBPEVocab}
	for _, n := range needs {
		names = append(names, n.Section)
	}
	have := make(sections)
	for _, name := range names {
		data, err := section(name)
		switch {
		case err == nil:
			have[name] = data
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("text: section %q: %w", name, err)
		}
	}
	there := func(name string) bool { _, ok := have[name]; return ok }
	var missing []string
	if !there(format.SectionSourceDict) && !there(format.SectionTargetDict) {
		missing = append(missing, fmt.Sprintf("section %q (option --target-dict, or --dict, of the converter)", format.SectionTargetDict))
	}
	for _, n := range needs {
		if !there(n.Section) {
			missing = append(missing, fmt.Sprintf("section %q (option %s of the converter)", n.Section, n.Option))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("text: tokenizer %q with bpe %q needs %s", orNone(t.Tokenizer), orNone(t.BPE), strings.Join(missing, " and "))
	}
	return have, nil
}

// readDictionaries reads one or two dictionaries: where there is only one, it
// serves both sides.
func (p *Pipeline) readDictionaries(s sections) (err error) {
	for _, side := range []struct {
		section string
		d       **Dictionary
	}{{format.SectionSourceDict, &p.source}, {format.SectionTargetDict, &p.target}} {
		data, ok := s[side.section]
		if !ok {
			continue
		}
		if *side.d, err = ParseDictionary(bytes.NewReader(data), side.section); err != nil {
			return err
		}
	}
	if p.source == nil {
		p.source = p.target
	}
	if p.target == nil {
		p.target = p.source
	}
	return nil
}

func newSegmenter(t format.Tokenization, s sections) (segmenter, error) {
	switch t.BPE {
	case "subword_nmt", "fastbpe":
		o := BPEOptions{
			Separator:           t.BPESeparator,
			VocabularyThreshold: t.BPEVocabularyThreshold,
			Glossaries:          t.BPEGlossaries,
		}
		if v, ok := s[format.SectionBPEVocab]; ok {
			o.Vocabulary, o.VocabularyName = bytes.NewReader(v), format.SectionBPEVocab
		}
		codes := bytes.NewReader(s[format.SectionBPECodes])
		if t.BPE == "fastbpe" {
			return NewFastBPE(codes, format.SectionBPECodes, o)
		}
		return NewSubwordNMT(codes, format.SectionBPECodes, o)
	case "sentencepiece", "byte_bpe":
		m, err := ParseSentencePiece(bytes.NewReader(s[format.SectionSentencePiece]), format.SectionSentencePiece)
		if t.BPE == "byte_bpe" {
			return byteSentencePiece{m}, err
		}
		return sentencePieceBPE{m}, err
	case "gpt2":
		return ParseGPT2(bytes.NewReader(s[format.SectionGPT2Encoder]), format.SectionGPT2Encoder,
			bytes.NewReader(s[format.SectionGPT2Vocab]), format.SectionGPT2Vocab)
	case "bytes":
		return byteSegmenter{}, nil
	case "characters":
		return characterSegmenter{}, nil
	}
	return plainSegmenter{}, nil
}

// EncodeSource turns a raw source line into ids of the source dictionary,
// without eos. pieces are the symbols that the ids stand for, unknown ones as
// they were written. As in fairseq-interactive, white space at both ends of
// the line goes first; bytes that are not UTF-8 become U+FFFD.
func (p *Pipeline) EncodeSource(line string) (ids []int32, pieces []string) {
	return p.source.Encode(p.segmenter.Encode(p.sourceWords.encode(prepare(line))))
}

// EncodeTarget turns a raw line of the target language (a prefix, or a
// translation to score) into ids of the target dictionary, without eos, as the
// target side of the training text was: with the target language's rules,
// punctuation normalised where that of the source is. See EncodeSource.
func (p *Pipeline) EncodeTarget(line string) (ids []int32, pieces []string) {
	return p.target.Encode(p.segmenter.Encode(p.targetWords.encode(prepare(line))))
}

func prepare(line string) string { return pythonStrip(replaceInvalid(line)) }

// DecodePieces joins the symbols of target ids by spaces, as on the H- lines
// of fairseq-interactive: without bos, pad and eos, unknown ones as <unk>.
func (p *Pipeline) DecodePieces(ids []int32) string { return p.target.Join(ids) }

// Decode turns target ids into raw text, as on the D- lines of
// fairseq-interactive: the symbols of DecodePieces joined to words and
// detokenised.
func (p *Pipeline) Decode(ids []int32) string { return p.Detokenize(p.DecodePieces(ids)) }

// Detokenize turns a line of target symbols, such as DecodePieces returns,
// into raw text.
func (p *Pipeline) Detokenize(hypothesis string) string {
	return p.targetWords.decode(p.segmenter.Decode(hypothesis))
}

// Source is the source dictionary; for a language model, the only one.
func (p *Pipeline) Source() *Dictionary { return p.source }

// Target is the target dictionary.
func (p *Pipeline) Target() *Dictionary { return p.target }
