package text

import (
	"errors"
	"io"
)

// Dictionary maps symbols to ids as fairseq's Dictionary does.
type Dictionary struct {
	symbols []string
	indices map[string]int32
}

// ParseDictionary reads a fairseq dict.txt. The name stands in errors.
func ParseDictionary(r io.Reader, name string) (*Dictionary, error) {
	return nil, errors.New("text: dictionaries are not implemented yet")
}

// Len is the number of symbols, the four special ones included.
func (d *Dictionary) Len() int { return len(d.symbols) }

// Index is the id of a symbol, or format.Unk when it is not there.
func (d *Dictionary) Index(sym string) int32 {
	if id, ok := d.indices[sym]; ok {
		return id
	}
	return 3
}

// Symbol is the symbol with this id, "<unk>" when there is none.
func (d *Dictionary) Symbol(id int32) string {
	if id < 0 || int(id) >= len(d.symbols) {
		return "<unk>"
	}
	return d.symbols[id]
}
