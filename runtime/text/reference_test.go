package text

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
)

// referenceFile opens a file of the reference cases, which are not part of the
// repository.
func referenceFile(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared/reference", name))
	if err != nil {
		t.Skipf("reference cases are not here: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func readReference(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../shared/reference", name))
	if err != nil {
		t.Skipf("reference cases are not here: %v", err)
	}
	return data
}

// readCases decodes a file of one JSON value per line.
func readCases[T any](t testing.TB, name string) []T {
	t.Helper()
	var cases []T
	in := bufio.NewScanner(referenceFile(t, name))
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var c T
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s has no cases", name)
	}
	return cases
}

func TestSubwordNMTReference(t *testing.T) {
	vocabulary := readReference(t, "multi30k-en-de/dict.en.txt")
	codes := string(readReference(t, "multi30k-en-de/bpe.codes"))
	for _, variant := range []struct {
		key string
		o   BPEOptions
	}{
		{"bpe", BPEOptions{}},
		{"bpe_vocabulary_threshold_50", BPEOptions{
			Vocabulary: strings.NewReader(string(vocabulary)), VocabularyName: "dict.en.txt", VocabularyThreshold: 50,
		}},
		{"bpe_glossaries", BPEOptions{Glossaries: []string{`U\.S\.A\.`, "foo_bar"}}},
	} {
		t.Run(variant.key, func(t *testing.T) {
			b, err := NewSubwordNMT(strings.NewReader(codes), "bpe.codes", variant.o)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range readCases[map[string]string](t, "text/subword_nmt.jsonl") {
				if got := b.Encode(c["in"]); got != c[variant.key] {
					t.Errorf("%q:\n got %q\nwant %q", c["in"], got, c[variant.key])
				}
			}
		})
	}
}

func TestSentencePieceReference(t *testing.T) {
	for _, name := range []string{"unigram", "bpe"} {
		t.Run(name, func(t *testing.T) {
			sp, err := ParseSentencePiece(referenceFile(t, "sentencepiece/"+name+".model"), name+".model")
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range readCases[struct {
				In      string
				Pieces  []string
				IDs     []int32
				Decoded string
			}](t, "sentencepiece/"+name+".jsonl") {
				ids, pieces := sp.Encode(c.In)
				if !slices.Equal(pieces, c.Pieces) || !slices.Equal(ids, c.IDs) {
					t.Errorf("%q:\n got %q %v\nwant %q %v", c.In, pieces, ids, c.Pieces, c.IDs)
				}
				if got := sp.DecodePieces(c.Pieces); got != c.Decoded {
					t.Errorf("%q decoded:\n got %q\nwant %q", c.Pieces, got, c.Decoded)
				}
			}
		})
	}
}

func TestTranslationReference(t *testing.T) {
	files := map[string][]byte{
		format.SectionSourceDict: readReference(t, "multi30k-en-de/dict.en.txt"),
		format.SectionTargetDict: readReference(t, "multi30k-en-de/dict.de.txt"),
		format.SectionBPECodes:   readReference(t, "multi30k-en-de/bpe.codes"),
	}
	p, err := NewPipeline(format.Tokenization{
		SourceLang: "en", TargetLang: "de",
		Tokenizer: "moses", MosesNoDashSplits: true, NormalizePunctuation: true,
		BPE: "subword_nmt",
	}, sectionsOf(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range readCases[struct {
		Source       string
		BPE          string
		SourceTokens []int32 `json:"source_tokens"`
		NBest        []struct{ Tokens []int32 }
		Text         string
	}](t, "multi30k-en-de/test_2016_flickr.hypotheses.jsonl") {
		ids, pieces := p.EncodeSource(c.Source)
		if got := strings.Join(pieces, " "); got != c.BPE {
			t.Errorf("%q:\n got %q\nwant %q", c.Source, got, c.BPE)
		}
		if got := append(ids, format.EOS); !slices.Equal(got, c.SourceTokens) {
			t.Errorf("%q:\n got %v\nwant %v", c.Source, got, c.SourceTokens)
		}
		if got := p.Decode(c.NBest[0].Tokens); got != c.Text {
			t.Errorf("%v:\n got %q\nwant %q", c.NBest[0].Tokens, got, c.Text)
		}
	}
}

// sectionsOf serves sections from a map.
func sectionsOf(files map[string][]byte) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		data, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return data, nil
	}
}
