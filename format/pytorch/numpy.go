package pytorch

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/x448/float16"
)

// numpyType is what a pickled numpy.dtype says: byte order ('<', '>' or '|'),
// kind ('f' float, 'i' integer, 'u' unsigned, 'b' boolean, 'c' complex, 'S'
// bytes, 'U' text) and bytes per element.
type numpyType struct {
	order, kind byte
	size        int
}

// String returns NumPy's type string, "<f8".
func (t numpyType) String() string { return string(t.order) + string(t.kind) + strconv.Itoa(t.size) }

// numpyTypeOf returns the type that an object of numpy.dtype describes: its
// first argument is a type string without byte order, its state, if it has one,
// a tuple of a version, the byte order and fields of structures.
func numpyTypeOf(v any) (t numpyType, ok bool) {
	o, ok := v.(*Object)
	if !ok || o.Module != "numpy" || o.Name != "dtype" || len(o.Args) == 0 {
		return t, false
	}
	s, ok := o.Args[0].(string)
	if !ok || len(s) < 2 {
		return t, false
	}
	t = numpyType{order: '|', kind: s[0]}
	n, err := strconv.Atoi(s[1:])
	if err != nil || n < 0 || n > 1<<20 {
		return t, false
	}
	if t.size = n; t.kind == 'U' {
		t.size = 4 * n
	}
	if state, _ := o.State.(*Tuple); state != nil && len(state.Items) > 1 {
		order, _ := state.Items[1].(string)
		if len(order) != 1 || !strings.Contains("<>|=", order) {
			return t, false
		}
		if t.order = order[0]; t.order == '=' {
			t.order = '<'
		}
	}
	if t.size == 1 {
		t.order = '|'
	}
	return t, true
}

// number says whether elements are plain numbers of a size there is.
func (t numpyType) number() bool {
	switch t.kind {
	case 'b':
		return t.size == 1
	case 'i', 'u':
		return t.size == 1 || t.size == 2 || t.size == 4 || t.size == 8
	case 'f':
		return t.size == 2 || t.size == 4 || t.size == 8
	case 'c':
		return t.size == 8 || t.size == 16
	}
	return false
}

// makeNumber makes a number or string of a NumPy scalar: a dtype and bytes.
func makeNumber(m *machine, args []any) (any, bool, error) {
	if len(args) != 2 {
		return nil, false, nil
	}
	t, ok1 := numpyTypeOf(args[0])
	b, ok2 := args[1].([]byte)
	if s, ok := args[1].(string); ok && ok1 { // bytes, to Python 2
		b, ok2 = []byte(s), len(s) == t.size
	}
	if !ok1 || !ok2 {
		return nil, false, nil
	}
	if err := m.charge(24 + 2*len(b)); err != nil {
		return nil, false, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if t.order == '>' {
		order = binary.BigEndian
	}
	if t.kind == 'S' {
		return b, true, nil
	}
	if len(b) != t.size {
		return nil, false, m.corrupt("a NumPy scalar of %d bytes, want %d for %q", len(b), t.size, t)
	}
	switch {
	case t.kind == 'U':
		var s strings.Builder
		for i := 0; i < len(b); i += 4 {
			s.WriteRune(rune(order.Uint32(b[i:]) & 0x7fffffff))
		}
		return s.String(), true, nil
	case !t.number():
		return nil, false, nil
	case t.kind == 'c':
		re := numpyFloat(b[:t.size/2], order)
		return complex(re, numpyFloat(b[t.size/2:], order)), true, nil
	case t.kind == 'f':
		return numpyFloat(b, order), true, nil
	}
	return numpyInteger(b, t.kind, order), true, nil
}

func numpyFloat(b []byte, order binary.ByteOrder) float64 {
	switch len(b) {
	case 2:
		return float64(float16.Frombits(order.Uint16(b)).Float32())
	case 4:
		return float64(math.Float32frombits(order.Uint32(b)))
	}
	return math.Float64frombits(order.Uint64(b))
}

func numpyInteger(b []byte, kind byte, order binary.ByteOrder) any {
	var u uint64
	switch len(b) {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(order.Uint16(b))
	case 4:
		u = uint64(order.Uint32(b))
	case 8:
		u = order.Uint64(b)
	}
	switch {
	case kind == 'b':
		return u != 0
	case kind == 'i':
		shift := 64 - 8*len(b)
		return int64(u<<shift) >> shift
	case u > math.MaxInt64:
		return new(big.Int).SetUint64(u)
	}
	return int64(u)
}

// makeEmptyArray makes an array that its state, which follows, fills.
func makeEmptyArray(_ *machine, args []any) (any, bool, error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	class, ok := args[0].(*Global)
	if !ok || class.Module != "numpy" || class.Name != "ndarray" {
		return nil, false, nil
	}
	return &Array{DType: "|b1", Shape: []int{0}}, true, nil
}

// buildArray fills an array from its state: version, shape, dtype, whether the
// order is Fortran's, and the bytes.
func (m *machine) buildArray(a *Array, state any) error {
	s, ok := state.(*Tuple)
	if !ok || len(s.Items) != 5 {
		return m.corrupt("the state of a NumPy array is %s, want a tuple of 5", kind(state))
	}
	t, ok := numpyTypeOf(s.Items[2])
	if !ok || !t.number() { // objects, text, records: not data here
		a.DType = "|O"
		return nil
	}
	fortran, _ := s.Items[3].(bool)
	b, ok := s.Items[4].([]byte)
	if text, isText := s.Items[4].(string); isText { // bytes, to Python 2
		b, ok = []byte(text), true
	}
	if !ok {
		return m.corrupt("the elements of a NumPy array are %s, want bytes", kind(s.Items[4]))
	}
	return m.setArray(a, t, s.Items[1], fortran, b)
}

// makeArray makes an array of bytes, dtype, shape and order ("C" or "F").
func makeArray(m *machine, args []any) (any, bool, error) {
	if len(args) != 4 {
		return nil, false, nil
	}
	b, ok1 := args[0].([]byte)
	t, ok2 := numpyTypeOf(args[1])
	order, ok3 := args[3].(string)
	if !ok1 || !ok2 || !ok3 || !t.number() {
		return nil, false, nil
	}
	a := &Array{}
	return a, true, m.setArray(a, t, args[2], order == "F", b)
}

func (m *machine) setArray(a *Array, t numpyType, shape any, fortran bool, b []byte) error {
	if err := m.charge(len(b)); err != nil { // a string may have been copied
		return err
	}
	dims, err := m.dims(shape)
	if err != nil {
		return err
	}
	n, ok := product(dims)
	if !ok || n > int64(len(b)) || n*int64(t.size) != int64(len(b)) {
		return m.corrupt("a NumPy array of shape %v and type %q has %d bytes", dims, t, len(b))
	}
	*a = Array{DType: t.String(), Shape: dims, Fortran: fortran, Data: b}
	return nil
}
