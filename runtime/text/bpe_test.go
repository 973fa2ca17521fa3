package text

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const testCodes = "#version: 0.2\nl o\nlo w</w>\ne r</w>\nlo w\n"

func TestBPEErrors(t *testing.T) {
	subword := func(codes string, o BPEOptions) error {
		_, err := NewSubwordNMT(strings.NewReader(codes), "codes", o)
		return err
	}
	fast := func(codes string, o BPEOptions) error {
		_, err := NewFastBPE(strings.NewReader(codes), "codes", o)
		return err
	}
	vocabulary := func(s string) BPEOptions {
		return BPEOptions{Vocabulary: strings.NewReader(s), VocabularyName: "vocab", VocabularyThreshold: 1}
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"empty", subword("", BPEOptions{}), `text: "codes" line 1: no BPE codes`},
		{"version only", subword("#version: 0.2\n", BPEOptions{}), `text: "codes" line 2: no BPE codes`},
		{"one symbol", subword("#version: 0.2\na b\nc\n", BPEOptions{}), `text: "codes" line 3: BPE code "c", want two symbols with one space between them`},
		{"two spaces", subword("a  b\n", BPEOptions{}), `text: "codes" line 1: BPE code "a  b", want two symbols with one space between them`},
		{"empty line inside", subword("a b\n\nc d\n", BPEOptions{}), `text: "codes" line 2: BPE code "", want two symbols with one space between them`},
		{"fastBPE's codes", subword("a b 12\n", BPEOptions{}), `text: "codes" line 1: BPE code "a b 12", want two symbols with one space between them (fastBPE writes codes with a count)`},
		{"not UTF-8", subword("a b\nc \xff\n", BPEOptions{}), `text: "codes" byte 6: BPE codes are not UTF-8`},
		{"vocabulary", subword("a b\n", vocabulary("a 1\nb\n")), `text: "vocab" line 2: "b", want "symbol count"`},
		{"vocabulary count", subword("a b\n", vocabulary("a 99999999999999999999\n")), `text: "vocab" line 1: count "99999999999999999999", want a number below 2⁶³`},
		{"fastBPE without count", fast("a b\n", BPEOptions{}), `text: "codes" line 1: BPE code "a b", want two symbols and a count (subword-nmt writes codes without a count)`},
		{"fastBPE empty", fast("", BPEOptions{}), `text: "codes" line 1: no BPE codes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var corrupt *CorruptError
			if !errors.As(c.err, &corrupt) {
				t.Fatalf("error %v, want a CorruptError", c.err)
			}
			if got := c.err.Error(); got != c.want {
				t.Errorf("error %q, want %q", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"version", subword("#version: 0.3\na b\n", BPEOptions{}), `text: "codes": unsupported: version "0.3" of subword-nmt codes, want 0.1 or 0.2`},
		{"glossary", subword("a b\n", BPEOptions{Glossaries: []string{"a", "(?=b)"}}), `text: "bpe_glossaries": unsupported: pattern "(?=b)": looking ahead or behind has no equal here`},
		{"fastBPE separator", fast("a b 1\n", BPEOptions{Separator: "~~"}), `text: "bpe_separator": unsupported: "~~", fastBPE has only "@@"`},
		{"fastBPE threshold", fast("a b 1\n", vocabulary("a 1")), `text: "bpe_vocabulary_threshold": unsupported: fastBPE has no threshold`},
		{"fastBPE glossaries", fast("a b 1\n", BPEOptions{Glossaries: []string{"a"}}), `text: "bpe_glossaries": unsupported: fastBPE has no glossaries`},
		{"fastBPE merges", fast("a b 1\n", BPEOptions{Merges: 1}), `text: "bpe_merges": unsupported: fastBPE uses all merge operations`},
	} {
		t.Run("unsupported "+c.name, func(t *testing.T) {
			var unsupported *UnsupportedError
			if !errors.As(c.err, &unsupported) {
				t.Fatalf("error %v, want an UnsupportedError", c.err)
			}
			if got := c.err.Error(); got != c.want {
				t.Errorf("error %q, want %q", got, c.want)
			}
		})
	}
}

func TestBPESpaces(t *testing.T) {
	b, err := NewSubwordNMT(strings.NewReader(testCodes), "codes", BPEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFastBPE(strings.NewReader("l o 3\nlo w</w> 2\n"), "codes", BPEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, subword, fast string }{
		{"", "", ""},
		{" ", " ", ""},
		{"\r\n", "\r\n", "\r@@ \n"},
		{"  low  lower \r\n", "  low low@@ er \r\n", "low lo@@ w@@ e@@ r \r@@ \n"},
		{"low\tlow", "low@@ \t@@ low", "lo@@ w@@ \t@@ low"},
		{"\u3000", "\u3000", "\u3000"},
		{"\xff\xfelow", "\xff@@ \xfe@@ low", "\xff@@ \xfe@@ low"},
	} {
		if got := b.Encode(c.in); got != c.subword {
			t.Errorf("subword-nmt %q: %q, want %q", c.in, got, c.subword)
		}
		if got := f.Encode(c.in); got != c.fast {
			t.Errorf("fastBPE %q: %q, want %q", c.in, got, c.fast)
		}
	}
}

// A word of a megabyte takes n·log n steps, not n².
func TestBPELongWord(t *testing.T) {
	b, err := NewSubwordNMT(strings.NewReader("a a\naa aa\nb a\n"), "codes", BPEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1 << 15
	got := b.Encode(strings.Repeat("aaaab", n))
	if want := strings.TrimSuffix(strings.Repeat("aaaa@@ b@@ ", n), "@@ "); got != want {
		t.Errorf("a long word gives %d bytes that begin %q, want %d that begin %q", len(got), got[:40], len(want), want[:40])
	}
	if got := b.Decode(got); got != strings.Repeat("aaaab", n) {
		t.Errorf("and decodes to %d bytes, want %d", len(got), 5*n)
	}
}

// Many goroutines get what one gets alone.
func TestBPEConcurrent(t *testing.T) {
	open := func() *BPE {
		b, err := NewSubwordNMT(strings.NewReader(testCodes), "codes", BPEOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	shared, alone := open(), open()
	want := make([]string, 500)
	for i := range want {
		want[i] = alone.Encode(fmt.Sprintf("low%d slower %d", i%300, i))
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range want {
				if got := shared.Encode(fmt.Sprintf("low%d slower %d", i%300, i)); got != want[i] {
					t.Errorf("line %d: %q, want %q", i, got, want[i])
				}
			}
		})
	}
	wait.Wait()
}

func TestWordCacheBound(t *testing.T) {
	c := newWordCache[string]()
	const words = 100_000
	long := strings.Repeat("x", cacheWordBytes-6)
	for i := range words {
		c.put(fmt.Sprintf("%06d%s", i, long), long, len(long))
	}
	c.put(strings.Repeat("y", cacheWordBytes+1), "y", 1)
	kept := 0
	for i := range c.shards {
		s := &c.shards[i]
		sum := 0
		for w, p := range s.words {
			sum += len(w) + len(p) + cacheEntryBytes
		}
		if sum != s.bytes || sum > cacheShardBytes {
			t.Errorf("shard %d holds %d bytes and says %d, want at most %d", i, sum, s.bytes, cacheShardBytes)
		}
		kept += len(s.words)
	}
	if kept == 0 || kept >= words {
		t.Errorf("%d of %d words kept, want some", kept, words)
	}
	if _, ok := c.get(strings.Repeat("y", cacheWordBytes+1)); ok {
		t.Error("a word that is too long was kept")
	}
	if got, ok := c.get(fmt.Sprintf("%06d%s", words-1, long)); !ok || got != long {
		t.Errorf("the last word gives %q, %v", got, ok)
	}
}

func FuzzBPE(f *testing.F) {
	f.Add("a b\nab c</w>\n", "a 1\nb@@ 3", "abc ab c  \tabcabc", true)
	f.Add("#version: 0.2\n< /w></w>\na </w>\n", "", "a</w> </w>", true)
	f.Add("a b 3\nab c</w> 2\n", "ab@@ 4\n", "abc a\x00bc", false)
	f.Fuzz(func(t *testing.T, codes, vocabulary, line string, subword bool) {
		var o BPEOptions
		if vocabulary != "" {
			o.Vocabulary = strings.NewReader(vocabulary)
		}
		open := NewFastBPE
		if subword {
			open = NewSubwordNMT
		}
		b, err := open(strings.NewReader(codes), "codes", o)
		if err != nil {
			return
		}
		got := b.Encode(line)
		if again := b.Encode(line); again != got {
			t.Errorf("%q: %q, and from the cache %q", line, got, again)
		}
		// No character is lost.
		bare := func(s string) string {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(" @</w>\r\n", r) {
					return -1
				}
				return r
			}, s)
		}
		if vocabulary == "" && bare(got) != bare(line) {
			t.Errorf("%q gives %q", line, got)
		}
		b.Decode(line)
	})
}
