package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// buffer is a stream that several goroutines write to.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// call runs a command line.
func call(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err buffer
	status = execute(args, environment{in: strings.NewReader(stdin), out: &out, err: &err})
	return status, out.String(), err.String()
}

func text(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func TestTranslate(t *testing.T) {
	m := testModel(t, 64)
	lines := testLines(300)
	status, out, stderr := call(text(lines), "translate", "-m", m, "--threads", "3", "--rows", "20")
	if status != 0 || stderr != "" {
		t.Fatalf("got status %d, stderr %q", status, stderr)
	}
	got := split(out)
	if len(got) != len(lines) {
		t.Fatalf("got %d lines, want %d", len(got), len(lines))
	}
	different := map[string]bool{}
	for i, l := range got {
		if (l == "") != (lines[i] == "") {
			t.Errorf("line %d: %q gives %q", i+1, lines[i], l)
		}
		different[l] = true
	}
	if len(different) < 100 {
		t.Errorf("got %d different translations, too few for a test", len(different))
	}
	// The same line by line, from files, in other batches.
	dir := t.TempDir()
	a := writeFile(t, filepath.Join(dir, "a"), text(lines[:100]))
	b := writeFile(t, filepath.Join(dir, "b.gz"), gzipped(text(lines[100:299])))
	c := writeFile(t, filepath.Join(dir, "c.zst"), zstded(t, lines[299]))
	for _, args := range [][]string{
		{"--threads", "1", "--rows", "5"},
		{"--threads", "2", "--batch-tokens", "1", "--max-memory", "2G"},
		{"--interactive", "--threads", "1"},
		{"-o", filepath.Join(dir, "out")},
		{"-o", filepath.Join(dir, "out.gz")},
		{"-o", filepath.Join(dir, "out.zst")},
		{"-o", filepath.Join(dir, "resumable"), "--resume"},
	} {
		status, got, stderr := call("", append(append([]string{"translate", "-m", m}, args...), a, b, c)...)
		if status != 0 || stderr != "" {
			t.Fatalf("%q: got status %d, stderr %q", args, status, stderr)
		}
		if args[0] == "-o" {
			got = unpack(t, args[1], []byte(readFile(t, args[1])))
		}
		if got != out {
			t.Errorf("%q: the translations differ", args)
		}
	}
}

func TestTranslateForms(t *testing.T) {
	m := testModel(t, 64)
	lines := []string{"w5 w6 w7", "", "w8 zzz"}
	run := func(args ...string) []string {
		status, out, stderr := call(text(lines), append([]string{"translate", "-m", m, "--beam", "4", "--quiet"}, args...)...)
		if status != 0 || stderr != "" {
			t.Fatalf("got status %d, stderr %q", status, stderr)
		}
		return split(out)
	}
	best := run()
	nbest := run("--nbest", "3")
	if len(nbest) != 9 {
		t.Fatalf("got %d lines with --nbest 3, want 9", len(nbest))
	}
	for i, l := range nbest {
		f := strings.Split(l, "\t")
		if len(f) != 3 || f[0] != fmt.Sprint(i/3+1) || i%3 == 0 && f[2] != best[i/3] {
			t.Errorf("n-best line %d is %q", i+1, l)
		}
	}
	var labels []string
	for _, l := range run("--format", "fairseq", "--nbest", "2") {
		label, rest, _ := strings.Cut(l, "\t")
		labels = append(labels, label)
		if label == "S-2" && rest != "w8 <unk>" {
			t.Errorf("got source %q", rest)
		}
	}
	want := "S-0 H-0 D-0 P-0 H-0 D-0 P-0 S-1 H-1 D-1 P-1 S-2 H-2 D-2 P-2 H-2 D-2 P-2"
	if got := strings.Join(labels, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, l := range run("--format", "jsonl", "--nbest", "2") {
		var r jsonRecord
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatal(err)
		}
		if r.Line != i+1 || r.Source != lines[i] || r.Text != best[i] {
			t.Errorf("got record %+v", r)
		}
		for _, h := range r.Hypotheses {
			if len(h.Tokens) != len(h.TokenScores) || h.Tokens[len(h.Tokens)-1] != "</s>" {
				t.Errorf("line %d: got hypothesis %+v", i+1, h)
			}
		}
	}
}

func TestPrefixes(t *testing.T) {
	m := testModel(t, 64)
	dir := t.TempDir()
	p := writeFile(t, filepath.Join(dir, "p"), "w9 w10\n\nw11\n")
	status, out, stderr := call("w5 w6\nw5 w6\nw7\n", "translate", "-m", m, "--prefix", p)
	if status != 0 {
		t.Fatal(stderr)
	}
	_, plain, _ := call("w5 w6\nw5 w6\nw7\n", "translate", "-m", m)
	got := split(out)
	if !strings.HasPrefix(got[0], "w9 w10") || got[1] != split(plain)[1] || !strings.HasPrefix(got[2], "w11") {
		t.Errorf("got %q", got)
	}
	_, column, _ := call("w5 w6\tw9 w10\nw5 w6\nw7\tw11\n", "translate", "-m", m, "--prefix-column")
	if column != out {
		t.Errorf("from a column: got %q, want %q", column, out)
	}
	for _, in := range []string{"a\nb\n", "a\nb\nc\nd\n"} {
		status, _, stderr := call(in, "translate", "-m", m, "--prefix", p)
		if status != 1 || !strings.Contains(stderr, "more lines") {
			t.Errorf("got status %d, stderr %q, want 1 and the numbers of lines", status, stderr)
		}
	}
}

func TestSamplingIsRepeatable(t *testing.T) {
	m := testModel(t, 64)
	in := text(slices.Repeat([]string{"w5 w6 w7 w8"}, 200))
	run := func(args ...string) string {
		status, out, stderr := call(in, append([]string{"translate", "-m", m, "--sampling", "--beam", "2"}, args...)...)
		if status != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	a := run("--seed", "7", "--threads", "1", "--rows", "4")
	if b := run("--seed", "7", "--threads", "4", "--rows", "50"); a != b {
		t.Error("the same seed gives other samples with other threads")
	}
	if b := run("--seed", "8"); a == b {
		t.Error("another seed gives the same samples")
	}
	seen := map[string]bool{}
	for _, l := range split(a) {
		seen[l] = true
	}
	if len(seen) < 20 {
		t.Errorf("200 equal lines have %d different samples, want many", len(seen))
	}
	run("--sampling-topk", "3")
	run("--sampling-topp", "0.5")
}

// Every awkward line gives one line, and a warning where something was done.
func TestAwkwardLines(t *testing.T) {
	m := testModel(t, 20)
	lines := []string{
		"w5 w6",
		"",
		" \t ",
		strings.Repeat("w5 w6 "+strings.Repeat("w7", 20)+"! 7 ", 20_000), // a megabyte
		"w5 \xff\xc3 w6 \xe4\xbd",
		"w5\x00w6 w7\x00",
		"w5 w6\r",
		"zzz ÿÿÿ 你好",
		"\x00",
		strings.Repeat("x", 100_000),
		"w5 w6",
	}
	in := strings.Join(lines, "\n") // no final newline
	args := []string{"translate", "-m", m, "--threads", "8", "--rows", "40", "--beam", "2", "--max-len-b", "4"}
	status, out, stderr := call(in, append(args, "--format", "jsonl", "--warnings")...)
	if status != 0 {
		t.Fatal(stderr)
	}
	records := split(out)
	if len(records) != len(lines) {
		t.Fatalf("got %d lines, want %d", len(records), len(lines))
	}
	var got, texts []string
	for _, l := range records {
		var r jsonRecord
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, r.Text)
		for _, w := range r.Warnings {
			got = append(got, fmt.Sprintf("%d %s %d", r.Line, w.Kind, w.Count))
		}
	}
	// 20,000 times "w5 w6 …!": "7" begins the next sentence.
	want := []string{
		"4 split 20001", "5 invalid-utf8 3", "6 nul 2", "6 unknown 2", "8 unknown 3", "9 nul 1", "9 unknown 1", "10 unknown 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got warnings %q, want %q", got, want)
	}
	if texts[0] == "" || texts[0] != texts[6] || texts[0] != texts[10] {
		t.Errorf("%q gives %q, with CR %q, without newline %q", lines[0], texts[0], texts[6], texts[10])
	}
	for i, empty := range []bool{false, true, true, false, false, false, false, false, false, false, false} {
		if empty != (texts[i] == "") {
			t.Errorf("line %d gives %.40q", i+1, texts[i])
		}
	}
	for _, want := range []string{
		"run: warning: line 4: too long for the model, translated in 20001 parts\n",
		"run: warning: line 9: 1 NUL character\n",
		"run: warning: 2 lines, the first is line 6: 3 NUL characters\n",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr is %q, want it to have %q", stderr, want)
		}
	}
	status, out, stderr = call(in, append(args, "--quiet")...)
	if status != 0 || stderr != "" || out != text(texts) {
		t.Errorf("as text: got status %d, stderr %q, the same translations: %v", status, stderr, out == text(texts))
	}
}

func TestLongLines(t *testing.T) {
	m := testModel(t, 6) // five words and eos
	in := "w5\nw5 w6. W7 w8 w9!\nw10\n"
	for _, c := range []struct {
		policy string
		status int
		lines  int
		stderr string
	}{
		{"split", 0, 3, ""}, // five words fit
		{"fail", 0, 3, ""},
	} {
		status, out, stderr := call(in, "translate", "-m", m, "--long", c.policy)
		if status != c.status || len(split(out)) != c.lines || stderr != c.stderr {
			t.Errorf("%s: got status %d, %d lines, stderr %q", c.policy, status, len(split(out)), stderr)
		}
	}
	in = "w5\nw5 w6 w6. W7 w8 w9!\nw10\n"
	_, split2, stderr := call(in, "translate", "-m", m, "--long", "split")
	_, parts, _ := call("w5 w6 w6.\nW7 w8 w9!\n", "translate", "-m", m)
	if got, want := split(split2)[1], strings.Join(split(parts), " "); got != want {
		t.Errorf("split: got %q, want %q", got, want)
	}
	if !strings.Contains(stderr, "line 2: too long for the model, translated in 2 parts") {
		t.Errorf("split: got stderr %q", stderr)
	}
	_, cut, stderr := call(in, "translate", "-m", m, "--long", "truncate")
	_, head, _ := call("w5 w6 w6. W7 w8\n", "translate", "-m", m)
	if got, want := split(cut)[1], split(head)[0]; got != want {
		t.Errorf("truncate: got %q, want %q", got, want)
	}
	if !strings.Contains(stderr, "line 2: too long for the model, 1 token dropped") {
		t.Errorf("truncate: got stderr %q", stderr)
	}
	status, out, stderr := call(in, "translate", "-m", m, "--long", "fail")
	if status != 1 || len(split(out)) != 1 || !strings.Contains(stderr, "input line 2 has 7 tokens, the model takes at most 6") {
		t.Errorf("fail: got status %d, %q, stderr %q", status, out, stderr)
	}
}

func TestUsage(t *testing.T) {
	m := testModel(t, 64)
	dir := t.TempDir()
	in := writeFile(t, filepath.Join(dir, "in"), "w5\n")
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"no command", nil, 2, "run: error: no command given\nrun: hint: "},
		{"unknown command", []string{"transalte"}, 2, "unknown command"},
		{"unknown flag", []string{"translate", "--foo"}, 2, "run: error: unknown flag: --foo"},
		{"no model", []string{"translate", in}, 2, "run: error: no model given\nrun: hint: run translate -m"},
		{"no such model", []string{"translate", "-m", out}, 1, "run: error: "},
		{"no model file", []string{"translate", "-m", in}, 1, "not a .msz file"},
		{"no such input", []string{"translate", "-m", m, out}, 1, out},
		{"format", []string{"translate", "-m", m, "--format", "xml"}, 2, `--format is "xml"`},
		{"stats", []string{"translate", "-m", m, "--stats", "xml"}, 2, `--stats is "xml"`},
		{"long", []string{"translate", "-m", m, "--long", "cut"}, 2, "option long is cut"},
		{"nbest", []string{"translate", "-m", m, "--nbest", "6"}, 2, "option nbest is 6"},
		{"beam", []string{"translate", "-m", m, "--beam", "0"}, 2, "option beam is 0"},
		{"topk", []string{"translate", "-m", m, "--sampling-topk", "5"}, 2, "need sampling"},
		{"rows", []string{"translate", "-m", m, "--rows", "-1"}, 2, "--rows is -1"},
		{"threads", []string{"translate", "-m", m, "--threads", "x"}, 2, "--threads"},
		{"memory", []string{"translate", "-m", m, "--max-memory", "x"}, 2, `"x" is no number of bytes`},
		{"too little memory", []string{"translate", "-m", m, "--max-memory", "1M", in}, 1, "--max-memory of 1 MB is not enough\nrun: hint: "},
		{"resume to stdout", []string{"translate", "-m", m, "--resume"}, 2, "--resume needs -o FILE"},
		{"resume to a device", []string{"translate", "-m", m, "--resume", "-o", "/dev/null", in}, 2, "regular file"},
		{"two prefixes", []string{"translate", "-m", m, "--prefix", in, "--prefix-column"}, 2, "exclude each other"},
		{"stdin twice", []string{"translate", "-m", m, "--prefix", "-"}, 2, "stdin cannot be"},
		{"in is out", []string{"translate", "-m", m, "-o", in, in}, 2, "is both input and output"},
		{"in is out by another name", []string{"translate", "-m", m, "-o", dir + "/./in", in}, 2, "is both input and output"},
		{"prefix is out", []string{"translate", "-m", m, "-o", in, "--prefix", in}, 2, "is both input and output"},
		{"journal is in", []string{"translate", "-m", m, "--resume", "-o", out, writeFile(t, out+".resume", "w5\n")}, 2, "name of the output's journal"},
		{"model is out", []string{"translate", "-m", m, "-o", m, in}, 2, "is the model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := call("w5\n", c.args...)
			if status != c.status || !strings.Contains(stderr, c.want) || stdout != "" {
				t.Errorf("got status %d, stdout %q, stderr %q, want %d and %q", status, stdout, stderr, c.status, c.want)
			}
		})
	}
	if got := readFile(t, in); got != "w5\n" {
		t.Errorf("the input is %q now", got)
	}
	// A run that fails before it begins leaves the output alone.
	writeFile(t, out, "precious")
	if status, _, _ := call("", "translate", "-m", in, "-o", out, in); status != 1 || readFile(t, out) != "precious" {
		t.Errorf("got status %d, output %q", status, readFile(t, out))
	}
}

func TestStatistics(t *testing.T) {
	m := testModel(t, 64)
	_, _, stderr := call("w5 w6\n\nw7\n", "translate", "-m", m, "--stats", "json", "--threads", "2", "--rows", "10")
	var s statistics
	if err := json.Unmarshal([]byte(stderr), &s); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if s.Model != m || s.Lines != 3 || s.SourceTokens != 5 || s.TargetTokens < 2 || s.Threads != 2 || s.Rows != 20 ||
		s.Beam != 5 || s.Steps == 0 || !(s.RowOccupancy > 0 && s.RowOccupancy <= 1) {
		t.Errorf("got %s", stderr)
	}
	if _, _, stderr := call("w5\n", "translate", "-m", m, "--stats", "text"); !strings.Contains(stderr, "run: 1 lines, ") {
		t.Errorf("got %q", stderr)
	}
	_, out, stderr := call("w5\n", "translate", "-m", m, "--progress")
	if out == "" || stderr != "" { // it ends before the first report
		t.Errorf("got stdout %q, stderr %q", out, stderr)
	}
}
