package main

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		name, in string
		raw      []string
		text     []string
	}{
		{"nothing", "", nil, nil},
		{"one", "a\n", []string{"a\n"}, []string{"a"}},
		{"no final newline", "a\nb", []string{"a\n", "b"}, []string{"a", "b"}},
		{"empty lines", "\n\na\n\n", []string{"\n", "\n", "a\n", "\n"}, []string{"", "", "a", ""}},
		{"crlf", "a\r\nb\r\n\r\n", []string{"a\r\n", "b\r\n", "\r\n"}, []string{"a", "b", ""}},
		{"lone cr", "a\rb\nc\r", []string{"a\rb\n", "c\r"}, []string{"a\rb", "c"}},
		{"nul", "\x00\na\x00b\n", []string{"\x00\n", "a\x00b\n"}, []string{"\x00", "a\x00b"}},
		{"not utf-8", "\xff\xfe\n\xc3\n", []string{"\xff\xfe\n", "\xc3\n"}, []string{"\xff\xfe", "\xc3"}},
		{"other line ends", "a\u2028b\u0085c\vd\n", []string{"a\u2028b\u0085c\vd\n"}, []string{"a\u2028b\u0085c\vd"}},
		{"longer than the buffer", long + "\nb\n" + long, []string{long + "\n", "b\n", long}, []string{long, "b", long}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)),
				iotest.DataErrReader(strings.NewReader(c.in))} {
				l := newLineReader(r)
				var raw, text []string
				for {
					line, err := l.next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					raw, text = append(raw, line.raw), append(text, line.text())
				}
				if !slices.Equal(raw, c.raw) {
					t.Errorf("got raw lines %.80q, want %.80q", raw, c.raw)
				}
				if !slices.Equal(text, c.text) {
					t.Errorf("got %.80q, want %.80q", text, c.text)
				}
			}
		})
	}
}

func TestLineReaderCutsEndlessLines(t *testing.T) {
	l := newLineReader(strings.NewReader(strings.Repeat("a", 300_000) + "\nb\n"))
	l.max = 100_000
	first, err := l.next()
	if err != nil || len(first.raw) != 100_000 || first.dropped != 200_001 {
		t.Errorf("got %d bytes and %d dropped, error %v, want 100000 and 200001", len(first.raw), first.dropped, err)
	}
	second, err := l.next()
	if err != nil || second.text() != "b" || second.dropped != 0 {
		t.Errorf("got %q, %d dropped, error %v, want \"b\"", second.text(), second.dropped, err)
	}
}

func TestLineReaderReportsErrors(t *testing.T) {
	l := newLineReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if line, err := l.next(); err != nil || line.text() != "a" {
		t.Errorf("got %q, %v, want \"a\"", line.text(), err)
	}
	if line, err := l.next(); err != io.ErrUnexpectedEOF {
		t.Errorf("got %q, %v, want %v: half a line is no line", line.text(), err, io.ErrUnexpectedEOF)
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add("a\nb\r\n\x00", 16)
	f.Fuzz(func(t *testing.T, in string, limit int) {
		l := newLineReader(strings.NewReader(in))
		l.max = 1 + (limit&0xffff)%5000
		var kept strings.Builder
		bytes, lines := int64(0), 0
		for {
			line, err := l.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			lines++
			bytes += int64(len(line.raw)) + line.dropped
			kept.WriteString(line.raw)
			if strings.Contains(strings.TrimSuffix(line.raw, "\n"), "\n") {
				t.Errorf("line %q has a line end inside", line.raw)
			}
		}
		want := strings.Count(in, "\n")
		if in != "" && !strings.HasSuffix(in, "\n") {
			want++
		}
		if lines != want || bytes != int64(len(in)) {
			t.Errorf("got %d lines of %d bytes, want %d of %d", lines, bytes, want, len(in))
		}
		if len(in) <= l.max && kept.String() != in {
			t.Errorf("got %q, want %q", kept.String(), in)
		}
	})
}
