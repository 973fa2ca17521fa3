package pytorch

// itemSize is what a value takes as an item of a container, roughly.
const (
	itemSize  = 24
	entrySize = 96
)

func (m *machine) list() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	l := &List{Items: append([]any(nil), items...)}
	return m.push(l, 24+itemSize*len(items))
}

func (m *machine) tuple() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	t := &Tuple{Items: append([]any(nil), items...)}
	return m.push(t, 24+itemSize*len(items))
}

func (m *machine) tupleOf(n int) error {
	t := &Tuple{Items: make([]any, n)}
	for i := n - 1; i >= 0; i-- {
		v, err := m.pop()
		if err != nil {
			return err
		}
		t.Items[i] = v
	}
	return m.push(t, 24+itemSize*n)
}

func (m *machine) frozenSet() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	s := &Set{Items: append([]any(nil), items...)}
	return m.push(s, 24+itemSize*len(items))
}

func (m *machine) append() error {
	v, err := m.pop()
	if err != nil {
		return err
	}
	return m.extend([]any{v})
}

func (m *machine) appends() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.extend(items)
}

// extend appends the items to the list, set or object on the stack.
func (m *machine) extend(items []any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *List:
		v.Items = append(v.Items, items...)
	case *Set:
		v.Items = append(v.Items, items...)
	case *Object:
		v.Items = append(v.Items, items...)
	default:
		return m.corrupt("items appended to %s", kind(v))
	}
	return m.charge(itemSize * len(items))
}

func (m *machine) dict() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	d := &Dict{}
	if err := m.fill(d, items); err != nil {
		return err
	}
	return m.push(d, 64)
}

func (m *machine) setItem() error {
	key, value, err := m.pop2()
	if err != nil {
		return err
	}
	return m.update([]any{key, value})
}

func (m *machine) setItems() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.update(items)
}

// update sets the items, keys and values in turn, in the dictionary or object
// on the stack.
func (m *machine) update(items []any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *Dict:
		return m.fill(v, items)
	case *Object:
		if v.Entries == nil {
			v.Entries = &Dict{}
			if err := m.charge(64); err != nil {
				return err
			}
		}
		return m.fill(v.Entries, items)
	}
	return m.corrupt("entries set in %s", kind(v))
}

// fill sets the items, keys and values in turn, in d.
func (m *machine) fill(d *Dict, items []any) error {
	if len(items)%2 != 0 {
		return m.corrupt("a dictionary key without a value")
	}
	for i := 0; i < len(items); i += 2 {
		size := entrySize
		switch k := items[i].(type) {
		case *List, *Dict:
			return m.corrupt("%s as a dictionary key", kind(k))
		case string: // hashing it takes time, however often it is shared
			size += len(k) / 8
		case []byte:
			size += len(k)
		}
		if err := m.charge(size); err != nil {
			return err
		}
		d.set(items[i], items[i+1])
	}
	return nil
}
