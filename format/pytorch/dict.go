package pytorch

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Dict is a Python dictionary (also an OrderedDict, defaultdict or Counter) in
// insertion order. Keys may be of any type that Python can hash, mostly string
// and int64, sometimes *Tuple.
type Dict struct {
	keys   []any
	values []any
	index  map[any]int // position by canonical form of the key; nil while small

	// Attributes are what was set on the dictionary itself rather than in
	// it, such as the _metadata of a state dict; nil where there are none.
	Attributes *Dict
}

// Len returns the number of entries. A nil Dict is empty.
func (d *Dict) Len() int {
	if d == nil {
		return 0
	}
	return len(d.keys)
}

// At returns the key and the value of entry i, in insertion order,
// 0 <= i < Len().
func (d *Dict) At(i int) (key, value any) { return d.keys[i], d.values[i] }

// Keys returns a copy of the keys in insertion order.
func (d *Dict) Keys() []any {
	if d == nil {
		return nil
	}
	return append([]any(nil), d.keys...)
}

// Get returns the value of the string key, and whether there is one.
func (d *Dict) Get(key string) (any, bool) { return d.Lookup(key) }

// Lookup returns the value of a key of any type, and whether there is one.
// Numbers are compared as Python does (True is 1 is 1.0), tuples by content if
// they are small, other pointers by identity.
func (d *Dict) Lookup(key any) (any, bool) {
	if d == nil {
		return nil, false
	}
	if i := d.find(canonical(key)); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

// set sets the value of key, at the end if the key is new.
func (d *Dict) set(key, value any) {
	c := canonical(key)
	if i := d.find(c); i >= 0 {
		d.values[i] = value
		return
	}
	d.keys = append(d.keys, key)
	d.values = append(d.values, value)
	const small = 8
	switch n := len(d.keys); {
	case d.index != nil:
		d.index[c] = n - 1
	case n > small:
		d.index = make(map[any]int, 2*small)
		for i, k := range d.keys {
			d.index[canonical(k)] = i
		}
	}
}

// find returns the position of the key with the canonical form c, or -1.
func (d *Dict) find(c any) int {
	if d.index != nil {
		if i, ok := d.index[c]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.keys {
		if canonical(k) == c {
			return i
		}
	}
	return -1
}

// Canonical forms of keys that Go compares otherwise than Python.
type (
	bytesKey string
	bigKey   string
	tupleKey string
)

// canonical returns a value that Go's == compares as Python's == compares
// the key.
func canonical(key any) any {
	switch k := key.(type) {
	case bool:
		if k {
			return int64(1)
		}
		return int64(0)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<62 {
			return int64(k)
		}
	case []byte:
		return bytesKey(k)
	case *big.Int:
		return bigKey(append(k.Bytes(), byte(k.Sign()+1)))
	case *Tuple:
		if b, ok := appendTuple(nil, k, 0); ok {
			return tupleKey(b)
		}
	}
	return key
}

// appendTuple appends a form of t that is the same for equal tuples. It gives
// up on large ones, whose identity then stands for them: tuples in tuples can
// be exponentially larger than the file.
func appendTuple(b []byte, t *Tuple, depth int) ([]byte, bool) {
	const maxDepth, maxBytes = 8, 1 << 10
	if depth > maxDepth {
		return nil, false
	}
	b = append(b, '(')
	for _, item := range t.Items {
		if nested, ok := item.(*Tuple); ok {
			if b, ok = appendTuple(b, nested, depth+1); !ok {
				return nil, false
			}
			continue
		}
		switch v := canonical(item).(type) {
		case nil:
			b = append(b, 'N')
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case float64:
			b = strconv.AppendFloat(append(b, 'f'), v, 'g', -1, 64)
		case string:
			b = appendText(b, 's', v[:min(len(v), maxBytes+1)])
		case bytesKey:
			b = appendText(b, 'b', string(v[:min(len(v), maxBytes+1)]))
		case bigKey:
			b = appendText(b, 'i', string(v[:min(len(v), maxBytes+1)]))
		default:
			b = fmt.Appendf(b, "%T:%p", v, v)
		}
		b = append(b, ',')
		if len(b) > maxBytes {
			return nil, false
		}
	}
	return append(b, ')'), true
}

func appendText(b []byte, tag byte, s string) []byte {
	b = strconv.AppendInt(append(b, tag), int64(len(s)), 10)
	return append(append(b, ':'), s...)
}
