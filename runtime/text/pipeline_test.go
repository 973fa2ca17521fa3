package text

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
)

const (
	testSourceDict = "low@@ 5\ner 4\nlow 3\n&apos;s 3\n. 2\n"
	testTargetDict = "Haus 5\n, 4\nab@@ 3\nc 2\n&apos;t 1\nmadeupword0000 0\n"
)

func newTestPipeline(t *testing.T, tok format.Tokenization, files map[string][]byte) *Pipeline {
	t.Helper()
	p, err := NewPipeline(tok, sectionsOf(files))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPipeline(t *testing.T) {
	p := newTestPipeline(t, format.Tokenization{SourceLang: "en", TargetLang: "de", Tokenizer: "moses", BPE: "subword_nmt"}, map[string][]byte{
		format.SectionSourceDict: []byte(testSourceDict),
		format.SectionTargetDict: []byte(testTargetDict),
		format.SectionBPECodes:   []byte(testCodes),
	})
	for _, c := range []struct {
		line   string
		pieces []string
		ids    []int32
	}{
		{"", nil, nil},
		{" \t\r\n", nil, nil},
		{"  low low's lower.\r\n", []string{"low", "low", "&@@", "a@@", "p@@", "o@@", "s@@", ";@@", "s", "low@@", "er", "."}, []int32{6, 6, 3, 3, 3, 3, 3, 3, 3, 4, 5, 8}},
		{"\xffer", []string{"\ufffd", "er"}, []int32{3, 5}},
		{"a\x00b", []string{"a@@", "b"}, []int32{3, 3}}, // Moses drops control characters
	} {
		ids, pieces := p.EncodeSource(c.line)
		if !slices.Equal(pieces, c.pieces) || !slices.Equal(ids, c.ids) {
			t.Errorf("%q: %q %v, want %q %v", c.line, pieces, ids, c.pieces, c.ids)
		}
	}
	if ids, _ := p.EncodeTarget("Haus , Haus"); !slices.Equal(ids, []int32{3, 3, 3, 3, 5, 3, 3, 3, 3}) {
		t.Errorf("target ids %v", ids)
	}
	for _, c := range []struct {
		ids         []int32
		hypothesis  string
		detokenized string
	}{
		{nil, "", ""},
		{[]int32{2}, "", ""},
		{[]int32{0, 4, 5, 6, 7, 8, 1, 2}, "Haus , ab@@ c &apos;t", "Haus, abc 't"},
		{[]int32{3, 6, 2}, "<unk> ab@@", "<unk> ab"}, // a line that ends inside a word
		{[]int32{9, 77}, "madeupword0000 <unk>", "madeupword0000 <unk>"},
	} {
		if got := p.DecodePieces(c.ids); got != c.hypothesis {
			t.Errorf("%v: %q, want %q", c.ids, got, c.hypothesis)
		}
		if got := p.Decode(c.ids); got != c.detokenized {
			t.Errorf("%v: %q, want %q", c.ids, got, c.detokenized)
		}
	}
	if p.Source().Len() != 9 || p.Target().Len() != 10 {
		t.Errorf("dictionaries of %d and %d symbols, want 9 and 10", p.Source().Len(), p.Target().Len())
	}
}

func TestPipelineKinds(t *testing.T) {
	model, err := os.ReadFile("testdata/segmentation/byte_bpe/model")
	if err != nil {
		t.Fatal(err)
	}
	dict := []byte("a 1\n\u2581 1\nb 1\n\u2581a 1\n<0x41> 1\n12 1\n\u00c3 1\n\u01a9 1\n")
	for _, c := range []struct {
		name        string
		tok         format.Tokenization
		line        string
		pieces      string
		ids         []int32
		hypothesis  string
		detokenized string
	}{
		{"already tokenised", format.Tokenization{}, " a\t b  c@@ d ", "a b c@@ d", []int32{4, 6, 3, 3}, "a b <unk> <unk>", "a b <unk> <unk>"},
		{"space", format.Tokenization{Tokenizer: "space", BPE: "none"}, "a\u00a0\u3000b", "a b", []int32{4, 6}, "a b", "a b"},
		{"nltk", format.Tokenization{Tokenizer: "nltk", BPE: "none"}, "a (b).", "a ( b ) .", []int32{4, 3, 6, 3, 3}, "a <unk> b <unk> <unk>", "a <unk> b <unk> <unk>"},
		{"characters", format.Tokenization{Tokenizer: "none", BPE: "characters"}, "ab  a", "a b \u2581 \u2581 a", []int32{4, 6, 5, 5, 4}, "a b \u2581 \u2581 a", "ab  a"},
		{"bytes", format.Tokenization{BPE: "bytes"}, "\u00e9 \t a", "\u00c3 \u00a9 \u2581 a", []int32{10, 3, 5, 4}, "\u00c3 <unk> \u2581 a", "<unk> a"},
		{"byte_bpe", format.Tokenization{BPE: "byte_bpe"}, "a", "\u2581 a", []int32{5, 4}, "\u2581 a", " a"},
		{"sentencepiece", format.Tokenization{BPE: "sentencepiece"}, "a Q", "\u2581 a \u2581 Q", []int32{5, 4, 5, 3}, "\u2581 a \u2581 <unk>", "a <unk>"},
		{"gpt2", format.Tokenization{BPE: "gpt2"}, "a b", "12 \u0120b", []int32{9, 3}, "12 <unk>", "a<unk>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTestPipeline(t, c.tok, map[string][]byte{
				format.SectionTargetDict:    dict, // a language model's only one
				format.SectionSentencePiece: model,
				format.SectionGPT2Encoder:   []byte(`{"a": 12}`),
				format.SectionGPT2Vocab:     []byte("#\n\u0120 b\n"),
			})
			ids, pieces := p.EncodeSource(c.line)
			if got := strings.Join(pieces, " "); got != c.pieces {
				t.Errorf("%q: %q, want %q", c.line, got, c.pieces)
			}
			if !slices.Equal(ids, c.ids) {
				t.Errorf("%q: %v, want %v", c.line, ids, c.ids)
			}
			if again, _ := p.EncodeTarget(c.line); !slices.Equal(ids, again) {
				t.Errorf("%q: as target %v, as source %v", c.line, again, ids)
			}
			if got := p.DecodePieces(c.ids); got != c.hypothesis {
				t.Errorf("%v: %q, want %q", c.ids, got, c.hypothesis)
			}
			if got := p.Decode(c.ids); got != c.detokenized {
				t.Errorf("%v: %q, want %q", c.ids, got, c.detokenized)
			}
		})
	}
}

func TestPipelineMissing(t *testing.T) {
	dict := map[string][]byte{format.SectionTargetDict: nil}
	for _, c := range []struct {
		name  string
		tok   format.Tokenization
		files map[string][]byte
		want  string
	}{
		{"everything", format.Tokenization{Tokenizer: "moses", BPE: "gpt2"}, nil,
			`text: tokenizer "moses" with bpe "gpt2" needs section "dict.target" (option --target-dict, or --dict, of the converter)` +
				` and section "gpt2.encoder.json" (option --gpt2-encoder-json of the converter)` +
				` and section "gpt2.vocab.bpe" (option --gpt2-vocab-bpe of the converter)`},
		{"codes and vocabulary", format.Tokenization{BPE: "subword_nmt", BPEVocabularyThreshold: 5}, dict,
			`text: tokenizer "none" with bpe "subword_nmt" needs section "bpe.codes" (option --bpe-codes of the converter)` +
				` and section "bpe.vocab" (option --bpe-vocab of the converter)`},
		{"fastBPE's codes", format.Tokenization{BPE: "fastbpe"}, dict,
			`text: tokenizer "none" with bpe "fastbpe" needs section "bpe.codes" (option --bpe-codes of the converter)`},
		{"SentencePiece", format.Tokenization{BPE: "sentencepiece"}, dict,
			`text: tokenizer "none" with bpe "sentencepiece" needs section "sentencepiece.model" (option --sentencepiece-model of the converter)`},
		{"byte_bpe", format.Tokenization{BPE: "byte_bpe"}, dict,
			`text: tokenizer "none" with bpe "byte_bpe" needs section "sentencepiece.model" (option --sentencepiece-model of the converter)`},
		{"unknown tokenizer", format.Tokenization{Tokenizer: "spacy"}, dict,
			`text: "tokenizer": unsupported: "spacy", want one of ["moses" "space" "nltk" "none"]`},
		{"unknown bpe", format.Tokenization{BPE: "bert"}, dict,
			`text: "bpe": unsupported: "bert", want one of ["subword_nmt" "fastbpe" "sentencepiece" "gpt2" "bytes" "byte_bpe" "characters" "none"]`},
		{"bad dictionary", format.Tokenization{}, map[string][]byte{format.SectionSourceDict: []byte("a"), format.SectionTargetDict: nil},
			`text: "dict.source" line 1: "a", want "symbol count"`},
		{"bad codes", format.Tokenization{BPE: "subword_nmt"}, map[string][]byte{format.SectionTargetDict: nil, format.SectionBPECodes: []byte("a b c d")},
			`text: "bpe.codes" line 1: BPE code "a b c d", want two symbols with one space between them`},
		{"bad vocabulary", format.Tokenization{BPE: "fastbpe"}, map[string][]byte{format.SectionTargetDict: nil, format.SectionBPECodes: []byte("a b 1"), format.SectionBPEVocab: []byte("x")},
			`text: "bpe.vocab" line 1: "x", want "symbol count"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewPipeline(c.tok, sectionsOf(c.files))
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v,\nwant %s", err, c.want)
			}
		})
	}
	_, err := NewPipeline(format.Tokenization{}, func(string) ([]byte, error) { return nil, fs.ErrPermission })
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want the one of the section", err)
	}
}

func FuzzPipeline(f *testing.F) {
	files := map[string][]byte{
		format.SectionSourceDict: []byte(testSourceDict),
		format.SectionTargetDict: []byte(testTargetDict),
		format.SectionBPECodes:   []byte(testCodes),
	}
	var pipelines []*Pipeline
	for _, tokenizer := range []string{"moses", "space", "none"} {
		for _, bpe := range []string{"subword_nmt", "bytes", "characters", "none"} {
			p, err := NewPipeline(format.Tokenization{Tokenizer: tokenizer, BPE: bpe, NormalizePunctuation: true}, sectionsOf(files))
			if err != nil {
				f.Fatal(err)
			}
			pipelines = append(pipelines, p)
		}
	}
	f.Add("lower  \u201clow\u201d \xff\x00 .", []byte{4, 5, 2, 3, 0, 255})
	f.Fuzz(func(t *testing.T, line string, ids []byte) {
		for _, p := range pipelines {
			got, pieces := p.EncodeSource(line)
			if len(got) != len(pieces) {
				t.Errorf("%q: %d ids, %d pieces", line, len(got), len(pieces))
			}
			for i, s := range pieces {
				if got[i] != p.Source().Index(s) || s == "" || strings.ContainsFunc(s, isPythonSpace) {
					t.Errorf("%q: piece %q has id %d", line, s, got[i])
				}
			}
			var target []int32
			for _, id := range ids {
				target = append(target, int32(id)-2)
			}
			p.Decode(target)
		}
	})
}
