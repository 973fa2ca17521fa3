package fairseq

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
)

func TestCountDictionary(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
		err  string
	}{
		{"", 4, ""},
		{"a 1\nb 2\n", 6, ""},
		{"a 1\r\nb 2", 6, ""},
		{"\ufeffa 1\n", 5, ""},
		{"a b 1\nmadeupword0001 0\n", 6, ""},
		{"▁ 5\n\u00a0 5\n", 6, ""},
		{"a 1\na 2 #fairseq:overwrite\n", 6, ""},
		{"<s> 1 #fairseq:overwrite\n", 5, ""},
		{"a 1\na 2\n", 0, `line 2: "a" stands already in line 1`},
		{"<unk> 3\n", 0, `line 1: "<unk>" is a special symbol`},
		{"a 1\nb\n", 0, `line 2: "b", want "token count"`},
		{"a 1\n\nb 2\n", 0, `line 2: "", want "token count"`},
		{"a x\n", 0, `line 1: "a x", want "token count"`},
		{"a 1.5\n", 0, `line 1: "a 1.5", want "token count"`},
		{"a #fairseq:overwrite\n", 0, `line 1:`},
		{"\xff 1\n", 0, "not UTF-8 text"},
	} {
		got, err := countDictionary([]byte(c.text))
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%q: got %d, %v; want %d, %q", c.text, got, err, c.want, c.err)
		}
	}
}

func sectionNames(s []Section) []string {
	var names []string
	for _, x := range s {
		names = append(names, x.Name)
	}
	return names
}

func TestDictionaries(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(b *builder, dir string, o *Options)
		want []string // sections
		err  []string // problems, each complete but for the folder
	}{
		{"beside the model", func(*builder, string, *Options) {}, []string{"dict.source", "dict.target"}, nil},
		{"equal ones are stored once", func(b *builder, dir string, o *Options) {
			o.Dict = filepath.Join(dir, "dict.s.txt")
			b.args["share_all_embeddings"] = true
		}, []string{"dict.source"}, []string{}},
		{"named", func(b *builder, dir string, o *Options) {
			os.Rename(filepath.Join(dir, "dict.s.txt"), filepath.Join(dir, "words"))
			o.SourceDict = filepath.Join(dir, "words")
		}, []string{"dict.source", "dict.target"}, nil},
		{"languages by flags", func(b *builder, dir string, o *Options) {
			os.Rename(filepath.Join(dir, "dict.s.txt"), filepath.Join(dir, "dict.en.txt"))
			o.SourceLang = "en"
		}, []string{"dict.source", "dict.target"}, nil},
		{"another folder", func(b *builder, dir string, o *Options) {
			o.DictDir = filepath.Join(dir, "data")
			os.Mkdir(o.DictDir, 0o777)
			os.Rename(filepath.Join(dir, "dict.t.txt"), filepath.Join(o.DictDir, "dict.t.txt"))
		}, []string{"dict.source", "dict.target"}, nil},
		{"missing", func(b *builder, dir string, o *Options) { os.Remove(filepath.Join(dir, "dict.t.txt")) }, nil,
			[]string{`dictionary "dict.t.txt" not found in "DIR" (there: dict.s.txt); give it with --target-dict`}},
		{"missing, named", func(b *builder, dir string, o *Options) { o.TargetDict = filepath.Join(dir, "no") }, nil,
			[]string{`dict.target: stat DIR/no: no such file or directory`}},
		{"languages unknown", func(b *builder, dir string, o *Options) { o.Args = filepath.Join(dir, "few.json") }, nil, []string{
			`the checkpoint does not say its source language (--source-lang), so its dictionary in "DIR" is not known (there: dict.s.txt, dict.t.txt); give it with --source-dict`,
			`the checkpoint does not say its target language (--target-lang), so its dictionary in "DIR" is not known (there: dict.s.txt, dict.t.txt); give it with --target-dict`,
		}},
		{"of another size", func(b *builder, dir string, o *Options) { o.TargetDict = filepath.Join(dir, "dict.s.txt") }, nil,
			[]string{`dictionary "DIR/dict.s.txt" has 9 entries (5 lines and the four special symbols), but decoder.embed_tokens has 11 rows`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			if c.err != nil && len(c.err) == 0 {
				b.source, b.target = builtVocab, builtVocab
				for _, n := range []string{"decoder.embed_tokens.weight", "decoder.output_projection.weight"} {
					b.same(n, "encoder.embed_tokens.weight")
				}
			}
			path := b.write(t)
			dir := filepath.Dir(path)
			writeFile(t, filepath.Join(dir, "few.json"), []byte(`{"arch": "memsizer", "encoder_attention_heads": 2}`))
			opts := plainText()
			c.edit(b, dir, &opts)
			m, err := Load(path, opts)
			if len(c.err) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				if got := sectionNames(m.Sections); !slices.Equal(got, c.want) {
					t.Errorf("sections: got %q, want %q", got, c.want)
				}
				return
			}
			bad := problemsOf(t, path, opts)
			for i := range bad.Problems {
				bad.Problems[i] = strings.ReplaceAll(bad.Problems[i], dir, "DIR")
			}
			if !slices.Equal(bad.Problems, c.err) {
				t.Errorf("got %q, want %q", bad.Problems, c.err)
			}
		})
	}
}

func TestLanguageModelDictionary(t *testing.T) {
	path := newLanguageModel().write(t)
	m := load(t, path, plainText())
	if got := sectionNames(m.Sections); !slices.Equal(got, []string{format.SectionTargetDict}) {
		t.Errorf("sections: got %q", got)
	}
	if got := m.Found.Texts[0].Entries; got != builtVocab {
		t.Errorf("entries: got %d, want %d", got, builtVocab)
	}
}

func TestTokenization(t *testing.T) {
	yes, no := true, false
	flat := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	for _, c := range []struct {
		name     string
		args     map[string]any
		opts     Options
		files    []string
		want     format.Tokenization
		sections []string // beyond the dictionaries
		problems []string
	}{
		{name: "nothing is known", problems: []string{
			"the checkpoint does not say how text was tokenised; give --tokenizer moses|space|nltk|none",
			"the checkpoint does not say how words were split; give --bpe subword_nmt|fastbpe|sentencepiece|gpt2|bytes|byte_bpe|characters|none",
		}},
		{name: "None is not known", args: flat("tokenizer", nil, "bpe", nil), opts: Options{BPE: "none"}, problems: []string{
			"the checkpoint does not say how text was tokenised; give --tokenizer moses|space|nltk|none",
		}},
		{name: "none by flags", opts: plainText(), want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "none", BPE: "none"}},
		{
			name: "flat args", args: flat("tokenizer", "moses", "bpe", "subword_nmt", "bpe_codes", "/data/codes.4k", "moses_no_escape", true, "moses_source_lang", "en"),
			files: []string{"codes.4k"},
			want:  format.Tokenization{SourceLang: "en", TargetLang: "t", Tokenizer: "moses", MosesNoEscape: true, BPE: "subword_nmt"}, sections: []string{"bpe.codes"},
		},
		{
			name: "groups of a cfg", args: flat("model", flat("_name", "memsizer", "encoder_attention_heads", 2), "task", flat("source_lang", "s", "target_lang", "t"),
				"tokenizer", flat("_name", "moses", "source_lang", "de", "target_lang", "fr", "moses_no_dash_splits", true),
				"bpe", flat("_name", "sentencepiece", "sentencepiece_model", "/x/spm.unigram.model")),
			files: []string{"spm.unigram.model"},
			want:  format.Tokenization{SourceLang: "de", TargetLang: "fr", Tokenizer: "moses", MosesNoDashSplits: true, BPE: "sentencepiece"}, sections: []string{"sentencepiece.model"},
		},
		{
			name: "flags over settings", args: flat("tokenizer", "space", "bpe", "fastbpe", "bpe_codes", "a", "moses_no_escape", true),
			opts:  Options{Tokenizer: "moses", MosesNoDashSplits: &yes, MosesNoEscape: &no, NormalizePunctuation: &yes, SourceLang: "s", BPE: "subword_nmt", BPECodes: "DIR/b", BPESeparator: "~~", BPEGlossaries: []string{"x"}},
			files: []string{"a", "b"},
			want:  format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "moses", MosesNoDashSplits: true, NormalizePunctuation: true, BPE: "subword_nmt", BPESeparator: "~~", BPEGlossaries: []string{"x"}}, sections: []string{"bpe.codes"},
		},
		{
			name: "codes tell fastbpe", opts: Options{Tokenizer: "space", BPECodes: "DIR/fast"}, files: []string{"fast"},
			want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "space", BPE: "fastbpe"}, sections: []string{"bpe.codes"},
		},
		{
			name: "codes tell subword_nmt", opts: Options{Tokenizer: "space", BPECodes: "DIR/codes"}, files: []string{"codes"},
			want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "space", BPE: "subword_nmt"}, sections: []string{"bpe.codes"},
		},
		{
			name: "usual names beside the model", args: flat("tokenizer", "nltk", "bpe", "subword_nmt"), files: []string{"bpecodes"},
			want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "nltk", BPE: "subword_nmt"}, sections: []string{"bpe.codes"},
		},
		{name: "codes missing", args: flat("tokenizer", "space", "bpe", "fastbpe", "bpe_codes", "/data/codes.4k"), problems: []string{
			`fastbpe needs "/data/codes.4k", which is neither there nor in "DIR"; give it with --bpe-codes`,
		}},
		{name: "another codes file does not stand in", args: flat("tokenizer", "space", "bpe", "fastbpe", "bpe_codes", "/data/codes.4k"), files: []string{"bpe.codes"}, problems: []string{
			`fastbpe needs "/data/codes.4k", which is neither there nor in "DIR"; give it with --bpe-codes`,
		}},
		{name: "model missing", args: flat("tokenizer", "space"), opts: Options{BPE: "sentencepiece"}, problems: []string{
			`sentencepiece needs a file; give it with --sentencepiece-model`,
		}},
		{
			name: "old name of the model", args: flat("tokenizer", "space", "bpe", "sentencepiece", "sentencepiece_vocab", "x/y.model"), files: []string{"y.model"},
			want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "space", BPE: "sentencepiece"}, sections: []string{"sentencepiece.model"},
		},
		{
			name: "gpt2's addresses", args: flat("tokenizer", "space", "bpe", "gpt2", "gpt2_encoder_json", "https://example.org/gpt2/encoder.json", "gpt2_vocab_bpe", "https://example.org/gpt2/vocab.bpe"),
			files: []string{"encoder.json", "vocab.bpe"},
			want:  format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "space", BPE: "gpt2"}, sections: []string{"gpt2.encoder.json", "gpt2.vocab.bpe"},
		},
		{name: "gpt2 without files", args: flat("tokenizer", "space", "bpe", "gpt2"), problems: []string{
			`gpt2 needs a file; give it with --gpt2-encoder-json`, `gpt2 needs a file; give it with --gpt2-vocab-bpe`,
		}},
		{
			name: "byte_bpe", args: flat("tokenizer", "space", "bpe", "byte_bpe", "sentencepiece_model_path", "/x/bbpe.model"), files: []string{"bbpe.model"},
			want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "space", BPE: "byte_bpe"}, sections: []string{"sentencepiece.model"},
		},
		{name: "bytes", args: flat("tokenizer", "space", "bpe", "bytes"), want: format.Tokenization{SourceLang: "s", TargetLang: "t", Tokenizer: "space", BPE: "bytes"}},
		{name: "not supported", args: flat("tokenizer", "spacy", "bpe", "bert"), problems: []string{
			`tokenizer "spacy" is not supported; give --tokenizer moses|space|nltk|none`,
			`bpe "bert" is not supported; give --bpe subword_nmt|fastbpe|sentencepiece|gpt2|bytes|byte_bpe|characters|none`,
		}},
		{name: "threshold without vocabulary", args: flat("tokenizer", "space", "bpe", "subword_nmt"), opts: Options{BPECodes: "DIR/codes", BPEVocabThreshold: func() *int { n := 50; return &n }()}, files: []string{"codes"}, problems: []string{
			`a vocabulary threshold needs the vocabulary; give it with --bpe-vocab`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			b.args = merged(b.args, c.args)
			path := b.write(t)
			dir := filepath.Dir(path)
			for _, f := range c.files {
				text := "#version: 0.2\na b\n"
				if f == "fast" {
					text = "a b 10\n"
				}
				writeFile(t, filepath.Join(dir, f), []byte(text))
			}
			c.opts.BPECodes = strings.ReplaceAll(c.opts.BPECodes, "DIR", dir)
			m, err := Load(path, c.opts)
			var bad *ModelError
			if errors.As(err, &bad) {
				for i := range bad.Problems {
					bad.Problems[i] = strings.ReplaceAll(bad.Problems[i], dir, "DIR")
				}
				if !slices.Equal(bad.Problems, c.problems) {
					t.Errorf("got %q, want %q", bad.Problems, c.problems)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if len(c.problems) > 0 {
				t.Fatalf("loaded, want %q", c.problems)
			}
			if !reflect.DeepEqual(m.Tokenization, c.want) {
				t.Errorf("got %+v, want %+v", m.Tokenization, c.want)
			}
			if got := sectionNames(m.Sections)[2:]; !slices.Equal(got, c.sections) {
				t.Errorf("sections: got %q, want %q", got, c.sections)
			}
		})
	}
}

func TestFindText(t *testing.T) {
	path := newTranslation().write(t)
	cfg := load(t, path, plainText()).Config
	dir := filepath.Dir(path)
	text, err := FindText(path, &cfg, Options{Tokenizer: "none", BPE: "none", Args: filepath.Join(dir, "args.json")})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sectionNames(text.Sections), text.Tokenization.SourceLang); got != "[dict.source dict.target] s" && got != "[dict.source dict.target]s" {
		t.Errorf("got %s", got)
	}
	var bad *ModelError
	if _, err := FindText(path, &cfg, Options{}); !errors.As(err, &bad) || len(bad.Problems) != 4 {
		t.Errorf("got %v, want four problems", err)
	}
	if _, err := FindText(path, &cfg, Options{Args: filepath.Join(dir, "dict.s.txt")}); err == nil || !strings.Contains(err.Error(), "args file") {
		t.Errorf("got %v, want an error of the args file", err)
	}
}
