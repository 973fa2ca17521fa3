package text

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// The expected tokens are those of GPT-2's pattern in Python's module regex.
func TestGPT2Tokens(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"Hello world", []string{"Hello", " world"}},
		{"it's they'll 'd've I'M", []string{"it", "'s", " they", "'ll", " '", "d", "'ve", " I", "'", "M"}},
		{"!'s", []string{"!'", "s"}},
		{"a  b   c", []string{"a", " ", " b", "  ", " c"}},
		{"a \n b\n\nc", []string{"a", " \n", " b", "\n", "\n", "c"}},
		{"end  ", []string{"end", "  "}},
		{" ", []string{" "}},
		{"x12\u00bd\u0663y", []string{"x", "12\u00bd\u0663", "y"}},
		{"a\u00a0\u3000b", []string{"a", "\u00a0", "\u3000", "b"}},
		{" \u00a0b", []string{" ", "\u00a0", "b"}},
		{"e\u0301\u4e00...\u2028?", []string{"e", "\u0301", "\u4e00", "...", "\u2028", "?"}},
		{"\x1c\x1f x", []string{"\x1c\x1f", " x"}},
	} {
		var got []string
		for s := c.in; s != ""; {
			n := gpt2Token(s)
			got = append(got, s[:n])
			s = s[n:]
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestGPT2Errors(t *testing.T) {
	for _, c := range []struct{ name, encoder, vocab, want string }{
		{"no JSON", "a 1", "#\na b\n", `text: "encoder.json": want a JSON object of pieces and their ids: invalid character 'a' looking for beginning of value`},
		{"a list", "[1]", "#\na b\n", `text: "encoder.json": want a JSON object of pieces and their ids: json: cannot unmarshal array into Go value of type map[string]int64`},
		{"same id", `{"a": 1, "b": 1}`, "#\na b\n", `text: "encoder.json": pieces "a" and "b" both have id 1`},
		{"no merges", `{"a": 1}`, "#", `text: "vocab.bpe" line 1: want a comment line and merge operations`},
		{"three symbols", `{"a": 1}`, "#\na b\na b c\n", `text: "vocab.bpe" line 3: merge operation "a b c", want two symbols`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseGPT2(strings.NewReader(c.encoder), "encoder.json", strings.NewReader(c.vocab), "vocab.bpe")
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) {
				t.Fatalf("error %v, want a CorruptError", err)
			}
			if got := err.Error(); got != c.want {
				t.Errorf("error %q, want %q", got, c.want)
			}
		})
	}
}

func TestGPT2Decode(t *testing.T) {
	g, err := ParseGPT2(strings.NewReader(`{"a": 7, "\u0120b": 8, "\u00c3": 9, "\u4e00": 10}`), "e", strings.NewReader("#\n\u0120 b\n"), "v")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"":                      "",
		"7  8\u30007":           "a ba",
		"<unk> 7 <mask>":        "<unk>a<mask>",
		"9 7":                   "\ufffda",
		"10 madeupword0001 123": "\u4e00madeupword0001123",
	} {
		if got := g.Decode(in); got != want {
			t.Errorf("%q decoded: %q, want %q", in, got, want)
		}
	}
	if got, want := g.Encode("a bc"), "7 8 c"; got != want {
		t.Errorf("encoded %q, want %q", got, want)
	}
}

func FuzzGPT2(f *testing.F) {
	f.Add(`{"a": 7, "\u0120b": 8}`, "#\n\u0120 b\n", "a b  \xff'll")
	f.Fuzz(func(t *testing.T, encoder, vocab, line string) {
		g, err := ParseGPT2(strings.NewReader(encoder), "e", strings.NewReader(vocab), "v")
		if err != nil {
			return
		}
		// Without ids for its pieces, a line decodes to itself.
		got := g.Encode(line)
		if len(g.ids) == 0 && g.Decode(got) != replaceInvalid(line) {
			t.Errorf("%q: %q, which decodes to %q", line, got, g.Decode(got))
		}
	})
}

func FuzzByteSymbols(f *testing.F) {
	f.Add("a\u00e9 \t\u4e00", "a \u00c3 \u01a9 \u2581 b")
	f.Fuzz(func(t *testing.T, line, symbols string) {
		var s byteSegmenter
		if got, want := s.Decode(s.Encode(replaceInvalid(line))), collapseSpace(replaceInvalid(line)); got != want {
			t.Errorf("%q comes back as %q, want %q", line, got, want)
		}
		s.Decode(symbols)
	})
}
