package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		w := gzip.NewWriter(&b)
		io.WriteString(w, p)
		w.Close()
	}
	return b.String()
}

func zstded(t testing.TB, parts ...string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, p := range parts {
		b = w.EncodeAll([]byte(p), b)
	}
	return string(b)
}

func writeFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readLines is "name:line:text" of every line.
func readLines(in *input) (lines []string, err error) {
	for {
		l, err := in.nextLine()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, filepath.Base(l.file.describe())+":"+string(rune('0'+l.line))+":"+l.text())
	}
}

func TestInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string { return writeFile(t, filepath.Join(dir, name), text) }
	plain := file("plain", "a\nb")
	for _, c := range []struct {
		name  string
		files []string
		stdin string
		want  []string
	}{
		{"stdin", nil, "x\ny\n", []string{"stdin:1:x", "stdin:2:y"}},
		{"dash", []string{plain, "-", plain}, "x", []string{"plain:1:a", "plain:2:b", "stdin:1:x", "plain:1:a", "plain:2:b"}},
		{"gzip by suffix", []string{file("g.gz", gzipped("a\nb", "c\nd"))}, "", []string{"g.gz:1:a", "g.gz:2:bc", "g.gz:3:d"}},
		{"gzip by content", nil, gzipped("a\n"), []string{"stdin:1:a"}},
		{"zstd by suffix", []string{file("z.zst", zstded(t, "a\nb\n", "c"))}, "", []string{"z.zst:1:a", "z.zst:2:b", "z.zst:3:c"}},
		{"zstd by content", []string{file("z", zstded(t, "a\n"))}, "", []string{"z:1:a"}},
		{"empty files", []string{file("e1", ""), plain, file("e2", "")}, "", []string{"plain:1:a", "plain:2:b"}},
		{"byte order mark", []string{file("bom", "\ufeffa\n\ufeffb\n")}, "", []string{"bom:1:a", "bom:2:\ufeffb"}},
		{"begins like zstd", nil, "(\n", []string{"stdin:1:("}},
		{"begins like gzip", nil, "\x1f\n", []string{"stdin:1:\x1f"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := openInputs(c.files, strings.NewReader(c.stdin))
			if err != nil {
				t.Fatal(err)
			}
			got, err := readLines(&input{files: files})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, error %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestInputErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string { return writeFile(t, filepath.Join(dir, name), text) }
	cut := gzipped(strings.Repeat("some line\n", 1000))
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"missing", []string{filepath.Join(dir, "none")}, "none"},
		{"folder", []string{dir}, "is a folder"},
		{"stdin twice", []string{"-", "-"}, "given twice"},
		{"no gzip", []string{file("plain.gz", "text\n")}, "reading " + filepath.Join(dir, "plain.gz") + ": gzip"},
		{"gzip cut", []string{file("cut.gz", cut[:len(cut)-8])}, "after line 1000: unexpected EOF"},
		{"no zstd", []string{file("plain.zst", "text\n")}, "plain.zst after line 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := openInputs(c.files, strings.NewReader(""))
			if err == nil {
				_, err = readLines(&input{files: files})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}
