package text

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"memsizer/format"
)

// Dictionary maps symbols to ids as fairseq's Dictionary does: <s> is 0,
// <pad> 1, </s> 2, <unk> 3, then the symbols of dict.txt in their order. It is
// immutable.
type Dictionary struct {
	symbols []string
	indices map[string]int32
}

const overwriteFlag = "#fairseq:overwrite"

// ParseDictionary reads a fairseq dict.txt: one "symbol count" per line, split
// at the last space, so that a symbol may contain spaces. A symbol that was
// there before (the four special ones included) is an error unless the line
// ends with "#fairseq:overwrite", which gives the symbol a new id. The name
// stands in errors, which are of type [CorruptError] with the line number.
func ParseDictionary(r io.Reader, name string) (*Dictionary, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("text: reading dictionary %q: %w", name, err)
	}
	lines := textLines(string(data))
	d := &Dictionary{
		symbols: make([]string, 0, len(lines)+4),
		indices: make(map[string]int32, len(lines)+4),
	}
	for _, s := range []string{"<s>", "<pad>", "</s>", "<unk>"} {
		d.add(s)
	}
	for i, line := range lines {
		word, overwrite, err := dictionaryLine(line)
		if err != nil {
			return nil, corruptLine(name, i+1, "%v", err)
		}
		if first, ok := d.indices[word]; ok && !overwrite {
			return nil, corruptLine(name, i+1,
				"symbol %q is there already, with id %d (a line that ends with %q may replace it)", word, first, overwriteFlag)
		}
		if len(d.symbols) == math.MaxInt32 {
			return nil, corruptLine(name, i+1, "more than %d symbols", math.MaxInt32)
		}
		d.add(word)
	}
	return d, nil
}

func (d *Dictionary) add(symbol string) {
	d.indices[symbol] = int32(len(d.symbols))
	d.symbols = append(d.symbols, symbol)
}

func dictionaryLine(line string) (word string, overwrite bool, err error) {
	if !utf8.ValidString(line) {
		return "", false, fmt.Errorf("not UTF-8: %q", shorten(line))
	}
	trimmed := strings.TrimRightFunc(line, isPythonSpace)
	word, field, ok := cutLast(trimmed)
	if ok && field == overwriteFlag {
		overwrite = true
		word, field, ok = cutLast(word)
	}
	if !ok || !isPythonInt(field) {
		return "", false, fmt.Errorf("%q, want \"symbol count\"", shorten(line))
	}
	return word, overwrite, nil
}

// cutLast splits at the last space, as Python's rsplit(" ", 1).
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// isPythonInt reports whether Python's int() takes s: an optional sign, then
// decimal digits of any script, between which a single underscore may stand.
func isPythonInt(s string) bool {
	s = pythonStrip(s)
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	digit := false
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digit = true
		case r == '_' && digit:
			digit = false
		default:
			return false
		}
	}
	return digit
}

// shorten cuts what an error quotes.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Len is the number of symbols, the four special ones included.
func (d *Dictionary) Len() int { return len(d.symbols) }

// Index is the id of a symbol, [format.Unk] when it is not in the dictionary.
func (d *Dictionary) Index(sym string) int32 {
	if id, ok := d.indices[sym]; ok {
		return id
	}
	return format.Unk
}

// Symbol is the symbol of an id, "<unk>" when the dictionary has no such id.
func (d *Dictionary) Symbol(id int32) string {
	if id < 0 || int(id) >= len(d.symbols) {
		id = format.Unk
	}
	return d.symbols[id]
}

// Encode maps the symbols of a line, between which there is any white space,
// to ids, without eos. pieces are the symbols as they were written, the
// unknown ones too.
func (d *Dictionary) Encode(line string) (ids []int32, pieces []string) {
	pieces = pythonFields(line)
	ids = make([]int32, len(pieces))
	for i, p := range pieces {
		ids[i] = d.Index(p)
	}
	return ids, pieces
}

// Join writes the symbols of ids with spaces between them, leaving out bos,
// pad and eos. Unknown ones are written <unk>.
func (d *Dictionary) Join(ids []int32) string {
	var b strings.Builder
	first := true
	for _, id := range ids {
		if id == format.BOS || id == format.Pad || id == format.EOS {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		b.WriteString(d.Symbol(id))
	}
	return b.String()
}
