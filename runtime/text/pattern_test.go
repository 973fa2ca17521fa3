package text

import (
	"regexp"
	"strings"
	"testing"
)

func TestTranslatePattern(t *testing.T) {
	for _, c := range []struct {
		pattern, matches, not string // characters or words, separated by spaces
	}{
		{`U\.S\.A\.`, "U.S.A.", "UXSXAX"},
		{`\d+`, "12 \u0663 \uff11", "a \u00bd \u2460"},
		{`\w`, "a \u00e4 \u4e00 \u00bd _ 9", "- \u0301 \u2028"},
		{`\W\D`, "-- -a", "a- -1"},
		{`[\w-]+`, "a-b _\u00e9", "a.b"},
		{`[^\s\d]`, "a -", "\u00a0 5 \x1f"},
		{`\S`, "a", "\u3000"},
		{`a{,2}b`, "b ab aab", "aaab a{,2}b"},
		{`a{,}`, "aaaaa", "a{,}"},
		{`x{`, "x{", "x"},
		{`\x41\u00e4\U0001F600`, "A\u00e4\U0001F600", "Aa"},
		{`\0|\012|\101`, "\x00 \n A", "0"},
		{`[\0-\7]`, "\x05", "5"},
		{`[]a]`, "] a", "["},
		{`[^]a]`, "b [", "] a"},
		{`[[:alpha]`, "[ : p", "z"},
		{`[\b]`, "\b", "b"},
		{`(?P<n>a)(?:b|c)(?i:D)`, "abd acD", "abc"},
		{`\é\-\/`, "é-/", "e-/"},
		{`a\Z|\Ab`, "a b", "c"},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			p, err := translatePattern(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			re, err := regexp.Compile(`\A(?:` + p + `)\z`)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range strings.Split(c.matches, " ") {
				if !re.MatchString(s) {
					t.Errorf("%q (%q) does not match %q", c.pattern, p, s)
				}
			}
			for _, s := range strings.Split(c.not, " ") {
				if re.MatchString(s) {
					t.Errorf("%q (%q) matches %q", c.pattern, p, s)
				}
			}
		})
	}
	for _, pattern := range []string{
		`(?=a)`, `(?<!a)b`, `(a)\1`, `(?P=n)`, `\bword\b`, `\Q.\E`, `\pL`, `\N{DASH}`, `[`, `[a`, `\`, `\x1`, `\u12`,
		`[\W]`, `(?U)a`, `(?a:\w)`, `(?#c)`, `\8`, `[\9]`, `[\777]`,
	} {
		t.Run("refused "+pattern, func(t *testing.T) {
			if _, _, err := compileGlossaries([]string{pattern}); err == nil {
				t.Errorf("%q has no error", pattern)
			}
		})
	}
}

func FuzzGlossaries(f *testing.F) {
	f.Add(`U\.S\.A\.`, "inU.S.A.!")
	f.Add(`(a|b)*|[^\w]`, "aabb-c")
	f.Add(`{,3}\d`, "12345")
	f.Fuzz(func(t *testing.T, pattern, word string) {
		list, whole, err := compileGlossaries([]string{pattern, "b"})
		if err != nil || strings.Contains(pattern, "(") {
			return // what groups matched is repeated
		}
		whole.MatchString(word)
		parts := []string{word}
		for _, g := range list {
			parts = g.isolateAll(parts)
		}
		bare := func(s string) string { return strings.NewReplacer("\r", "", "\n", "", " ", "").Replace(s) }
		if got := strings.Join(parts, ""); bare(got) != bare(word) {
			t.Errorf("%q isolated in %q: %q", pattern, word, parts)
		}
	})
}
