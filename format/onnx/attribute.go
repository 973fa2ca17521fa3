package onnx

import (
	"math"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// AttributeType is the type of an attribute, by its number in onnx.proto.
type AttributeType int32

// The attribute types. The sparse and type attributes have numbers here but
// no value.
const (
	AttributeFloat         AttributeType = 1
	AttributeInt           AttributeType = 2
	AttributeString        AttributeType = 3
	AttributeTensor        AttributeType = 4
	AttributeGraph         AttributeType = 5
	AttributeFloats        AttributeType = 6
	AttributeInts          AttributeType = 7
	AttributeStrings       AttributeType = 8
	AttributeTensors       AttributeType = 9
	AttributeGraphs        AttributeType = 10
	AttributeSparseTensor  AttributeType = 11
	AttributeSparseTensors AttributeType = 12
	AttributeTypeProto     AttributeType = 13
	AttributeTypeProtos    AttributeType = 14
)

// Attribute is a named constant of a node. The method of its type returns the
// value; those of other types return nothing (0, "" or nil).
type Attribute struct {
	Name string
	Type AttributeType

	bits uint64
	any  any
}

// Float returns the value of a float attribute.
func (a *Attribute) Float() float32 {
	if a.Type != AttributeFloat {
		return 0
	}
	return math.Float32frombits(uint32(a.bits))
}

// Int returns the value of an integer attribute.
func (a *Attribute) Int() int64 {
	if a.Type != AttributeInt {
		return 0
	}
	return int64(a.bits)
}

// Text returns the value of a string attribute.
func (a *Attribute) Text() string { s, _ := a.any.(string); return s }

// Tensor returns the value of a tensor attribute.
func (a *Attribute) Tensor() *Tensor { t, _ := a.any.(*Tensor); return t }

// Graph returns the value of a graph attribute.
func (a *Attribute) Graph() *Graph { g, _ := a.any.(*Graph); return g }

// Floats returns the values of a list of floats.
func (a *Attribute) Floats() []float32 { l, _ := a.any.([]float32); return l }

// Ints returns the values of a list of integers.
func (a *Attribute) Ints() []int64 { l, _ := a.any.([]int64); return l }

// Texts returns the values of a list of strings.
func (a *Attribute) Texts() []string { l, _ := a.any.([]string); return l }

// Tensors returns the values of a list of tensors.
func (a *Attribute) Tensors() []*Tensor { l, _ := a.any.([]*Tensor); return l }

// Graphs returns the values of a list of graphs.
func (a *Attribute) Graphs() []*Graph { l, _ := a.any.([]*Graph); return l }

// attribute is an AttributeProto while it is read: any field may come, and
// the type in front of, after or (in old files) without it.
type attribute struct {
	typ     AttributeType
	last    AttributeType // of the last value field met
	f, i    uint64
	s       string
	t       *Tensor
	g       *Graph
	floats  []float32
	ints    []int64
	strings []string
	tensors []*Tensor
	graphs  []*Graph
}

func (f *File) parseAttribute(a *Attribute, c *cursor, fd field, depth int) error {
	m, err := c.message(fd, "node attribute")
	if err != nil {
		return err
	}
	var p attribute
	for {
		g, ok, err := m.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch g.num {
		case 1:
			a.Name, err = m.word(g, "attribute name")
		case 20:
			p.typ, err = AttributeType(g.value), m.want(g, protowire.VarintType, "attribute type")
		case 2, 3, 4, 5, 6:
			err = f.attributeValue(&p, &m, g, depth)
		case 7, 8, 9, 10, 11:
			err = f.attributeList(&p, &m, g, depth)
		case 21:
			return m.unsupported(g.start, "attribute %q refers to an attribute of a function", a.Name)
		}
		if err != nil {
			return err
		}
	}
	if p.typ == 0 {
		p.typ = p.last
	}
	a.Type = p.typ
	switch p.typ {
	case AttributeFloat:
		a.bits = p.f
	case AttributeInt:
		a.bits = p.i
	case AttributeString:
		a.any = p.s
	case AttributeTensor:
		if p.t == nil {
			return c.corrupt(fd.start, "attribute %q has no tensor", a.Name)
		}
		a.any = p.t
	case AttributeGraph:
		if p.g == nil {
			return c.corrupt(fd.start, "attribute %q has no graph", a.Name)
		}
		a.any = p.g
	case AttributeFloats:
		a.any = p.floats
	case AttributeInts:
		a.any = p.ints
	case AttributeStrings:
		a.any = p.strings
	case AttributeTensors:
		a.any = p.tensors
	case AttributeGraphs:
		a.any = p.graphs
	case AttributeSparseTensor, AttributeSparseTensors, AttributeTypeProto, AttributeTypeProtos:
	default:
		return c.corrupt(fd.start, "attribute %q has type %d", a.Name, p.typ)
	}
	return nil
}

func (f *File) attributeValue(p *attribute, m *cursor, g field, depth int) (err error) {
	p.last = AttributeType(g.num - 1)
	switch g.num {
	case 2:
		p.f, err = g.value, m.want(g, protowire.Fixed32Type, "attribute float")
	case 3:
		p.i, err = g.value, m.want(g, protowire.VarintType, "attribute integer")
	case 4:
		p.s, err = m.str(g, "attribute string")
		if err == nil {
			err = m.charge(g.start, 16)
		}
	case 5:
		p.t, err = f.attributeTensor(m, g)
	case 6:
		p.g, err = f.attributeGraph(m, g, depth)
	}
	return err
}

func (f *File) attributeTensor(m *cursor, g field) (*Tensor, error) {
	if err := m.charge(g.start, int64(unsafe.Sizeof(Tensor{}))); err != nil {
		return nil, err
	}
	c, err := m.message(g, "attribute tensor")
	if err != nil {
		return nil, err
	}
	t := new(Tensor)
	return t, f.parseTensor(t, c)
}

func (f *File) attributeGraph(m *cursor, g field, depth int) (*Graph, error) {
	c, err := m.message(g, "attribute graph")
	if err != nil {
		return nil, err
	}
	return f.parseGraph(c, depth+1)
}

func (f *File) attributeList(p *attribute, m *cursor, g field, depth int) (err error) {
	p.last = AttributeType(g.num - 1)
	switch g.num {
	case 7:
		p.floats, err = m.floats(p.floats, g)
	case 8:
		p.ints, err = m.numbers(p.ints, g, "attribute integers")
	case 9:
		var s string
		if s, err = m.str(g, "attribute string"); err == nil {
			p.strings = append(p.strings, s)
			err = m.charge(g.start, 32)
		}
	case 10:
		var t *Tensor
		if t, err = f.attributeTensor(m, g); err == nil {
			p.tensors = append(p.tensors, t)
			err = m.charge(g.start, 16)
		}
	case 11:
		var sub *Graph
		if sub, err = f.attributeGraph(m, g, depth); err == nil {
			p.graphs = append(p.graphs, sub)
			err = m.charge(g.start, 16)
		}
	}
	return err
}

// floats appends the values of a repeated float field, packed or not.
func (c *cursor) floats(list []float32, f field) ([]float32, error) {
	if f.typ == protowire.Fixed32Type {
		return append(list, math.Float32frombits(uint32(f.value))), c.charge(f.start, 8)
	}
	if err := c.want(f, protowire.BytesType, "attribute floats"); err != nil {
		return nil, err
	}
	if f.n%4 != 0 {
		return nil, c.corrupt(f.start, "attribute floats take %d bytes, want a multiple of 4", f.n)
	}
	if err := c.charge(f.start, 2*f.n); err != nil {
		return nil, err
	}
	for off, end := f.off, f.off+f.n; off < end; {
		b, err := c.peek(off, min(windowSize, end-off))
		if err != nil {
			return nil, err
		}
		off += int64(len(b)) &^ 3
		for ; len(b) >= 4; b = b[4:] {
			v, _ := protowire.ConsumeFixed32(b)
			list = append(list, math.Float32frombits(v))
		}
	}
	return list, nil
}
