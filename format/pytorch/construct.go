package pytorch

import (
	"math/big"
	"unicode/utf8"
)

// A constructor makes data of the arguments of a call, or reports that it
// cannot and the call stays an inert object.
type constructor func(m *machine, args []any) (v any, done bool, err error)

// constructors are the globals whose calls give data, by dotted path. Each is a
// function of this package; none can call another global.
var constructors = map[string]constructor{
	"collections.OrderedDict": makeDict,
	"collections.Counter":     makeDict,
	"collections.defaultdict": func(m *machine, args []any) (any, bool, error) { return makeDict(m, args[min(1, len(args)):]) },
	"collections.deque":       func(m *machine, args []any) (any, bool, error) { return makeList(m, args[:min(1, len(args))]) },

	"builtins.dict":      makeDict,
	"builtins.list":      makeList,
	"builtins.tuple":     makeTuple,
	"builtins.set":       makeSet,
	"builtins.frozenset": makeSet,
	"builtins.bytes":     makeBytes,
	"builtins.bytearray": makeBytes,
	"builtins.complex":   makeComplex,
	"builtins.bool":      makeSame,
	"builtins.int":       makeSame,
	"builtins.long":      makeSame,
	"builtins.float":     makeSame,
	"builtins.str":       makeSame,
	"builtins.unicode":   makeSame,
	"_codecs.encode":     makeBytes,

	"numpy.core.multiarray.scalar":        makeNumber,
	"numpy._core.multiarray.scalar":       makeNumber,
	"numpy.core.multiarray._reconstruct":  makeEmptyArray,
	"numpy._core.multiarray._reconstruct": makeEmptyArray,
	"numpy.core.numeric._frombuffer":      makeArray,
	"numpy._core.numeric._frombuffer":     makeArray,

	"torch.Size":                                 makeTuple,
	"torch._utils._rebuild_tensor":               rebuildTensor,
	"torch._utils._rebuild_tensor_v2":            rebuildTensor,
	"torch._utils._rebuild_tensor_v3":            rebuildTensor,
	"torch._utils._rebuild_parameter":            rebuildParameter,
	"torch._utils._rebuild_parameter_with_state": rebuildParameter,
	"torch.nn.parameter.Parameter":               rebuildParameter,
	"torch.nn.parameter.Buffer":                  rebuildBuffer,
	"torch.tensor._rebuild_from_type":            rebuildFromType,
	"torch._tensor._rebuild_from_type":           rebuildFromType,
	"torch._tensor._rebuild_from_type_v2":        rebuildFromType,
}

// construct makes data of the call of g, if it is a constructor of data.
func (m *machine) construct(g *Global, args []any, kwargs *Dict) (v any, done bool, err error) {
	if kwargs.Len() > 0 {
		return nil, false, nil
	}
	switch g.Module + "." + g.Name {
	case "copyreg._reconstructor":
		return m.reconstruct(args)
	case "copyreg.__newobj__":
		return m.newFromArgs(args)
	}
	return m.data(g, args)
}

func (m *machine) data(g *Global, args []any) (v any, done bool, err error) {
	if c := constructors[g.Module+"."+g.Name]; c != nil {
		return c(m, args)
	}
	return nil, false, nil
}

// items returns the items of a list, tuple or set.
func items(v any) ([]any, bool) {
	switch v := v.(type) {
	case *List:
		return v.Items, true
	case *Tuple:
		return v.Items, true
	case *Set:
		return v.Items, true
	}
	return nil, false
}

// makeDict makes a dictionary of nothing, of another, or of a list of pairs.
func makeDict(m *machine, args []any) (any, bool, error) {
	d := &Dict{}
	if len(args) == 0 {
		return d, true, nil
	}
	if from, ok := args[0].(*Dict); ok && len(args) == 1 {
		for i := range from.keys {
			if err := m.fill(d, []any{from.keys[i], from.values[i]}); err != nil {
				return nil, false, err
			}
		}
		return d, true, nil
	}
	pairs, ok := items(args[0])
	if !ok || len(args) != 1 {
		return nil, false, nil
	}
	for _, p := range pairs {
		pair, ok := items(p)
		if !ok || len(pair) != 2 {
			return nil, false, nil
		}
		if err := m.fill(d, pair); err != nil {
			return nil, false, err
		}
	}
	return d, true, nil
}

// copyItems returns a copy of the items of the only argument.
func copyItems(m *machine, args []any) ([]any, bool, error) {
	if len(args) == 0 {
		return nil, true, nil
	}
	from, ok := items(args[0])
	if !ok || len(args) != 1 {
		return nil, false, nil
	}
	return append([]any(nil), from...), true, m.charge(itemSize * len(from))
}

func makeList(m *machine, args []any) (any, bool, error) {
	c, ok, err := copyItems(m, args)
	return &List{Items: c}, ok, err
}

func makeTuple(m *machine, args []any) (any, bool, error) {
	c, ok, err := copyItems(m, args)
	return &Tuple{Items: c}, ok, err
}

func makeSet(m *machine, args []any) (any, bool, error) {
	c, ok, err := copyItems(m, args)
	return &Set{Items: c}, ok, err
}

// makeBytes makes bytes of nothing, of bytes, of a list of small integers, or of
// text and its encoding, which is how protocols below 3 write bytes.
func makeBytes(m *machine, args []any) (any, bool, error) {
	if len(args) == 0 {
		return []byte{}, true, nil
	}
	switch v := args[0].(type) {
	case []byte:
		return v, len(args) == 1, nil
	case string:
		encoding, ok := "", len(args) == 2
		if ok {
			encoding, ok = args[1].(string)
		}
		if !ok {
			return nil, false, nil
		}
		return encode(m, v, encoding)
	case *List:
		if err := m.charge(len(v.Items)); err != nil {
			return nil, false, err
		}
		b := make([]byte, len(v.Items))
		for i, item := range v.Items {
			n, ok := item.(int64)
			if !ok || n < 0 || n > 255 || len(args) != 1 {
				return nil, false, nil
			}
			b[i] = byte(n)
		}
		return b, true, nil
	}
	return nil, false, nil
}

func encode(m *machine, s, encoding string) (any, bool, error) {
	if err := m.charge(24 + len(s)); err != nil {
		return nil, false, err
	}
	switch encoding {
	case "latin1", "latin-1", "iso-8859-1":
		b := make([]byte, 0, utf8.RuneCountInString(s))
		for _, r := range s {
			if r > 0xff {
				return nil, false, m.corrupt("a string that is not %s: %.40q", encoding, s)
			}
			b = append(b, byte(r))
		}
		return b, true, nil
	case "utf-8", "utf8", "ascii":
		return []byte(s), true, nil
	}
	return nil, false, nil
}

func makeComplex(_ *machine, args []any) (any, bool, error) {
	if len(args) != 2 {
		return nil, false, nil
	}
	re, ok1 := args[0].(float64)
	im, ok2 := args[1].(float64)
	return complex(re, im), ok1 && ok2, nil
}

// makeSame takes a number or string as it is.
func makeSame(_ *machine, args []any) (any, bool, error) {
	if len(args) != 1 {
		return nil, false, nil
	}
	switch args[0].(type) {
	case bool, int64, float64, string, *big.Int:
		return args[0], true, nil
	}
	return nil, false, nil
}

// reconstruct makes an object as protocols 0 and 1 do: of a class, the built-in
// class below it, and what that is made from.
func (m *machine) reconstruct(args []any) (any, bool, error) {
	if len(args) != 3 {
		return nil, false, nil
	}
	class, ok := args[0].(*Global)
	if !ok {
		return nil, false, nil
	}
	o := &Object{Module: class.Module, Name: class.Name}
	switch from := args[2].(type) {
	case nil:
		if v, done, err := m.data(class, nil); done || err != nil {
			return v, done, err
		}
	case *Dict:
		o.Entries = from
	case *List:
		o.Items = from.Items[:len(from.Items):len(from.Items)]
	default:
		o.Args = args[2:]
	}
	return o, true, nil
}

// newFromArgs makes an instance of its first argument of the others.
func (m *machine) newFromArgs(args []any) (any, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	class, ok := args[0].(*Global)
	if !ok {
		return nil, false, nil
	}
	v, done, err := m.data(class, args[1:])
	if !done && err == nil {
		v = &Object{Module: class.Module, Name: class.Name, Args: args[1:]}
	}
	return v, true, err
}
