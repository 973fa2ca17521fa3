package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memsizer/format"
	"memsizer/runtime"
)

// Small bundled language models with random weights over words w0, w1, ….
const (
	plainModel    = "../../testdata/lm-gelu/model.msz"
	adaptiveModel = "../../testdata/lm-adaptive-tied/model.msz"
)

// asked is what a command printed.
type asked struct {
	code        int
	out, errors string
}

func ask(in string, args ...string) asked {
	var out, errs bytes.Buffer
	code := execute(args, environment{strings.NewReader(in), &out, &errs})
	return asked{code, out.String(), errs.String()}
}

// generateText runs generate without a failure.
func generateText(t *testing.T, in string, args ...string) string {
	t.Helper()
	r := ask(in, append([]string{"generate"}, args...)...)
	if r.code != 0 || r.errors != "" {
		t.Fatalf("%q: status %d, %s", args, r.code, r.errors)
	}
	return r.out
}

// wordPrompts are n prompts of 0 to 8 words, some unknown.
func wordPrompts(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		for k := range i * 5 % 9 {
			lines[i] += fmt.Sprintf("w%d ", (i*7+k*11)%60)
		}
		lines[i] = strings.TrimSpace(lines[i])
		if i%6 == 5 {
			lines[i] += " unheard-of"
		}
	}
	return lines
}

// TestGenerateTogetherAndAlone: the continuation of a line is the same for
// one prompt, among others, and with any number of threads.
func TestGenerateTogetherAndAlone(t *testing.T) {
	prompts := wordPrompts(30)
	in := strings.Join(prompts, "\n") + "\n"
	for _, model := range []string{plainModel, adaptiveModel} {
		for _, args := range [][]string{
			{}, {"--past-eos"}, {"--format", "jsonl"}, {"--no-prompt", "--stop", "w3"},
			{"--sampling"}, {"--sampling", "--sampling-topk", "4", "--temperature", "0.7", "--seed", "9", "--past-eos", "--format", "jsonl"},
			{"--sampling", "--sampling-topp", "0.5"},
			{"--beam", "3", "--nbest", "2"}, {"--beam", "2", "--format", "jsonl", "--no-prompt"},
		} {
			args = append([]string{"-m", model, "-n", "25"}, args...)
			t.Run(strings.Join(args[1:], " "), func(t *testing.T) {
				want := generateText(t, in, append(args, "--threads", "1")...)
				for _, threads := range []string{"0", "2", "5"} {
					if got := generateText(t, in, append(args, "--threads", threads)...); got != want {
						t.Errorf("%s threads: %s\nwant %s", threads, got, want)
					}
				}
				if slices.Contains(args, "--sampling") || strings.Contains(want, `"line"`) || slices.Contains(args, "--nbest") {
					return // these know the number of the line
				}
				alone := ""
				for _, p := range prompts {
					alone += generateText(t, "", append(args, "--prompt", p)...)
				}
				if alone != want {
					t.Errorf("alone: %s\ntogether: %s", alone, want)
				}
			})
		}
	}
}

// tokensOf continues a prompt through the library.
func tokensOf(t *testing.T, m *runtime.Model, prompt string, n int) []string {
	ids, _ := m.Text().EncodeTarget(prompt)
	var words []string
	for tok, err := range m.Continue(t.Context(), 0, ids, runtime.DefaultOptions()) {
		if err != nil {
			t.Fatal(err)
		}
		if words = append(words, m.Text().Target().Symbol(tok.ID)); len(words) == n {
			break
		}
	}
	return words
}

// TestGenerateText: what is written is the prompt and the tokens, joined.
func TestGenerateText(t *testing.T) {
	m, err := runtime.Open(plainModel)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const prompt = "w9 w14 w40"
	words := tokensOf(t, m, prompt, 40)
	eos := slices.Index(words, "</s>")
	if eos < 1 || eos > 38 {
		t.Fatalf("the test needs a sentence that ends: %q", words)
	}
	text := func(w []string) string { return strings.Join(w, " ") }
	cut := func(stops ...string) string {
		rest := text(words[:eos])
		end := len(rest)
		for _, s := range stops {
			end = min(end, strings.Index(rest, s))
		}
		return prompt + " " + rest[:end] + "\n"
	}
	withLines := strings.ReplaceAll(strings.ReplaceAll(text(words), " </s> ", "\n"), " </s>", "\n")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"to the end of the sentence": {nil, prompt + " " + text(words[:eos]) + "\n"},
		"without the prompt":         {[]string{"--no-prompt"}, text(words[:eos]) + "\n"},
		"fewer tokens":               {[]string{"-n", "1"}, prompt + " " + words[0] + "\n"},
		"past the end":               {[]string{"--past-eos", "-n", "40"}, prompt + " " + withLines + "\n"},
		"before a string":            {[]string{"--stop", words[2] + " " + words[3]}, cut(words[2] + " " + words[3])},
		"within a word":              {[]string{"--stop", words[eos-1][1:] + "x", "--stop", words[eos-1][1:]}, cut(words[eos-1][1:])},
		"the first of two strings":   {[]string{"--stop", words[eos-1], "--stop", words[0][:2]}, cut(words[eos-1], words[0][:2])},
		"a string that never comes":  {[]string{"--stop", "w1 never"}, prompt + " " + text(words[:eos]) + "\n"},
		"before a line end":          {[]string{"--past-eos", "-n", "40", "--stop", "\n"}, prompt + " " + text(words[:eos]) + "\n"},
		"the stop is in the prompt":  {[]string{"--stop", "w14", "-n", "1"}, prompt + " " + words[0] + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-m", plainModel}, c.args...)
			if got := generateText(t, prompt+"\n", args...); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := generateText(t, "", append(args, "-p", prompt)...); got != c.want {
				t.Errorf("as --prompt: %q, want %q", got, c.want)
			}
		})
	}
}

func TestGenerateJSON(t *testing.T) {
	for _, args := range [][]string{{}, {"--beam", "3", "--nbest", "3"}, {"--past-eos"}, {"--sampling"}, {"--max-len-b", "12"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append([]string{"-m", adaptiveModel, "-n", "12", "--format", "jsonl"}, args...)
			prompts := []string{"w3 w14 w9", "", `<quoted> "w5" & w5`}
			lines := strings.Split(strings.TrimSuffix(generateText(t, strings.Join(prompts, "\n"), args...), "\n"), "\n")
			if len(lines) != len(prompts) {
				t.Fatalf("%d lines, want %d", len(lines), len(prompts))
			}
			for i, l := range lines {
				var g generation
				d := json.NewDecoder(strings.NewReader(l))
				d.DisallowUnknownFields()
				if err := d.Decode(&g); err != nil {
					t.Fatal(err)
				}
				if g.Line != i+1 || g.Prompt != prompts[i] || g.PromptTokens != len(strings.Fields(prompts[i])) || len(g.Continuations) == 0 {
					t.Errorf("record %s", l)
				}
				for _, c := range g.Continuations {
					sum := 0.0
					for _, s := range c.Scores {
						sum += float64(s)
					}
					if len(c.Tokens) != len(c.Scores) || len(c.Tokens) < 1 || len(c.Tokens) > 13 {
						t.Errorf("%d tokens, %d scores", len(c.Tokens), len(c.Scores))
					}
					if len(args) == 6 && math.Abs(sum/float64(len(c.Scores))-float64(c.Score)) > 1e-5 {
						t.Errorf("score %v, the mean of the tokens' is %v", c.Score, sum/float64(len(c.Scores)))
					}
				}
			}
		})
	}
}

// TestGenerateAwkwardPrompts: any bytes are a prompt, a line of output each.
func TestGenerateAwkwardPrompts(t *testing.T) {
	prompts := []string{"w1\x00w2 \x00", "\xff\xfe w3 \xe2\x82", " \t w4 \u00a0\u2028w5\u0085", "w1 " + strings.Repeat("w7 ", 5000), "", "\ufeffw2", "\r"}
	for _, args := range [][]string{{}, {"--beam", "2"}, {"--format", "jsonl"}} {
		out := generateText(t, strings.Join(prompts, "\n"), append([]string{"-m", plainModel, "-n", "3", "--no-prompt"}, args...)...)
		if n := strings.Count(out, "\n"); n != len(prompts) {
			t.Errorf("%q: %d lines, want %d", args, n, len(prompts))
		}
	}
}

func TestGenerateUsage(t *testing.T) {
	mt := testModel(t, 60)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no model":           {nil, 2, "no model given"},
		"unknown format":     {[]string{"-m", plainModel, "--format", "fairseq"}, 2, `--format is "fairseq"`},
		"no tokens":          {[]string{"-m", plainModel, "-n", "0"}, 2, "-n is 0"},
		"prompt and file":    {[]string{"-m", plainModel, "-p", "x", "file"}, 2, "exclude each other"},
		"past eos in search": {[]string{"-m", plainModel, "--past-eos", "--beam", "2"}, 2, "--past-eos"},
		"empty stop":         {[]string{"-m", plainModel, "--stop", ""}, 2, "--stop is empty"},
		"stats":              {[]string{"-m", plainModel, "--stats", "xml"}, 2, `--stats is "xml"`},
		"top-k alone":        {[]string{"-m", plainModel, "--sampling-topk", "3"}, 2, "need sampling"},
		"missing file":       {[]string{"-m", plainModel, filepath.Join(t.TempDir(), "none")}, 1, "no such file"},
		"translation model":  {[]string{"-m", mt, "-p", "w5"}, 1, "run translate"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask("", append([]string{"generate"}, c.args...)...)
			if r.code != c.code || r.out != "" || !strings.Contains(r.errors, c.want) {
				t.Errorf("status %d, %q, %q, want %d and %q", r.code, r.out, r.errors, c.code, c.want)
			}
		})
	}
}

func TestGenerateStatistics(t *testing.T) {
	for _, n := range []int{12, 10_000, 21_500} {
		r := ask("", "generate", "-m", plainModel, "-p", "w3 w4", "-n", fmt.Sprint(n), "--past-eos", "--stats", "json")
		var s generateStatistics
		if err := json.Unmarshal([]byte(r.errors), &s); r.code != 0 || err != nil {
			t.Fatalf("status %d, %v, %s", r.code, err, r.errors)
		}
		if s.Tokens != int64(n) || s.Prompts != 1 || s.PromptTokens != 2 || s.Interrupted || (s.First != nil) != (n > 10_000) {
			t.Errorf("%d tokens: %+v", n, s)
		}
		if s.First != nil && (s.First.Tokens != 10_000 || s.Last.Tokens != 10_000 || s.Last.ResidentMemory <= 0 || s.First.Fastest <= 0 || s.First.Fastest > s.First.ProcessorTime/5) {
			t.Errorf("first %+v, last %+v", s.First, s.Last)
		}
	}
}

// fullDisk takes room bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left on device")

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestGenerateFullDisk: a failure to write ends the run though the input
// does not end.
func TestGenerateFullDisk(t *testing.T) {
	for _, args := range [][]string{{"-n", "5"}, {"-n", "1000000", "--past-eos"}, {"-n", "5", "--beam", "2"}, {"-n", "5", "--format", "jsonl"}} {
		in, w := io.Pipe()
		go func() {
			for {
				if _, err := io.WriteString(w, "w3 w4\n"); err != nil {
					return
				}
			}
		}()
		var errs bytes.Buffer
		code := execute(append([]string{"generate", "-m", plainModel}, args...), environment{in, &fullDisk{1000}, &errs})
		in.Close()
		if code != 1 || !strings.Contains(errs.String(), errFull.Error()) {
			t.Errorf("%q: status %d, %s", args, code, errs.String())
		}
	}
}

// TestGenerateAnswersAtOnce: a program may wait for each continuation before
// it gives the next prompt.
func TestGenerateAnswersAtOnce(t *testing.T) {
	for _, args := range [][]string{{}, {"--format", "jsonl"}, {"--beam", "2"}} {
		in, w := io.Pipe()
		r, out := io.Pipe()
		done := make(chan int, 1)
		go func() {
			done <- execute(append([]string{"generate", "-m", plainModel, "-n", "4"}, args...), environment{in, out, io.Discard})
			out.Close()
		}()
		read := newLineReader(r)
		for i := range 5 {
			fmt.Fprintf(w, "w%d\n", i)
			answer := make(chan error, 1)
			go func() {
				_, err := read.next()
				answer <- err
			}()
			select {
			case err := <-answer:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("no answer")
			}
		}
		w.Close()
		if code := <-done; code != 0 {
			t.Errorf("status %d", code)
		}
	}
}

// TestTextStream: text that comes token by token is the text of all tokens.
func TestTextStream(t *testing.T) {
	m, err := runtime.Open("../../testdata/multi30k-en-de/model.msz") // moses and BPE
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, line := range []string{
		`Ein Mann, der "sehr" alt ist, sagt: Hallo (zum Hund)!`, "Zwei Hunde — laufen; 3.5 % des Geldes & so.", "  Ohne  Ende  ", "",
	} {
		ids, _ := m.Text().EncodeTarget(line)
		for split := range len(ids) + 1 {
			if split > 0 && strings.HasSuffix(m.Text().Target().Symbol(ids[split-1]), "@@") {
				continue // a prompt ends with a word
			}
			s := newTextStream(m, ids[:split], []string{"never seen", "laufX"})
			got := m.Text().Decode(ids[:split])
			for _, id := range ids[split:] {
				text, over := s.token(id)
				if got += text; over {
					t.Error("stopped")
				}
			}
			if got += s.end(); got != m.Text().Decode(ids) {
				t.Errorf("after %d tokens: %q, want %q", split, got, m.Text().Decode(ids))
			}
		}
	}
	// longer than the window, with sentences
	s := newTextStream(m, nil, nil)
	var all []int32
	got := ""
	ids, _ := m.Text().EncodeTarget("Zwei junge Männer spielen im Garten. ")
	for range 200 {
		for _, id := range ids {
			text, _ := s.token(id)
			got += text
		}
		all = append(all, ids...)
	}
	if got += s.end(); got != m.Text().Decode(all) {
		t.Errorf("%q, want %q", got, m.Text().Decode(all))
	}
	text, _ := s.token(format.EOS)
	if text != "\n" {
		t.Errorf("eos is %q, want a line end", text)
	}
}
