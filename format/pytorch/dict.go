package pytorch

// Dict is a Python dictionary (also an OrderedDict, defaultdict or Counter) in
// insertion order. Keys may be of any type that Python can hash, mostly string
// and int64, sometimes *Tuple.
type Dict struct {
	keys   []any
	values []any
	index  map[any]int // from lookup key to position; nil while small

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
// Tuples are compared by content, integers and booleans as Python does
// (True is 1), other pointers by identity.
func (d *Dict) Lookup(key any) (any, bool) {
	if d == nil {
		return nil, false
	}
	if i := d.find(lookupKey(key)); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

func (d *Dict) find(k any) int {
	if d.index != nil {
		if i, ok := d.index[k]; ok {
			return i
		}
		return -1
	}
	for i := range d.keys {
		if lookupKey(d.keys[i]) == k {
			return i
		}
	}
	return -1
}

func lookupKey(k any) any { return k }
