package text

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestNLTKCases compares with what NLTK 3.8.1 made of the lines of
// testdata/nltk_cases.jsonl, or of the file that NLTK_CASES names
// (testdata/nltk_oracle.py writes larger ones).
func TestNLTKCases(t *testing.T) {
	name := os.Getenv("NLTK_CASES")
	if name == "" {
		name = "testdata/nltk_cases.jsonl"
	}
	tok := NewNLTKTokenizer()
	n, bad := 0, 0
	eachLine(t, name, func(line []byte) {
		var c struct {
			In               string
			Sentences, Words []string
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		n++
		got := tok.model.sentences(c.In)
		if slices.Equal(got, c.Sentences) {
			if got = tok.Tokenize(c.In); slices.Equal(got, c.Words) {
				return
			}
			c.Sentences = c.Words
		}
		if bad++; bad <= 10 {
			t.Errorf("%q:\n got %q\nwant %q", c.In, got, c.Sentences)
		}
	})
	if n < 100 {
		t.Errorf("only %d cases", n)
	}
	t.Logf("%d lines, %d differ", n, bad)
}

func FuzzNLTKTokenizer(f *testing.F) {
	for _, s := range []string{"", `He said "x." (Then) Mr. Y's ... can't`, "a. . . b\xff.", "gİmme 'tis"} {
		f.Add(s)
	}
	tok := NewNLTKTokenizer()
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range tok.Tokenize(s) {
			if w == "" || len(pythonFields(w)) != 1 || pythonFields(w)[0] != w {
				t.Fatalf("token %q of %q", w, s)
			}
		}
	})
}

func BenchmarkNLTKTokenizer(b *testing.B) {
	tok := NewNLTKTokenizer()
	b.SetBytes(int64(len(mosesText[0])))
	for b.Loop() {
		tok.Tokenize(mosesText[0])
	}
}
