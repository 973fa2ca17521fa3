package text

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// segmentationConfig says how the lines of a case folder were segmented.
type segmentationConfig struct {
	Kind       string
	Separator  string
	Threshold  int
	Vocabulary bool
	Glossaries []string
	Merges     int
}

// segmentationCase is one record of cases.jsonl: In and Symbols are pointers
// because "" is a case too.
type segmentationCase struct {
	In         *string
	Out        string
	Symbols    *string
	Decoded    string
	Pieces     []string
	IDs        []int32
	DecodedIDs string `json:"decoded_ids"`
}

// TestSegmentationCases compares with what the original programs made of the
// lines in testdata/segmentation and in the folder that SEGMENTATION_CASES
// names (testdata/segmentation_oracle.py writes both).
func TestSegmentationCases(t *testing.T) {
	for _, root := range []string{"testdata/segmentation", os.Getenv("SEGMENTATION_CASES")} {
		configs, err := filepath.Glob(filepath.Join(root, "*", "config.json"))
		if root == "" {
			continue
		}
		if err != nil || len(configs) < 20 {
			t.Fatalf("%s: %d cases, error %v", root, len(configs), err)
		}
		for _, c := range configs {
			folder := filepath.Dir(c)
			t.Run(filepath.Base(folder), func(t *testing.T) { checkFolder(t, folder) })
		}
	}
}

func checkFolder(t *testing.T, folder string) {
	var config segmentationConfig
	if err := json.Unmarshal(readMaybeGzipped(t, filepath.Join(folder, "config.json")), &config); err != nil {
		t.Fatal(err)
	}
	open := func(name string) io.Reader {
		return bytes.NewReader(readMaybeGzipped(t, filepath.Join(folder, name)))
	}
	lines := bufio.NewScanner(open("cases.jsonl"))
	lines.Buffer(nil, 1<<24)
	var cases []segmentationCase
	for lines.Scan() {
		var c segmentationCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) < 20 {
		t.Fatalf("%d cases, error %v", len(cases), lines.Err())
	}
	if config.Kind == "sentencepiece" {
		checkSentencePiece(t, open("model"), cases)
		return
	}
	s := openSegmenter(t, config, open)
	for _, c := range cases {
		if t.Failed() {
			return
		}
		symbols := c.Out
		if c.In != nil {
			if got := s.Encode(*c.In); got != c.Out {
				t.Errorf("%+q:\n got %+q\nwant %+q", *c.In, got, c.Out)
			}
		} else {
			symbols = *c.Symbols
		}
		if got := s.Decode(symbols); got != c.Decoded {
			t.Errorf("%+q decoded:\n got %+q\nwant %+q", symbols, got, c.Decoded)
		}
	}
}

func checkSentencePiece(t *testing.T, model io.Reader, cases []segmentationCase) {
	sp, err := ParseSentencePiece(model, "model")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if t.Failed() {
			return // one example of a kind is enough
		}
		if c.In != nil {
			ids, pieces := sp.Encode(*c.In)
			if !slices.Equal(pieces, c.Pieces) || !slices.Equal(ids, c.IDs) {
				t.Errorf("%+q:\n got %+q %v\nwant %+q %v", *c.In, pieces, ids, c.Pieces, c.IDs)
			}
			if got := sp.DecodePieces(c.Pieces); got != c.Decoded {
				t.Errorf("%+q decoded:\n got %+q\nwant %+q", c.Pieces, got, c.Decoded)
			}
		}
		if got := sp.Decode(c.IDs); got != c.DecodedIDs {
			t.Errorf("%v decoded:\n got %+q\nwant %+q", c.IDs, got, c.DecodedIDs)
		}
	}
}

func openSegmenter(t testing.TB, c segmentationConfig, open func(string) io.Reader) segmenter {
	o := BPEOptions{Separator: c.Separator, VocabularyThreshold: c.Threshold, Glossaries: c.Glossaries, Merges: c.Merges}
	if c.Vocabulary {
		o.Vocabulary = open("vocab")
	}
	var s segmenter
	var err error
	switch c.Kind {
	case "subword_nmt":
		s, err = NewSubwordNMT(open("codes"), "codes", o)
	case "fastbpe":
		s, err = NewFastBPE(open("codes"), "codes", o)
	case "gpt2":
		s, err = ParseGPT2(open("encoder.json"), "encoder.json", open("vocab.bpe"), "vocab.bpe")
	case "bytes":
		s = byteSegmenter{}
	case "characters":
		s = characterSegmenter{}
	case "byte_bpe":
		var sp *SentencePiece
		sp, err = ParseSentencePiece(open("model"), "model")
		s = byteSentencePiece{sp}
	default:
		t.Fatalf("unknown kind %q", c.Kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readMaybeGzipped reads a file or, if it is not there, its .gz.
func readMaybeGzipped(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = os.ReadFile(name + ".gz"); err == nil {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
				data, err = io.ReadAll(z)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// naiveMerge is byte-pair encoding as its definition has it.
func naiveMerge(codes []codesPair, symbols []string) []string {
	for {
		best := len(codes)
		for i := range len(symbols) - 1 {
			if k := slices.Index(codes, codesPair{symbols[i], symbols[i+1]}); k >= 0 {
				best = min(best, k)
			}
		}
		if best == len(codes) {
			return symbols
		}
		var next []string
		for i := 0; i < len(symbols); i++ {
			if i+1 < len(symbols) && symbols[i] == codes[best].left && symbols[i+1] == codes[best].right {
				next = append(next, symbols[i]+symbols[i+1])
				i++
			} else {
				next = append(next, symbols[i])
			}
		}
		symbols = next
	}
}

func FuzzMerges(f *testing.F) {
	f.Add("a b\nab c\nb c\na bc", "abcabcaabbcc")
	f.Add("a a\naa a\naa aa\naaa a", "aaaaaaaaaaaaaaaaaaaaa")
	f.Add("b a\nab a\na b\naba b", "ababababab")
	f.Fuzz(func(t *testing.T, list, text string) {
		if len(list) > 200 || len(text) > 100 || text == "" {
			return
		}
		var codes []codesPair
		m := newMerges(0)
		for _, line := range strings.Split(list, "\n") {
			left, right, ok := strings.Cut(line, " ")
			if ok && left != "" && right != "" && !m.has(left, right) {
				m.set(left, right, len(codes))
				codes = append(codes, codesPair{left, right})
			}
		}
		var bounds []int32
		var symbols []string
		for i := range len(text) {
			bounds = append(bounds, int32(i))
			symbols = append(symbols, text[i:i+1])
		}
		bounds = m.apply(new(mergeWork), text, append(bounds, int32(len(text))))
		var got []string
		for i := range len(bounds) - 1 {
			got = append(got, text[bounds[i]:bounds[i+1]])
		}
		if want := naiveMerge(codes, symbols); !slices.Equal(got, want) {
			t.Errorf("%q of %q:\n got %q\nwant %q", list, text, got, want)
		}
	})
}
