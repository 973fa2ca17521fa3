package text

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// mosesCase is one record of testdata/moses_cases.jsonl.
type mosesCase struct {
	Lang        string   `json:"lang"`
	In          string   `json:"in"`
	Tokenized   []string `json:"tokenized"`   // dashes kept, kept and escaped, split, split and escaped
	Detokenized []string `json:"detokenized"` // of the words of In; and with unescape
	Normalized  *string  `json:"normalized"`
	Protected   []string `json:"protected"` // patterns
}

func eachLine(t *testing.T, name string, f func(line []byte)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		f(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestMosesCases compares with what sacremoses 0.0.45 made of the lines of
// testdata/moses_cases.jsonl, or of the file that MOSES_CASES names
// (testdata/moses_oracle.py writes larger ones).
func TestMosesCases(t *testing.T) {
	name := os.Getenv("MOSES_CASES")
	if name == "" {
		name = "testdata/moses_cases.jsonl"
	}
	n, bad := 0, 0
	check := func(what string, c mosesCase, got, want string) {
		if n++; got != want {
			if bad++; bad <= 20 {
				t.Errorf("%s, lang %q, %+q:\n got %+q\nwant %+q", what, c.Lang, c.In, got, want)
			}
		}
	}
	tokenizers := map[string]*MosesTokenizer{}
	eachLine(t, name, func(line []byte) {
		var c mosesCase
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		for i, want := range c.Tokenized {
			key := c.Lang + string(rune('0'+i)) + strings.Join(c.Protected, " ")
			tok := tokenizers[key]
			if tok == nil {
				tok = mosesTokenizer(t, c.Lang, i&2 != 0, i&1 != 0, c.Protected...)
				tokenizers[key] = tok
			}
			check("tokenized", c, tok.TokenizeLine(c.In), want)
			check("tokens", c, strings.Join(tok.Tokenize(c.In), " "), strings.Join(pythonFields(want), " "))
		}
		for i, want := range c.Detokenized {
			check("detokenized", c, NewMosesDetokenizer(c.Lang, i == 1).Detokenize(pythonFields(c.In)), want)
		}
		if c.Normalized != nil {
			check("normalized", c, NewPunctuationNormalizer(c.Lang).Normalize(c.In), *c.Normalized)
		}
	})
	if n < 1000 {
		t.Errorf("only %d comparisons", n)
	}
	t.Logf("%d comparisons, %d differ", n, bad)
}

func mosesTokenizer(t testing.TB, lang string, dashes, escape bool, protected ...string) *MosesTokenizer {
	t.Helper()
	opts := MosesOptions{AggressiveDashSplits: dashes, Escape: escape}
	for _, p := range protected {
		opts.ProtectedPatterns = append(opts.ProtectedPatterns, regexp.MustCompile("(?i)"+p))
	}
	tok, err := NewMosesTokenizer(lang, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestMosesReference compares with the project's reference cases.
func TestMosesReference(t *testing.T) {
	const name = "../../../shared/reference/text/moses.jsonl"
	if _, err := os.Stat(name); err != nil {
		t.Skip("the reference cases are not here: " + err.Error())
	}
	n := 0
	eachLine(t, name, func(line []byte) {
		var c struct {
			Lang, In          string
			FF                string `json:"tok_aggressive_false_escape_false"`
			FT                string `json:"tok_aggressive_false_escape_true"`
			TF                string `json:"tok_aggressive_true_escape_false"`
			TT                string `json:"tok_aggressive_true_escape_true"`
			Detok, Normalized string
			DetokAggressive   string `json:"detok_aggressive"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		n++
		check := func(what, got, want string) {
			if got != want {
				t.Errorf("%s, lang %q, %q:\n got %q\nwant %q", what, c.Lang, c.In, got, want)
			}
		}
		for i, want := range []string{c.FF, c.FT, c.TF, c.TT} {
			check("tokenized", mosesTokenizer(t, c.Lang, i&2 != 0, i&1 != 0).TokenizeLine(c.In), want)
		}
		check("detokenized", NewMosesDetokenizer(c.Lang, true).Detokenize(pythonFields(c.FT)), c.Detok)
		check("detokenized, dashes", NewMosesDetokenizer(c.Lang, true).Detokenize(pythonFields(c.TT)), c.DetokAggressive)
		check("normalized", NewPunctuationNormalizer(c.Lang).Normalize(c.In), c.Normalized)
	})
	if n == 0 {
		t.Error("no cases")
	}
}

// TestMosesCzechDash: where sacremoses raises an exception, the dash joins.
func TestMosesCzechDash(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"x ano' - li y", "x ano'-li y"},
		{"ano' – Mailem", "ano'–Mailem"},
		{"ano' - ne", "ano' - ne"},
		{"ano' -", "ano' -"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got := NewMosesDetokenizer("cs", true).Detokenize(pythonFields(c.in)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestMosesNilPattern(t *testing.T) {
	_, err := NewMosesTokenizer("en", MosesOptions{ProtectedPatterns: []*regexp.Regexp{nil}})
	if got, want := fmt.Sprint(err), "text: protected pattern 0 is nil"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMosesConcurrent: one tokeniser for many goroutines, under -race.
func TestMosesConcurrent(t *testing.T) {
	tok := mosesTokenizer(t, "en", true, true)
	var want []string
	for _, s := range mosesText {
		want = append(want, tok.TokenizeLine(s))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				k := i % len(want)
				if got := tok.TokenizeLine(mosesText[k]); got != want[k] {
					t.Errorf("got %q, want %q", got, want[k])
				}
			}
		})
	}
	wg.Wait()
}
