package onnx

import (
	"math"
	"math/bits"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxRank bounds a tensor's dimensions.
const maxRank = 64

// storage says where a tensor's elements are.
type storage uint8

const (
	noData   storage = iota // there are no elements
	raw                     // little-endian, row-major, at off
	typed                   // in the field of the element type, in the message at off
	external                // in a file beside the model
)

// Tensor is a tensor of the file: described, its elements not read.
type Tensor struct {
	Name  string
	DType DType
	Dims  []int64 // nil for a scalar

	elements int64
	storage  storage
	column   protowire.Number // of the typed field
	off, n   int64            // raw: the elements; typed: the message
	outer    *blob
	file     *File
}

// Elements is the product of the dimensions.
func (t *Tensor) Elements() int64 { return t.elements }

// Bytes is the size of the elements in their own type, 0 for strings and
// types that are not read.
func (t *Tensor) Bytes() int64 { return t.elements * t.DType.Size() }

// External is the location of the tensor's external data, as the model has
// it, "" if the elements are in the model itself.
func (t *Tensor) External() string {
	if t.outer == nil {
		return ""
	}
	return t.outer.location
}

// tensorFields is a TensorProto while it is read.
type tensorFields struct {
	start    int64
	typed    [maxCounted]int64 // values per typed field, by number
	raw      *field
	location int64
	entries  []Property
	segment  bool
}

func (f *File) parseTensor(t *Tensor, c cursor) error {
	p := tensorFields{start: c.off}
	t.file, t.off, t.n = f, c.off, c.end-c.off
	for {
		fd, ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := p.field(t, &c, fd); err != nil {
			return err
		}
	}
	var err error
	if t.elements, err = p.count(t, &c); err != nil {
		return err
	}
	return p.place(t, &c)
}

func (p *tensorFields) field(t *Tensor, c *cursor, fd field) (err error) {
	switch fd.num {
	case 1:
		if t.Dims, err = c.numbers(t.Dims, fd, "dims"); err == nil && len(t.Dims) > maxRank {
			return c.corrupt(fd.start, "tensor %q has %d dimensions, at most %d are read", t.Name, len(t.Dims), maxRank)
		}
	case 2:
		t.DType, err = DType(fd.value), c.want(fd, protowire.VarintType, "data_type")
	case 3:
		p.segment = true
	case 4:
		err = p.fixed(c, fd, 4, protowire.Fixed32Type)
	case 10:
		err = p.fixed(c, fd, 8, protowire.Fixed64Type)
	case 5, 7, 11:
		n := int64(1)
		if fd.typ == protowire.BytesType {
			n, err = c.countVarints(fd.off, fd.n, "tensor data")
		} else {
			err = c.want(fd, protowire.VarintType, "tensor data")
		}
		p.typed[fd.num] += n
	case 6:
		p.typed[fd.num]++
	case 8:
		t.Name, err = c.str(fd, "tensor name")
	case 9:
		p.raw, err = &fd, c.want(fd, protowire.BytesType, "raw_data")
	case 13:
		var m cursor
		if m, err = c.message(fd, "external_data"); err == nil {
			err = p.entry(m)
		}
	case 14:
		p.location, err = int64(fd.value), c.want(fd, protowire.VarintType, "data_location")
	}
	return err
}

func (p *tensorFields) fixed(c *cursor, fd field, size int64, typ protowire.Type) error {
	if fd.typ == typ {
		p.typed[fd.num]++
		return nil
	}
	if err := c.want(fd, protowire.BytesType, "tensor data"); err != nil {
		return err
	}
	if fd.n%size != 0 {
		return c.corrupt(fd.start, "tensor data takes %d bytes, want a multiple of %d", fd.n, size)
	}
	p.typed[fd.num] += fd.n / size
	return nil
}

func (p *tensorFields) entry(m cursor) error {
	if len(p.entries) == 16 {
		return m.corrupt(m.off, "more than %d entries of external data", len(p.entries))
	}
	e, err := property(m)
	p.entries = append(p.entries, e)
	return err
}

// count multiplies the dimensions, checked.
func (p *tensorFields) count(t *Tensor, c *cursor) (int64, error) {
	n, zero := int64(1), false
	for _, d := range t.Dims {
		if d < 0 {
			return 0, c.corrupt(p.start, "tensor %q has dimensions %d", t.Name, t.Dims)
		}
		if d == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(uint64(n), uint64(d))
		if hi != 0 || lo > math.MaxInt64/16 {
			return 0, c.corrupt(p.start, "tensor %q has dimensions %d, more elements than any file holds", t.Name, t.Dims)
		}
		n = int64(lo)
	}
	if zero {
		n = 0
	}
	return n, nil
}

// column is the typed field of an element type.
func column(d DType) protowire.Number {
	switch d {
	case Float, Complex64:
		return 4
	case Int64:
		return 7
	case String:
		return 6
	case Double, Complex128:
		return 10
	case Uint32, Uint64:
		return 11
	}
	return 5
}

// place decides where the elements are and checks that they are all there.
func (p *tensorFields) place(t *Tensor, c *cursor) error {
	if p.segment {
		return c.unsupported(p.start, "tensor %q is in segments", t.Name)
	}
	if t.DType == Undefined {
		return c.corrupt(p.start, "tensor %q has no element type", t.Name)
	}
	size := t.DType.Size()
	if p.location == 1 {
		return p.placeExternal(t, c, size)
	}
	if p.location != 0 {
		return c.corrupt(p.start, "tensor %q has data location %d", t.Name, p.location)
	}
	want := t.elements
	if t.DType == Complex64 || t.DType == Complex128 {
		want *= 2
	}
	t.column = column(t.DType)
	for num, n := range p.typed {
		if n != 0 && (protowire.Number(num) != t.column || p.raw != nil && p.raw.n > 0) {
			return c.corrupt(p.start, "tensor %q of %v has data in field %d as well or instead", t.Name, t.DType, num)
		}
	}
	switch {
	case p.raw != nil && p.raw.n > 0:
		if size > 0 && p.raw.n != t.elements*size {
			return c.corrupt(p.raw.start, "tensor %q of %v %d has %d bytes, want %d", t.Name, t.DType, t.Dims, p.raw.n, t.elements*size)
		}
		t.storage, t.off, t.n = raw, p.raw.off, p.raw.n
	case t.elements == 0:
		t.storage = noData
	case size == 0 && t.DType != String: // packed small types, described only
		t.storage = typed
	case p.typed[t.column] != want:
		return c.corrupt(p.start, "tensor %q of %v %d has %d values, want %d", t.Name, t.DType, t.Dims, p.typed[t.column], want)
	default:
		t.storage = typed
	}
	return nil
}

func (p *tensorFields) placeExternal(t *Tensor, c *cursor, size int64) error {
	if size == 0 {
		return c.unsupported(p.start, "tensor %q of %v has external data", t.Name, t.DType)
	}
	if p.raw != nil && p.raw.n > 0 {
		return c.corrupt(p.start, "tensor %q has both raw and external data", t.Name)
	}
	if err := c.charge(p.start, int64(unsafe.Sizeof(blob{}))); err != nil {
		return err
	}
	b, err := parseBlob(p.entries, t.elements*size)
	if err != nil {
		return c.corrupt(p.start, "tensor %q: %v", t.Name, err)
	}
	t.storage, t.outer = external, b
	t.off, t.n = b.off, b.n
	if t.file.outside == nil {
		return nil
	}
	if err := t.file.outside.open(b); err != nil {
		return c.corrupt(p.start, "tensor %q: %v", t.Name, err)
	}
	return nil
}
