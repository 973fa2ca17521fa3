package pytorch

import "strings"

func (m *machine) globalText() error {
	g, err := m.globalLines()
	if err != nil {
		return err
	}
	return m.push(g, 0)
}

// globalLines reads a module and a name, each on a line.
func (m *machine) globalLines() (*Global, error) {
	module, err := m.in.line(maxName)
	if err != nil {
		return nil, err
	}
	name, err := m.in.line(maxName)
	if err != nil {
		return nil, err
	}
	return m.global(string(module), string(name))
}

func (m *machine) stackGlobal() error {
	a, b, err := m.pop2()
	if err != nil {
		return err
	}
	module, ok1 := a.(string)
	name, ok2 := b.(string)
	if !ok1 || !ok2 {
		return m.corrupt("a global named by %s and %s, want strings", kind(a), kind(b))
	}
	g, err := m.global(module, name)
	if err != nil {
		return err
	}
	return m.push(g, 0)
}

// reduce is the call of a function with a tuple of arguments.
func (m *machine) reduce() error {
	callee, args, err := m.pop2()
	if err != nil {
		return err
	}
	return m.make(callee, args, nil)
}

// newObject makes an instance of a class, which is a call too.
func (m *machine) newObject() error { return m.reduce() }

// newObjectEx is newObject with named arguments.
func (m *machine) newObjectEx() error {
	args, kwargs, err := m.pop2()
	if err != nil {
		return err
	}
	class, err := m.pop()
	if err != nil {
		return err
	}
	d, ok := kwargs.(*Dict)
	if !ok {
		return m.corrupt("named arguments are %s, want a dictionary", kind(kwargs))
	}
	return m.make(class, args, d)
}

// inst makes an instance of the named class from the values above the mark.
func (m *machine) inst() error {
	g, err := m.globalLines()
	if err != nil {
		return err
	}
	items, err := m.popMark()
	if err != nil {
		return err
	}
	return m.makeFrom(g, items)
}

// obj makes an instance of the class above the mark, from the values above it.
func (m *machine) obj() error {
	items, err := m.popMark()
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return m.corrupt("an object without a class")
	}
	return m.makeFrom(items[0], items[1:])
}

func (m *machine) makeFrom(callee any, items []any) error {
	if err := m.charge(itemSize * len(items)); err != nil {
		return err
	}
	return m.make(callee, &Tuple{Items: append([]any(nil), items...)}, nil)
}

// make pushes what calling callee would make: data if it is a constructor of
// data, else an inert object.
func (m *machine) make(callee, arguments any, kwargs *Dict) error {
	t, ok := arguments.(*Tuple)
	if !ok {
		return m.corrupt("arguments are %s, want a tuple", kind(arguments))
	}
	args := t.Items
	switch callee := callee.(type) {
	case *Global:
		v, done, err := m.construct(callee, args, kwargs)
		if err != nil {
			return err
		}
		if !done {
			v = &Object{Module: callee.Module, Name: callee.Name, Args: args, Kwargs: kwargs}
		}
		return m.push(v, 240)
	case *Object: // the result of a call, called: "f()", however often
		name := strings.TrimSuffix(callee.Name, "()") + "()"
		return m.push(&Object{Module: callee.Module, Name: name, Args: args, Kwargs: kwargs}, 240+len(name))
	}
	return m.corrupt("a call of %s", kind(callee))
}

// build restores the state of the value on the stack.
func (m *machine) build() error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *Object:
		v.State = state
		if attributes, slots, ok := attributes(state); ok {
			if err := m.merge(&v.Dict, attributes); err != nil {
				return err
			}
			return m.merge(&v.Dict, slots)
		}
		return nil
	case *Dict:
		if attributes, _, ok := attributes(state); ok {
			return m.merge(&v.Attributes, attributes)
		}
		return nil
	case *Array:
		return m.buildArray(v, state)
	case *List, *Set, *Tuple: // attributes of a subclass
		return nil
	case *Tensor:
		return m.unsupported("a tensor with a state of its own (%s)", kind(state))
	}
	return m.corrupt("a state for %s", kind(v))
}

// attributes returns the dictionaries in a state as Python's default
// __setstate__ takes it: one of attributes, or a pair of one (or None) and one
// of slots.
func attributes(state any) (attributes, slots *Dict, ok bool) {
	if d, ok := state.(*Dict); ok {
		return d, nil, true
	}
	t, ok := state.(*Tuple)
	if !ok || len(t.Items) != 2 {
		return nil, nil, false
	}
	slots, ok = t.Items[1].(*Dict)
	if !ok {
		return nil, nil, false
	}
	attributes, ok = t.Items[0].(*Dict)
	return attributes, slots, ok || t.Items[0] == nil
}

// merge sets what is in from in *to. An absent *to becomes from itself, so that
// restoring one state many times takes no memory.
func (m *machine) merge(to **Dict, from *Dict) error {
	if from == nil || *to == from {
		return nil
	}
	if *to == nil {
		*to = from
		return nil
	}
	d := &Dict{}
	for _, part := range []*Dict{*to, from} {
		if err := m.charge(itemSize * part.Len()); err != nil {
			return err
		}
		for i := range part.keys {
			if err := m.fill(d, []any{part.keys[i], part.values[i]}); err != nil {
				return err
			}
		}
	}
	*to = d
	return nil
}
