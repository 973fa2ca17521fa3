package runtime

import (
	"testing"
	"unicode/utf8"

	"memsizer/runtime/text"
)

// The replacements are those of the Unicode standard's recommended practice
// (and of Python's errors="replace").
func TestValidUTF8(t *testing.T) {
	for _, c := range []struct {
		in, want string
		count    int
	}{
		{"", "", 0},
		{"häß€𝄞", "häß€𝄞", 0},
		{"\ufffd", "\ufffd", 0},
		{"a\xffb", "a\ufffdb", 1},
		{"\xc3", "\ufffd", 1},
		{"\xe4\xbd", "\ufffd", 1},
		{"\xe4\xbdA", "\ufffdA", 1},
		{"\xe4\xbd\xe4\xbd\xa0", "\ufffd你", 1},
		{"\x80\x80", "\ufffd\ufffd", 2},
		{"\xc0\xaf", "\ufffd\ufffd", 2},           // overlong
		{"\xe0\x80\xaf", "\ufffd\ufffd\ufffd", 3}, // overlong
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd", 3}, // surrogate
		{"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd", 4},
		{"\xf0\x9d\x84", "\ufffd", 1},
		{"\xf0\x9d\x84x", "\ufffdx", 1},
		{"\xf5\x80", "\ufffd\ufffd", 2},
	} {
		got, n := text.ValidUTF8(c.in)
		if got != c.want || n != c.count {
			t.Errorf("%q: got %q and %d, want %q and %d", c.in, got, n, c.want, c.count)
		}
	}
}

func FuzzValidUTF8(f *testing.F) {
	f.Add("a\xff\xe4\xbd")
	f.Fuzz(func(t *testing.T, s string) {
		got, n := text.ValidUTF8(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q: got %q", s, got)
		}
		if utf8.ValidString(s) != (n == 0) || n == 0 && got != s {
			t.Errorf("%q: got %q and %d replacements", s, got, n)
		}
	})
}

func TestWarningString(t *testing.T) {
	for _, c := range []struct {
		w    Warning
		want string
	}{
		{Warning{WarnInvalidUTF8, 1}, "1 invalid UTF-8 sequence replaced by U+FFFD"},
		{Warning{WarnNUL, 2}, "2 NUL characters"},
		{Warning{WarnSplit, 3}, "too long for the model, translated in 3 parts"},
		{Warning{WarnTruncated, 1}, "too long for the model, 1 token dropped"},
		{Warning{WarnUnknown, 2}, "2 tokens, all unknown to the model"},
		{Warning{WarnCut, 10}, "too long to be read, 10 bytes dropped"},
		{Warning{"other", 4}, "other (4)"},
	} {
		if got := c.w.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
