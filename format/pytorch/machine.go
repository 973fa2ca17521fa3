package pytorch

import "fmt"

// machine is the stack machine that a pickle is a program for. It has the
// pickle's operations and no way to call anything.
type machine struct {
	in      *input
	op      int64 // position of the running operation
	stack   []any
	marks   []int // stack heights at the marks
	memo    []any // by index, as far as indices are dense
	sparse  map[int64]any
	globals map[Global]*Global

	// memory is what the values made so far take, in bytes and roughly;
	// exceeding limit stops the machine. The limit follows from the bytes
	// that are there, so that a small file cannot fill a big machine.
	memory, limit int64

	// load returns the value of a persistent id.
	load func(m *machine, id any) (any, error)
	// views are storages of legacy files that are parts of another, by the
	// inert object that stands for them.
	views map[*Object]view
}

const (
	maxStack  = 1 << 20 // values on the stack at once; Python writes lists in batches of 1,000
	maxName   = 1 << 10 // bytes in the name of a module or global
	maxMemory = 4 << 30 // bytes of all values, roughly
)

// newMachine returns a machine that reads one or more pickles from in.
func newMachine(in *input, load func(*machine, any) (any, error)) *machine {
	return &machine{
		in: in, load: load,
		globals: make(map[Global]*Global),
		views:   make(map[*Object]view),
		limit:   64<<20 + min(64*in.size, maxMemory),
	}
}

// run reads the pickle that starts at the input's position and returns its
// value. The input is left after the pickle's last byte.
func (m *machine) run() (any, error) {
	m.stack, m.marks, m.memo, m.sparse = nil, nil, nil, nil
	for {
		m.op = m.in.pos
		op, err := m.in.byte()
		if err != nil {
			return nil, err
		}
		if op == '.' {
			if len(m.stack) != 1 || len(m.marks) != 0 {
				return nil, m.corrupt("the pickle stops with %d values and %d marks on its stack, want one value", len(m.stack), len(m.marks))
			}
			return m.stack[0], nil
		}
		do := operations[op]
		if do == nil {
			return nil, m.corrupt("0x%02x is not a pickle operation", op)
		}
		if err := do(m); err != nil {
			return nil, err
		}
	}
}

func (m *machine) corrupt(format string, args ...any) error {
	return m.in.corrupt(m.op, format, args...)
}

func (m *machine) unsupported(format string, args ...any) error {
	return m.in.unsupported(m.op, format, args...)
}

// charge accounts for n more bytes of memory, or of copying.
func (m *machine) charge(n int) error {
	m.memory += int64(n)
	if m.memory > m.limit {
		return m.corrupt("the pickle of %d bytes makes values of more than %d bytes", m.in.size, m.limit)
	}
	return nil
}

// push puts a value that takes size bytes (besides its place on the stack) on
// the stack.
func (m *machine) push(v any, size int) error {
	if len(m.stack) >= maxStack {
		return m.corrupt("more than %d values on the pickle's stack", maxStack)
	}
	m.stack = append(m.stack, v)
	return m.charge(size)
}

// pop takes the last value off the stack, not going below the last mark.
func (m *machine) pop() (any, error) {
	floor := 0
	if n := len(m.marks); n > 0 {
		floor = m.marks[n-1]
	}
	if len(m.stack) <= floor {
		return nil, m.corrupt("the pickle's stack is empty")
	}
	v := m.stack[len(m.stack)-1]
	m.stack[len(m.stack)-1] = nil
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// pop2 takes the last two values off the stack, a below b.
func (m *machine) pop2() (a, b any, err error) {
	if b, err = m.pop(); err != nil {
		return nil, nil, err
	}
	a, err = m.pop()
	return a, b, err
}

// top returns the last value on the stack and leaves it there.
func (m *machine) top() (any, error) {
	v, err := m.pop()
	if err != nil {
		return nil, err
	}
	m.stack = append(m.stack, v)
	return v, nil
}

// popMark takes the values above the last mark off the stack, and the mark. The
// result is a part of the stack: it is good until the next push.
func (m *machine) popMark() ([]any, error) {
	n := len(m.marks)
	if n == 0 {
		return nil, m.corrupt("no mark on the pickle's stack")
	}
	from := m.marks[n-1]
	m.marks = m.marks[:n-1]
	items := m.stack[from:]
	m.stack = m.stack[:from]
	return items, nil
}

// remember stores the last value on the stack under index.
func (m *machine) remember(index int64) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	switch n := int64(len(m.memo)); {
	case index < 0:
		return m.corrupt("memo index %d", index)
	case index < n:
		m.memo[index] = v
		return nil
	case index == n:
		m.memo = append(m.memo, v)
		delete(m.sparse, index)
		return m.charge(32)
	}
	if m.sparse == nil {
		m.sparse = make(map[int64]any)
	}
	m.sparse[index] = v
	return m.charge(64)
}

// recall pushes what is stored under index.
func (m *machine) recall(index int64) error {
	if index >= 0 && index < int64(len(m.memo)) {
		return m.push(m.memo[index], 0)
	}
	v, ok := m.sparse[index]
	if !ok {
		return m.corrupt("memo index %d was never stored", index)
	}
	return m.push(v, 0)
}

// global returns the global called name in module, the same pointer for the
// same name, or refuses it.
func (m *machine) global(module, name string) (*Global, error) {
	if len(module) > maxName || len(name) > maxName {
		return nil, m.corrupt("a global's name of %d bytes, at most %d", max(len(module), len(name)), maxName)
	}
	if forbidden(module, name) {
		return nil, &ForbiddenGlobalError{m.in.place(m.op), module + "." + name}
	}
	switch module { // as Python 3 reads what Python 2 wrote
	case "__builtin__":
		module = "builtins"
	case "copy_reg":
		module = "copyreg"
	}
	key := Global{module, name}
	g := m.globals[key]
	if g == nil {
		g = &Global{module, name}
		m.globals[key] = g
		if err := m.charge(128 + len(module) + len(name)); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// kind names the type of a value for messages.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a bool"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case string:
		return "a string"
	case []byte:
		return "bytes"
	case *List:
		return "a list"
	case *Tuple:
		return fmt.Sprintf("a tuple of %d", len(v.Items))
	case *Set:
		return "a set"
	case *Dict:
		return "a dictionary"
	case *Global:
		return fmt.Sprintf("the global %q", v)
	case *Object:
		return fmt.Sprintf("an object of %q", v)
	case *Tensor:
		return "a tensor"
	case *Storage:
		return "a storage"
	}
	return fmt.Sprintf("a %T", v)
}
