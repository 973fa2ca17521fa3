package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memsizer/runtime"
)

// echo is a translator that changes lines to upper case and fails before line
// `last`.
func echo(last int) func(context.Context, iter.Seq[runtime.Line]) iter.Seq2[runtime.Translation, error] {
	return func(_ context.Context, lines iter.Seq[runtime.Line]) iter.Seq2[runtime.Translation, error] {
		return func(yield func(runtime.Translation, error) bool) {
			for l := range lines {
				if l.Number == last {
					yield(runtime.Translation{}, errStopped)
					return
				}
				t := runtime.Translation{Line: l.Number, Source: l.Text,
					Texts: []string{fmt.Sprintf("%d %s", l.Number, strings.ToUpper(l.Text))}}
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

var errStopped = errors.New("stopped")

// echoInto runs a resumable job over text up to line last.
func echoInto(t *testing.T, path, text string, last int) error {
	t.Helper()
	o, at, err := openJournalled(path, testIdentity())
	if err != nil {
		return err
	}
	f := &feed{in: &input{files: []*inputFile{{name: "-", stdin: strings.NewReader(text)}}}, stop: make(chan struct{})}
	if err := f.skip(at.Line, o.input, at.Input); err != nil {
		o.abandon()
		return err
	}
	write, _ := newForm("text", 1, letters{}, letters{})
	s := &session{feed: f, translate: echo(last), form: write, out: o, warnings: &warnings{w: io.Discard},
		progress: &progress{part: f.part, begun: time.Now()}}
	return s.run(context.Background(), func() bool { return false })
}

// What happens to an output between two runs.
var accidents = []struct {
	name string
	do   func(t *testing.T, path string)
}{
	{"nothing", func(*testing.T, string) {}},
	{"half a record", func(t *testing.T, path string) {
		writeFile(t, path, readFile(t, path)+"99 HALF A LI")
	}},
	{"zeros", func(t *testing.T, path string) {
		writeFile(t, path, readFile(t, path)+strings.Repeat("\x00", 5000))
	}},
}

func TestResume(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "line %d %s\n", i*7919%20_000, strings.Repeat("z", i%40))
	}
	in := b.String()
	for _, name := range []string{"out", "out.gz", "out.zst"} {
		dir := t.TempDir()
		undisturbed := filepath.Join(dir, "undisturbed."+name)
		if err := echoInto(t, undisturbed, in, -1); err != nil {
			t.Fatal(err)
		}
		want := readFile(t, undisturbed)
		for _, a := range accidents {
			t.Run(name+"/"+a.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), name)
				for _, last := range []int{0, 1, 2, 700, 701, 5000, 9999, 10_000, 19_999} {
					if err := echoInto(t, path, in, last); !errors.Is(err, errStopped) {
						t.Fatalf("stopped before line %d: got error %v", last, err)
					}
					got := readFile(t, path)
					if got != "" || last > 0 {
						if lines := strings.Count(unpack(t, name, []byte(got)), "\n"); lines != last {
							t.Errorf("stopped before line %d: the output has %d lines", last, lines)
						}
					}
					a.do(t, path)
				}
				if err := echoInto(t, path, in, -1); err != nil {
					t.Fatal(err)
				}
				if readFile(t, path) != want {
					t.Error("the output is not that of an undisturbed run")
				}
				if _, err := os.Stat(path + journalSuffix); !os.IsNotExist(err) {
					t.Errorf("the journal is still there (%v)", err)
				}
			})
		}
	}
}

func TestResumeRefused(t *testing.T) {
	in := text(testLines(1000))
	for _, c := range []struct {
		name   string
		in     string
		change func(t *testing.T, path string)
		want   string
	}{
		{"input changed", strings.Replace(in, "w", "v", 1), func(*testing.T, string) {}, "input's lines have changed"},
		{"line ends changed", strings.Replace(in, "\n", "\r\n", 1), func(*testing.T, string) {}, "input's lines have changed"},
		{"input cut", in[:100], func(*testing.T, string) {}, "the run that is to be continued had read 500"},
		{"output changed", in, func(t *testing.T, path string) { writeFile(t, path, "X"+readFile(t, path)[1:]) }, "have changed"},
		{"output cut", in, func(t *testing.T, path string) { writeFile(t, path, readFile(t, path)[:10]) }, "has 10 bytes"},
		{"output removed", in, func(t *testing.T, path string) { os.Remove(path) }, "no such file"},
		{"journal changed", in, func(t *testing.T, path string) { writeFile(t, path+journalSuffix, "x") }, "not a journal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if err := echoInto(t, path, in, 500); !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			c.change(t, path)
			before, _ := os.ReadFile(path)
			err := echoInto(t, path, c.in, -1)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the output was changed")
			}
		})
	}
}

// Killed after the journal was made and before the output was.
func TestResumeFromTheVeryBeginning(t *testing.T) {
	in := text(testLines(10))
	for _, left := range []string{"", "of something else\n"} {
		path := filepath.Join(t.TempDir(), "out")
		j, err := createJournal(path+journalSuffix, testIdentity())
		if err != nil {
			t.Fatal(err)
		}
		j.close()
		if left != "" {
			writeFile(t, path, left)
		}
		if err := echoInto(t, path, in, -1); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, path); !strings.HasPrefix(got, "0 ") || strings.Count(got, "\n") != 10 {
			t.Errorf("got %q", got)
		}
	}
}
