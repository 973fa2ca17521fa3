package pytorch

// List is a Python list. Items may be appended to after the list was first
// referred to, so lists can contain themselves.
type List struct {
	Items []any
}

// Tuple is a Python tuple, or a torch.Size.
type Tuple struct {
	Items []any
}

// Set is a Python set or frozenset, in the order of the file.
type Set struct {
	Items []any
}

// Global is a class or function that the pickle names, unresolved: Module is
// the dotted module path ("builtins" and "copyreg" for Python 2's
// "__builtin__" and "copy_reg"), Name the name in it, which may be dotted too.
type Global struct {
	Module, Name string
}

// String returns the dotted path, "argparse.Namespace".
func (g *Global) String() string { return g.Module + "." + g.Name }

// Object is an instance of a class, or the result of a call, that this package
// does not know as data. Nothing was executed to make it.
type Object struct {
	Module, Name string // of the class or function

	// Args are the positional and Kwargs the named arguments of the
	// constructor or call; Kwargs is nil where there are none.
	Args   []any
	Kwargs *Dict

	// State is what the pickle asks to restore the object from, nil if
	// nothing. Where it is a dictionary, or Python's pair of a dictionary
	// and a dictionary of slots, Dict has its attributes; else Dict is nil.
	State any
	Dict  *Dict

	// Items were appended to the object (a list's subclass), Entries were
	// set in it (a dictionary's subclass, nil where there are none).
	Items   []any
	Entries *Dict

	// Note says why a tensor is an Object and not a Tensor, else "".
	Note string
}

// String returns the dotted path of the class, "argparse.Namespace".
func (o *Object) String() string { return o.Module + "." + o.Name }

// Attr returns the attribute called name, and whether there is one.
func (o *Object) Attr(name string) (any, bool) {
	if o.Dict == nil {
		return nil, false
	}
	return o.Dict.Get(name)
}

// Array is a NumPy array whose elements are plain numbers.
type Array struct {
	DType   string // NumPy's type string with byte order, "<f8", "|u1"
	Shape   []int
	Fortran bool   // column-major order
	Data    []byte // the elements
}
