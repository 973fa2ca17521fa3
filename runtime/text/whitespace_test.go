package text

import (
	"slices"
	"testing"
)

func TestWhiteSpace(t *testing.T) {
	for _, c := range []struct{ in, collapsed, stripped string }{
		{"", "", ""},
		{"a b", "a b", "a b"},
		{"  a \t b ", " a b ", "a \t b"},
		{"a\u00a0b", "a b", "a\u00a0b"},
		{"\x1ca\x1d\x1e\x1fb\u2028", " a b ", "a\x1d\x1e\x1fb"},
		{"\u3000\u200b\u3000", " \u200b ", "\u200b"},
		{"a\xff  b", "a\xff b", "a\xff  b"},
	} {
		if got := collapseSpace(c.in); got != c.collapsed {
			t.Errorf("%q collapsed is %q, want %q", c.in, got, c.collapsed)
		}
		if got := pythonStrip(c.in); got != c.stripped {
			t.Errorf("%q stripped is %q, want %q", c.in, got, c.stripped)
		}
	}
}

func TestTextLines(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\r\n\r\rb\n", []string{"a", "", "", "b"}},
		{"a\u2028b\x0b\n\n", []string{"a\u2028b\x0b", ""}},
	} {
		if got := textLines(c.in); !slices.Equal(got, c.want) {
			t.Errorf("lines of %q: %q, want %q", c.in, got, c.want)
		}
	}
}

// The expected values are those of bytes.decode("utf-8", "replace").
func TestReplaceInvalid(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain \u00e4 \ufffd":      "plain \u00e4 \ufffd",
		"\xff":                     "\ufffd",
		"a\xc3":                    "a\ufffd",
		"\xe2\x82":                 "\ufffd",
		"\xe2\x82a":                "\ufffda",
		"\xf0\x9f\x98\xe2\x82\xac": "\ufffd\u20ac",
		"\xed\xa0\x80":             "\ufffd\ufffd\ufffd",
		"\xf4\x90\x80\x80":         "\ufffd\ufffd\ufffd\ufffd",
		"\xc0\xaf":                 "\ufffd\ufffd",
		"\xe0\x80\x80":             "\ufffd\ufffd\ufffd",
		"\xf0\x80\x80\x80":         "\ufffd\ufffd\ufffd\ufffd",
		"\xe2(\xa1":                "\ufffd(\ufffd",
		"\xf0\x90(\xbc":            "\ufffd(\ufffd",
	} {
		if got := replaceInvalid(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
