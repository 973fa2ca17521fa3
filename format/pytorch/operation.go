package pytorch

// operations are the pickle operations of protocols 0 to 5, by their byte (the
// standard library's pickletools describes each). An absent entry is a byte
// that is no operation.
var operations = [256]func(*machine) error{
	// Structure of the stream.
	0x80: (*machine).proto,
	0x95: (*machine).frame,

	// The stack and the memo. '.', which stops the machine, is in run.
	'(':  func(m *machine) error { m.marks = append(m.marks, len(m.stack)); return m.charge(16) },
	'0':  (*machine).discard,
	'1':  func(m *machine) error { _, err := m.popMark(); return err },
	'2':  (*machine).duplicate,
	'p':  (*machine).putText,
	'q':  func(m *machine) error { return m.put(1) },
	'r':  func(m *machine) error { return m.put(4) },
	0x94: func(m *machine) error { return m.remember(int64(len(m.memo) + len(m.sparse))) },
	'g':  (*machine).getText,
	'h':  func(m *machine) error { return m.get(1) },
	'j':  func(m *machine) error { return m.get(4) },

	// Numbers and constants.
	'N':  func(m *machine) error { return m.push(nil, 0) },
	0x88: func(m *machine) error { return m.push(true, 0) },
	0x89: func(m *machine) error { return m.push(false, 0) },
	'I':  (*machine).intText,
	'J':  (*machine).int32,
	'K':  func(m *machine) error { return m.uint(1) },
	'M':  func(m *machine) error { return m.uint(2) },
	'L':  (*machine).longText,
	0x8a: func(m *machine) error { return m.long(1) },
	0x8b: func(m *machine) error { return m.long(4) },
	'F':  (*machine).floatText,
	'G':  (*machine).float64,

	// Strings and bytes.
	'S':  (*machine).stringText,
	'T':  func(m *machine) error { return m.python2String(4) },
	'U':  func(m *machine) error { return m.python2String(1) },
	'V':  (*machine).unicodeText,
	0x8c: func(m *machine) error { return m.unicode(1) },
	'X':  func(m *machine) error { return m.unicode(4) },
	0x8d: func(m *machine) error { return m.unicode(8) },
	'C':  func(m *machine) error { return m.bytes(1) },
	'B':  func(m *machine) error { return m.bytes(4) },
	0x8e: func(m *machine) error { return m.bytes(8) },
	0x96: func(m *machine) error { return m.bytes(8) }, // bytearray

	// Containers.
	']':  func(m *machine) error { return m.push(&List{}, 24) },
	'l':  (*machine).list,
	'a':  (*machine).append,
	'e':  (*machine).appends,
	')':  func(m *machine) error { return m.push(&Tuple{}, 24) },
	't':  (*machine).tuple,
	0x85: func(m *machine) error { return m.tupleOf(1) },
	0x86: func(m *machine) error { return m.tupleOf(2) },
	0x87: func(m *machine) error { return m.tupleOf(3) },
	'}':  func(m *machine) error { return m.push(&Dict{}, 64) },
	'd':  (*machine).dict,
	's':  (*machine).setItem,
	'u':  (*machine).setItems,
	0x8f: func(m *machine) error { return m.push(&Set{}, 24) },
	0x90: (*machine).appends, // to a set
	0x91: (*machine).frozenSet,

	// Globals and objects.
	'c':  (*machine).globalText,
	0x93: (*machine).stackGlobal,
	'R':  (*machine).reduce,
	'b':  (*machine).build,
	'i':  (*machine).inst,
	'o':  (*machine).obj,
	0x81: (*machine).newObject,
	0x92: (*machine).newObjectEx,
	'Q':  (*machine).persistent,

	// Valid, and never in a file of torch.
	'P':  refused("a persistent id as text"),
	0x82: refused("an object from Python's extension registry"),
	0x83: refused("an object from Python's extension registry"),
	0x84: refused("an object from Python's extension registry"),
	0x97: refused("an out-of-band buffer"),
	0x98: refused("an out-of-band buffer"),
}

func refused(what string) func(*machine) error {
	return func(m *machine) error { return m.unsupported("the pickle asks for %s", what) }
}

func (m *machine) proto() error {
	v, err := m.in.byte()
	if err != nil {
		return err
	}
	if v > 5 {
		return m.unsupported("pickle protocol %d, at most 5", v)
	}
	return nil
}

func (m *machine) frame() error {
	n, err := m.in.uint(8)
	if err != nil {
		return err
	}
	if n > uint64(m.in.left()) {
		return m.corrupt("a frame of %d bytes, and %d bytes are left", n, m.in.left())
	}
	return nil
}

// discard drops the last value, or the mark if nothing is above it.
func (m *machine) discard() error {
	if n := len(m.marks); n > 0 && m.marks[n-1] == len(m.stack) {
		m.marks = m.marks[:n-1]
		return nil
	}
	_, err := m.pop()
	return err
}

func (m *machine) duplicate() error {
	v, err := m.top()
	if err != nil {
		return err
	}
	return m.push(v, 0)
}

func (m *machine) put(width int) error {
	i, err := m.in.uint(width)
	if err != nil {
		return err
	}
	return m.remember(int64(i))
}

func (m *machine) get(width int) error {
	i, err := m.in.uint(width)
	if err != nil {
		return err
	}
	return m.recall(int64(i))
}

func (m *machine) putText() error {
	i, err := m.indexText()
	if err != nil {
		return err
	}
	return m.remember(i)
}

func (m *machine) getText() error {
	i, err := m.indexText()
	if err != nil {
		return err
	}
	return m.recall(i)
}

func (m *machine) persistent() error {
	id, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.load(m, id)
	if err != nil {
		return err
	}
	return m.push(v, 64)
}
