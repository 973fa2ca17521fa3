package onnx

import (
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// Graph is a graph of operators, the model's or that of an attribute.
type Graph struct {
	Name         string
	Nodes        []Node // in topological order, if the file keeps ONNX's rule
	Initializers []Tensor
	Inputs       []Value
	Outputs      []Value
	// Values are the types that the file states of other values.
	Values []Value
	// SparseInitializers counts initialisers that are not read.
	SparseInitializers int
}

// Node is one operator. An empty name among Inputs or Outputs is an optional
// one that is absent.
type Node struct {
	Name       string
	OpType     string
	Domain     string // "" is ONNX's own
	Inputs     []string
	Outputs    []string
	Attributes []Attribute
}

// Attribute returns the attribute called name, nil if there is none.
func (n *Node) Attribute(name string) *Attribute {
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

// Int returns the integer attribute called name, or value if there is none.
func (n *Node) Int(name string, value int64) int64 {
	if a := n.Attribute(name); a != nil && a.Type == AttributeInt {
		return a.Int()
	}
	return value
}

// Float returns the float attribute called name, or value if there is none.
func (n *Node) Float(name string, value float32) float32 {
	if a := n.Attribute(name); a != nil && a.Type == AttributeFloat {
		return a.Float()
	}
	return value
}

// Value is the type of an input, output or inner value.
type Value struct {
	Name  string
	DType DType // Undefined if the value is not a tensor, or nothing is stated
	// Dims are nil when no shape is stated.
	Dims []Dim
}

// Dim is one dimension: a number, or a name if Param is not "", or unknown
// (Size −1).
type Dim struct {
	Size  int64
	Param string
}

// maxGraphDepth bounds graphs within attributes of nodes of graphs.
const maxGraphDepth = 16

// maxNodeBytes is the smallest node there can be: an operator of one letter.
const minNodeBytes = 3

func (f *File) parseGraph(c cursor, depth int) (*Graph, error) {
	if depth > maxGraphDepth {
		return nil, c.corrupt(c.off, "graphs are nested more than %d deep", maxGraphDepth)
	}
	start := c.off
	n, err := c.counts()
	if err != nil {
		return nil, err
	}
	size := int64(unsafe.Sizeof(Graph{})) + int64(n[1])*int64(unsafe.Sizeof(Node{})) +
		int64(n[5])*int64(unsafe.Sizeof(Tensor{})) + int64(n[11]+n[12]+n[13])*int64(unsafe.Sizeof(Value{}))
	if err := c.charge(start, size); err != nil {
		return nil, err
	}
	g := &Graph{
		Nodes:        make([]Node, 0, n[1]),
		Initializers: make([]Tensor, 0, n[5]),
		Inputs:       make([]Value, 0, n[11]),
		Outputs:      make([]Value, 0, n[12]),
		Values:       make([]Value, 0, n[13]),
	}
	for {
		fd, ok, err := c.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return g, nil
		}
		if err := f.graphField(g, &c, fd, depth); err != nil {
			return nil, err
		}
	}
}

func (f *File) graphField(g *Graph, c *cursor, fd field, depth int) (err error) {
	var m cursor
	switch fd.num {
	case 2:
		g.Name, err = c.str(fd, "graph name")
		return err
	case 1, 5, 11, 12, 13:
		if m, err = c.message(fd, "a part of the graph"); err != nil {
			return err
		}
	case 15:
		g.SparseInitializers++
	}
	switch fd.num {
	case 1:
		g.Nodes = append(g.Nodes, Node{})
		err = f.parseNode(&g.Nodes[len(g.Nodes)-1], m, depth)
	case 5:
		g.Initializers = append(g.Initializers, Tensor{})
		err = f.parseTensor(&g.Initializers[len(g.Initializers)-1], m)
	case 11:
		g.Inputs = append(g.Inputs, Value{})
		err = parseValue(&g.Inputs[len(g.Inputs)-1], m)
	case 12:
		g.Outputs = append(g.Outputs, Value{})
		err = parseValue(&g.Outputs[len(g.Outputs)-1], m)
	case 13:
		g.Values = append(g.Values, Value{})
		err = parseValue(&g.Values[len(g.Values)-1], m)
	}
	return err
}

func (f *File) parseNode(node *Node, c cursor, depth int) error {
	start := c.off
	if c.end-c.off < minNodeBytes {
		return c.corrupt(start, "a node of %d bytes has no operator", c.end-c.off)
	}
	n, err := c.counts()
	if err != nil {
		return err
	}
	if err := c.charge(start, int64(n[1]+n[2])*16+int64(n[5])*int64(unsafe.Sizeof(Attribute{}))); err != nil {
		return err
	}
	node.Inputs = make([]string, 0, n[1])
	node.Outputs = make([]string, 0, n[2])
	node.Attributes = make([]Attribute, 0, n[5])
	for {
		fd, ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		var s string
		switch fd.num {
		case 1:
			s, err = c.str(fd, "node input")
			node.Inputs = append(node.Inputs, s)
		case 2:
			s, err = c.str(fd, "node output")
			node.Outputs = append(node.Outputs, s)
		case 3:
			node.Name, err = c.str(fd, "node name")
		case 4:
			node.OpType, err = c.word(fd, "node op_type")
		case 5:
			node.Attributes = append(node.Attributes, Attribute{})
			err = f.parseAttribute(&node.Attributes[len(node.Attributes)-1], &c, fd, depth)
		case 7:
			node.Domain, err = c.word(fd, "node domain")
		}
		if err != nil {
			return err
		}
	}
	if node.OpType == "" {
		return c.corrupt(start, "node %q has no operator", node.Name)
	}
	if node.Domain == "ai.onnx" {
		node.Domain = ""
	}
	return nil
}

func parseValue(v *Value, c cursor) error {
	for {
		fd, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		switch fd.num {
		case 1:
			v.Name, err = c.str(fd, "value name")
		case 2:
			var m cursor
			if m, err = c.message(fd, "value type"); err == nil {
				err = parseType(v, m)
			}
		}
		if err != nil {
			return err
		}
	}
}

// parseType reads a TypeProto, of which only tensors are kept.
func parseType(v *Value, c cursor) error {
	for {
		fd, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		if fd.num != 1 {
			continue
		}
		m, err := c.message(fd, "tensor type")
		if err != nil {
			return err
		}
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
				v.DType, err = DType(g.value), m.want(g, protowire.VarintType, "element type")
			case 2:
				var shape cursor
				if shape, err = m.message(g, "shape"); err == nil {
					err = parseShape(v, shape)
				}
			}
			if err != nil {
				return err
			}
		}
	}
}

func parseShape(v *Value, c cursor) error {
	n, err := c.counts()
	if err != nil {
		return err
	}
	if n[1] > maxRank {
		return c.corrupt(c.off, "%q has %d dimensions, at most %d are read", v.Name, n[1], maxRank)
	}
	if err := c.charge(c.off, int64(n[1])*int64(unsafe.Sizeof(Dim{}))); err != nil {
		return err
	}
	v.Dims = make([]Dim, 0, n[1])
	for {
		fd, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		if fd.num != 1 {
			continue
		}
		m, err := c.message(fd, "dimension")
		if err != nil {
			return err
		}
		d := Dim{Size: -1}
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
				d.Size, err = int64(g.value), m.want(g, protowire.VarintType, "dim_value")
			case 2:
				d.Param, err = m.word(g, "dim_param")
			}
			if err != nil {
				return err
			}
		}
		v.Dims = append(v.Dims, d)
	}
}
