package text

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseDictionary(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string // after the special symbols
	}{
		{"empty", "", nil},
		{"plain", "a 3\nb 2\nc 1\n", []string{"a", "b", "c"}},
		{"no final newline", "a 3\nb 2", []string{"a", "b"}},
		{"carriage returns", "a 3\r\nb 2\rc 1\r\n", []string{"a", "b", "c"}},
		{"space in a symbol", "New York 3\nb  2\n 1\n", []string{"New York", "b ", ""}},
		{"white space in a symbol", "a\u3000b\t 3\n\u2028 1", []string{"a\u3000b\t", "\u2028"}},
		{"white space after the count", "a 3 \u3000\x1c\n", []string{"a"}},
		{"counts as Python reads them", "a +3\nb -1\nc 1_000\nd \u0663\n", []string{"a", "b", "c", "d"}},
		{"padding", "a 3\nmadeupword0000 0\n", []string{"a", "madeupword0000"}},
		{"overwrite", "a 3\n<unk> 4 #fairseq:overwrite\na 1 #fairseq:overwrite\n", []string{"a", "<unk>", "a"}},
		{"byte order mark", "\ufeffa 3\n", []string{"\ufeffa"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ParseDictionary(strings.NewReader(c.in), "dict.txt")
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{"<s>", "<pad>", "</s>", "<unk>"}, c.want...)
			if !slices.Equal(d.symbols, want) || d.Len() != len(want) {
				t.Fatalf("%d symbols %q, want %q", d.Len(), d.symbols, want)
			}
			for i, s := range want {
				if d.Symbol(int32(i)) != s {
					t.Errorf("symbol %d is %q, want %q", i, d.Symbol(int32(i)), s)
				}
			}
		})
	}
}

func TestParseDictionaryErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no count", "a 1\nb\n", `text: "dict.txt" line 2: "b", want "symbol count"`},
		{"empty line", "a 1\n\nb 1\n", `text: "dict.txt" line 2: "", want "symbol count"`},
		{"tab", "a\t1\n", `text: "dict.txt" line 1: "a\t1", want "symbol count"`},
		{"fraction", "a 1.5\n", `text: "dict.txt" line 1: "a 1.5", want "symbol count"`},
		{"underscores", "a 1__0\n", `text: "dict.txt" line 1: "a 1__0", want "symbol count"`},
		{"flag alone", "a #fairseq:overwrite\n", `text: "dict.txt" line 1: "a #fairseq:overwrite", want "symbol count"`},
		{"duplicate", "a 1\nb 1\na 1\n", `text: "dict.txt" line 3: symbol "a" is there already, with id 4 (a line that ends with "#fairseq:overwrite" may replace it)`},
		{"special symbol", "</s> 1\n", `text: "dict.txt" line 1: symbol "</s>" is there already, with id 2 (a line that ends with "#fairseq:overwrite" may replace it)`},
		{"not UTF-8", "a 1\n\xff 1\n", `text: "dict.txt" line 2: not UTF-8: "\xff 1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseDictionary(strings.NewReader(c.in), "dict.txt")
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

func TestDictionaryIds(t *testing.T) {
	d, err := ParseDictionary(strings.NewReader("a 3\nb 2\na 1 #fairseq:overwrite\n"), "dict.txt")
	if err != nil {
		t.Fatal(err)
	}
	ids, pieces := d.Encode(" a\tb\u3000nothing  <unk> <s> \u001f")
	if want := []int32{6, 5, 3, 3, 0}; !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
	if want := []string{"a", "b", "nothing", "<unk>", "<s>"}; !slices.Equal(pieces, want) {
		t.Errorf("pieces %q, want %q", pieces, want)
	}
	if got, want := d.Join([]int32{0, 4, 5, 3, 1, 6, 99, -1, 2}), "a b <unk> a <unk> <unk>"; got != want {
		t.Errorf("joined %q, want %q", got, want)
	}
}

func FuzzParseDictionary(f *testing.F) {
	f.Add([]byte("a 3\nb 2\na 1 #fairseq:overwrite\n"))
	f.Add([]byte("New York 3\r\u3000 1\n\xff 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDictionary(strings.NewReader(string(data)), "dict.txt")
		if err != nil {
			return
		}
		for i := range int32(d.Len()) {
			if id := d.Index(d.Symbol(i)); id < i {
				t.Errorf("symbol %q of id %d has the earlier id %d", d.Symbol(i), i, id)
			}
		}
	})
}
