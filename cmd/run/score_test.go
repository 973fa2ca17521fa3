package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"memsizer/format"
	"memsizer/runtime"
)

const trainedModel = "../../testdata/multi30k-en-de/model.msz"

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// column parses a field of every line that is not empty.
func column(t *testing.T, text string, i int) []float64 {
	t.Helper()
	var out []float64
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.Split(line, "\t")[i], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, v)
	}
	return out
}

func sumOf(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

const someText = "w3 w14 w9\n\nw1 unheard-of w2 w2\nw40\n"

// TestScoreText: totals, tokens and blocks agree with the library and with
// each other.
func TestScoreText(t *testing.T) {
	for _, model := range []string{plainModel, adaptiveModel} {
		m, err := runtime.Open(model)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, args := range [][]string{{}, {"--tokens-per-sample", "1"}, {"--tokens-per-sample", "5"}, {"--tokens-per-sample", "5", "--context-window", "3"}, {"--tokens-per-sample", "100000"}} {
			t.Run(filepath.Base(filepath.Dir(model))+" "+strings.Join(args, " "), func(t *testing.T) {
				args := append([]string{"score", "-m", model, "--format", "json"}, args...)
				r := ask(someText, args...)
				var got totals
				if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 || r.errors != "" {
					t.Fatalf("status %d, %s%s: %v", r.code, r.out, r.errors, err)
				}
				// 8 words, 4 line ends
				if got.Lines != 4 || got.Words != 8 || got.Tokens != 12 || got.Unknown != 1 {
					t.Errorf("totals %+v", got)
				}
				loss := -float64(got.Sum) / 12
				for name, pair := range map[string][2]float64{
					"loss": {float64(got.Loss), loss}, "bits": {float64(got.Loss2), loss / math.Ln2},
					"perplexity": {float64(got.Perplexity), math.Exp(loss)}, "per word": {float64(got.WordPPL), math.Exp(loss)},
				} {
					if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
						t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
					}
				}
				each := ask(someText, append(args, "--per-token")...)
				var again totals
				if err := json.Unmarshal([]byte(each.errors), &again); err != nil || again != got {
					t.Errorf("with --per-token: %+v (%v), want %+v", again, err, got)
				}
				if want := "w3\t w14\t w9\t </s>\t </s>\t w1\t <unk>\t w2\t w2\t </s>\t w40\t </s>\t"; symbols(each.out) != want {
					t.Errorf("tokens %q, want %q", symbols(each.out), want)
				}
				if s := sumOf(column(t, each.out, 1)); math.Abs(s-float64(got.Sum)) > 1e-4 {
					t.Errorf("tokens sum up to %v, want %v", s, got.Sum)
				}
				for _, threads := range []string{"1", "2", "5"} {
					if again := ask(someText, append(args, "--threads", threads)...); again.out != r.out {
						t.Errorf("%s threads: %s, want %s", threads, again.out, r.out)
					}
				}
				if again := ask("", append(args, write(t, "text", someText))...); again.out != r.out {
					t.Errorf("from a file: %s, want %s", again.out, r.out)
				}
			})
		}
	}
}

// symbols are the first fields of lines, with their tabs, separated by blanks.
func symbols(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, line[:strings.IndexByte(line, '\t')+1])
	}
	return strings.Join(out, " ")
}

// TestScoreLongText: more tokens than are held at a time, token by token.
func TestScoreLongText(t *testing.T) {
	line := "w3 w14 w9 w1 w2\n"
	const n = 3000
	r := ask(strings.Repeat(line, n), "score", "-m", plainModel, "--per-token", "--tokens-per-sample", "9", "--context-window", "3")
	if r.code != 0 || symbols(r.out) != strings.TrimSuffix(strings.Repeat("w3\t w14\t w9\t w1\t w2\t </s>\t ", n), " ") {
		t.Errorf("status %d, %d bytes, %s", r.code, len(r.out), r.errors)
	}
	in, w := io.Pipe() // it does not end
	go func() {
		for {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}()
	var errs bytes.Buffer
	code := execute([]string{"score", "-m", plainModel, "--per-token"}, environment{in, &fullDisk{1000}, &errs})
	in.Close()
	if code != 1 || !strings.Contains(errs.String(), errFull.Error()) {
		t.Errorf("a full disk: status %d, %s", code, errs.String())
	}
}

func TestScoreTranslations(t *testing.T) {
	source := "Two dogs run.\n\nA child sleeps.\nA cat\n\n"
	target := "Zwei Hunde laufen.\n\nEin Kind schläft.\n\nEine Katze\n"
	m, err := runtime.Open(trainedModel)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	args := []string{"score", "-m", trainedModel, "--source", write(t, "s", source), "--target", write(t, "t", target), "--format", "json"}
	r := ask("", args...)
	if r.code != 0 {
		t.Fatal(r.errors)
	}
	lines := strings.Split(r.out, "\n")
	if len(lines) != 6 || lines[1] != "" || lines[5] != "" {
		t.Fatalf("lines %q", lines)
	}
	var total totals
	if err := json.Unmarshal([]byte(r.errors), &total); err != nil {
		t.Fatal(err)
	}
	sources, targets := strings.Split(source, "\n"), strings.Split(target, "\n")
	s := runtime.NewScorer(m)
	sum, tokens := 0.0, 0
	for i, l := range lines[:5] {
		if i == 1 {
			continue
		}
		src, _ := m.Text().EncodeSource(sources[i])
		tgt, _ := m.Text().EncodeTarget(targets[i])
		lp, err := s.Translation(t.Context(), append(src, format.EOS), append(tgt, format.EOS))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for _, v := range lp {
			want += float64(v)
		}
		if got := fmt.Sprintf("%.6f\t%.6f\t%d", want, want/float64(len(lp)), len(lp)); l != got {
			t.Errorf("line %d: %q, want %q", i+1, l, got)
		}
		sum += want
		tokens += len(lp)
	}
	if total.Lines != 5 || total.Words != 8 || total.Tokens != int64(tokens) || math.Abs(float64(total.Sum)-sum) > 1e-6 ||
		math.Abs(float64(total.WordPPL)-math.Exp(-sum/(8+4))) > 1e-6 {
		t.Errorf("totals %+v, want %d tokens, %v", total, tokens, sum)
	}
	for _, threads := range []string{"1", "4"} {
		if again := ask("", append(args, "--threads", threads)...); again.out != r.out || again.errors != r.errors {
			t.Errorf("%s threads: %s%s", threads, again.out, again.errors)
		}
	}
	each := ask("", append(args, "--per-token")...)
	if each.errors != r.errors || len(column(t, each.out, 1)) != tokens || strings.Count(each.out, "\n\n") < 4 {
		t.Errorf("with --per-token: %s%s", each.out, each.errors)
	}
}

// TestScoreOfTranslations: the scores of what the trained model translated
// are those of the search.
func TestScoreOfTranslations(t *testing.T) {
	const source = "../../testdata/multi30k-en-de/test_2016_flickr.en"
	tr := ask("", "translate", "-q", "-m", trainedModel, "--nbest", "1", "--max-len-a", "1.2", "--max-len-b", "10", "--format", "jsonl", source)
	if tr.code != 0 {
		t.Fatal(tr.errors)
	}
	var texts strings.Builder
	var want []jsonRecord
	for line := range strings.Lines(tr.out) {
		var r jsonRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
		texts.WriteString(r.Text + "\n")
	}
	r := ask("", "score", "-m", trainedModel, "--source", source, "--target", write(t, "t", texts.String()))
	means, counts := column(t, r.out, 1), column(t, r.out, 2)
	if r.code != 0 || len(means) != len(want) {
		t.Fatalf("status %d, %d lines of %d: %s", r.code, len(means), len(want), r.errors)
	}
	same := 0
	for i, w := range want {
		h := w.Hypotheses[0]
		if int(counts[i]) != len(h.Tokens) {
			continue // the text is split into other pieces
		}
		same++
		if math.Abs(means[i]-float64(h.Score)) > 1e-4 {
			t.Errorf("line %d: %v, the search says %v", i+1, means[i], h.Score)
		}
	}
	if same < len(want)*3/4 {
		t.Errorf("%d of %d lines have the same number of tokens", same, len(want))
	}
}

func TestScoreUsage(t *testing.T) {
	text, empty, longer := write(t, "a", "w3\n"), write(t, "b", ""), write(t, "c", "w3\nw4\n")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no model":              {nil, 2, "no model given"},
		"format":                {[]string{"-m", plainModel, "--format", "jsonl"}, 2, `--format is "jsonl"`},
		"source alone":          {[]string{"-m", trainedModel, "--source", text}, 2, "go together"},
		"translation model":     {[]string{"-m", trainedModel, text}, 2, "is a translation model"},
		"language model":        {[]string{"-m", plainModel, "--source", text, "--target", text}, 2, "is a language model"},
		"files and source":      {[]string{"-m", trainedModel, "--source", text, "--target", text, text}, 2, "exclude each other"},
		"stdin twice":           {[]string{"-m", trainedModel, "--source", "-", "--target", "-"}, 2, "stdin"},
		"all context":           {[]string{"-m", plainModel, "--tokens-per-sample", "4", "--context-window", "4", text}, 1, "4 of context"},
		"more target lines":     {[]string{"-m", trainedModel, "--source", text, "--target", longer}, 1, "differ after line 1"},
		"more source lines":     {[]string{"-m", trainedModel, "--source", longer, "--target", text}, 1, "differ after line 1"},
		"an empty text":         {[]string{"-m", plainModel, empty}, 1, "nothing to score"},
		"empty files":           {[]string{"-m", trainedModel, "--source", empty, "--target", empty}, 1, "nothing to score"},
		"a missing text":        {[]string{"-m", plainModel, text + "x"}, 1, "no such file"},
		"a missing translation": {[]string{"-m", trainedModel, "--source", text, "--target", text + "x"}, 1, "no such file"},
		"a model that is none":  {[]string{"-m", text, text}, 1, text},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask("", append([]string{"score"}, c.args...)...)
			if r.code != c.code || !strings.Contains(r.errors, c.want) {
				t.Errorf("status %d, %q, want %d and %q", r.code, r.errors, c.code, c.want)
			}
		})
	}
}

func TestScoreAwkwardText(t *testing.T) {
	for name, text := range map[string]string{
		"no line end": "w3", "invalid UTF-8": "\xff w3\x00\n", "long": strings.Repeat("w3 w4 ", 3000) + "\n", "empty lines": "\n\n\n", "CRLF": "w3\r\nw4\r\n",
	} {
		r := ask(text, "score", "-m", adaptiveModel, "--format", "json")
		var got totals
		if err := json.Unmarshal([]byte(r.out), &got); r.code != 0 || err != nil || got.Tokens != got.Words+int64(got.Lines) || !(got.Perplexity > 1) {
			t.Errorf("%s: status %d, %s%s", name, r.code, r.out, r.errors)
		}
	}
	b, err := json.Marshal(&totals{Sum: jsonNumber(math.Inf(-1)), Perplexity: jsonNumber(math.Inf(1)), Loss: 0.1})
	if err != nil || !strings.Contains(string(b), `"log_prob":null`) || !strings.Contains(string(b), `"loss":0.1`) {
		t.Errorf("%s, %v", b, err)
	}
}
