package text

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// GPT2BPE is the byte-level BPE of GPT-2 as fairseq uses it: a line becomes the
// decimal ids of encoder.json, which are the symbols of the dictionary. It is
// safe for concurrent use.
type GPT2BPE struct {
	merges  *merges
	ids     map[string]string // piece → id in decimal
	symbols map[string]string // the reverse
	cache   *wordCache[string]
}

// ParseGPT2 reads encoder.json, a map from pieces to ids, and vocab.bpe, a
// comment line followed by merge operations. Errors are of type [CorruptError].
func ParseGPT2(encoder io.Reader, encoderName string, vocab io.Reader, vocabName string) (*GPT2BPE, error) {
	data, err := io.ReadAll(encoder)
	if err != nil {
		return nil, fmt.Errorf("text: reading %q: %w", encoderName, err)
	}
	var numbers map[string]int64
	if err := json.Unmarshal(data, &numbers); err != nil {
		return nil, corruptByte(encoderName, -1, "want a JSON object of pieces and their ids: %v", err)
	}
	g := &GPT2BPE{
		ids:     make(map[string]string, len(numbers)),
		symbols: make(map[string]string, len(numbers)),
		cache:   newWordCache[string](),
	}
	for piece, n := range numbers {
		id := strconv.FormatInt(n, 10)
		if other, ok := g.symbols[id]; ok {
			return nil, corruptByte(encoderName, -1, "pieces %q and %q both have id %s", min(piece, other), max(piece, other), id)
		}
		g.ids[piece], g.symbols[id] = id, piece
	}
	data, err = io.ReadAll(vocab)
	if err != nil {
		return nil, fmt.Errorf("text: reading %q: %w", vocabName, err)
	}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if len(lines) < 2 {
		return nil, corruptLine(vocabName, 1, "want a comment line and merge operations")
	}
	body := lines[1 : len(lines)-1] // as fairseq: what follows the last line end does not count
	g.merges = newMerges(len(body))
	for i, line := range body {
		f := pythonFields(line)
		if len(f) != 2 {
			return nil, corruptLine(vocabName, i+2, "merge operation %q, want two symbols", shorten(line))
		}
		g.merges.set(f[0], f[1], i)
	}
	return g, nil
}

// byteSymbols[c] is the printable character that GPT-2 writes for byte c, and
// symbolBytes is the reverse.
var byteSymbols, symbolBytes = func() (to [256]string, from map[rune]byte) {
	from = make(map[rune]byte, 256)
	next := rune(256)
	for c := range 256 {
		r := rune(c)
		if !('!' <= r && r <= '~' || 0xa1 <= r && r <= 0xac || 0xae <= r && r <= 0xff) {
			r = next
			next++
		}
		to[c], from[r] = string(r), byte(c)
	}
	return to, from
}()

// Encode segments a line and writes the ids with spaces between them. A piece
// that encoder.json lacks is written as it is.
func (g *GPT2BPE) Encode(line string) string {
	var out strings.Builder
	out.Grow(len(line) * 2)
	for line != "" {
		n := gpt2Token(line)
		token := line[:n]
		line = line[n:]
		ids, ok := g.cache.get(token)
		if !ok {
			ids = g.segment(token)
			g.cache.put(token, ids, len(ids))
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(ids)
	}
	return out.String()
}

func (g *GPT2BPE) segment(token string) string {
	var b strings.Builder
	w := mergePool.Get().(*mergeWork)
	defer w.release()
	w.bounds = w.bounds[:0]
	for i := range len(token) {
		w.bounds = append(w.bounds, int32(b.Len()))
		b.WriteString(byteSymbols[token[i]])
	}
	s := b.String()
	w.bounds = g.merges.apply(w, s, append(w.bounds, int32(len(s))))
	var out strings.Builder
	for i := range len(w.bounds) - 1 {
		if i > 0 {
			out.WriteByte(' ')
		}
		piece := s[w.bounds[i]:w.bounds[i+1]]
		if id, ok := g.ids[piece]; ok {
			piece = id
		}
		out.WriteString(piece)
	}
	return out.String()
}

// Decode joins ids to text. What is no id of encoder.json (<unk>, <mask>) is
// taken for text; bytes that are no UTF-8 become U+FFFD.
func (g *GPT2BPE) Decode(line string) string {
	var b []byte
	for _, f := range pythonFields(line) {
		piece, ok := g.symbols[f]
		if !ok {
			piece = f
		}
		for _, r := range piece {
			if c, ok := symbolBytes[r]; ok {
				b = append(b, c)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return replaceInvalid(string(b))
}

// gpt2Token is the length of the first token of s: a contraction ('s 't 're
// 've 'm 'll 'd); letters, numbers or other characters, each kind with one
// space before it; or white space, whose last character is left to the token
// that follows, if one does.
func gpt2Token(s string) int {
	if s[0] == '\'' {
		for _, c := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
			if strings.HasPrefix(s, c) {
				return len(c)
			}
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	if start < len(s) {
		r, _ := utf8.DecodeRuneInString(s[start:])
		if kind := gpt2KindOf(r); kind != gpt2Space {
			return start + gpt2Run(s[start:], kind)
		}
	}
	n := gpt2Run(s, gpt2Space)
	if n == len(s) {
		return n
	}
	if _, last := utf8.DecodeLastRuneInString(s[:n]); last < n {
		return n - last
	}
	return n
}

type gpt2Kind uint8

const (
	gpt2Other gpt2Kind = iota
	gpt2Letter
	gpt2Number
	gpt2Space
)

func gpt2KindOf(r rune) gpt2Kind {
	switch {
	case r < 0x80 && ('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'):
		return gpt2Letter
	case unicode.IsSpace(r): // without U+001C to U+001F, which Python's regex module does not count either
		return gpt2Space
	case unicode.IsLetter(r):
		return gpt2Letter
	case unicode.IsNumber(r):
		return gpt2Number
	}
	return gpt2Other
}

// gpt2Run is the length of the run of characters of one kind at the start of s.
func gpt2Run(s string, kind gpt2Kind) int {
	for i, r := range s {
		if gpt2KindOf(r) != kind {
			return i
		}
	}
	return len(s)
}
