package onnx

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// OperatorCount is an operator and how often it occurs.
type OperatorCount struct {
	Domain string
	OpType string
	Count  int
}

// Operators counts the operators of the model, those of subgraphs included,
// the most frequent first.
func (f *File) Operators() []OperatorCount {
	counts := make(map[OperatorCount]int)
	f.Graph.walk(func(n *Node) { counts[OperatorCount{Domain: n.Domain, OpType: n.OpType}]++ })
	list := make([]OperatorCount, 0, len(counts))
	for o, n := range counts {
		o.Count = n
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b OperatorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.OpType, b.OpType))
	})
	return list
}

func (g *Graph) walk(fn func(*Node)) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		fn(n)
		for j := range n.Attributes {
			if sub := n.Attributes[j].Graph(); sub != nil {
				sub.walk(fn)
			}
			for _, sub := range n.Attributes[j].Graphs() {
				sub.walk(fn)
			}
		}
	}
}

// String describes a value, `tokens int64 [batch 7]`.
func (v *Value) String() string {
	s := fmt.Sprintf("%s %v", v.Name, v.DType)
	if v.Dims == nil {
		return s
	}
	dims := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		dims[i] = d.String()
	}
	return s + " [" + strings.Join(dims, " ") + "]"
}

// String is the dimension's size or name, "?" if it has neither.
func (d Dim) String() string {
	switch {
	case d.Param != "":
		return d.Param
	case d.Size < 0:
		return "?"
	}
	return fmt.Sprint(d.Size)
}

// Summarize writes what the model is, for people: versions, inputs, outputs,
// operators with counts, and initialisers with types, shapes and sizes.
func (f *File) Summarize(w io.Writer) error {
	p := &printer{w: w}
	p.printf("ONNX, IR version %d", f.IRVersion)
	if f.Producer != "" {
		p.printf(", by %s %s", f.Producer, f.ProducerVersion)
	}
	p.printf("\n")
	for _, o := range f.Opsets {
		p.printf("opset %s %d\n", cmp.Or(o.Domain, "ai.onnx"), o.Version)
	}
	for _, m := range f.Metadata {
		p.printf("metadata %q: %q\n", m.Key, m.Value)
	}
	inputs := f.Graph.FreeInputs()
	for i := range inputs {
		p.printf("input  %s\n", &inputs[i])
	}
	for i := range f.Graph.Outputs {
		p.printf("output %s\n", &f.Graph.Outputs[i])
	}
	ops := f.Operators()
	n := 0
	for _, o := range ops {
		n += o.Count
	}
	p.printf("%d nodes\n", n)
	for _, o := range ops {
		name := o.OpType
		if o.Domain != "" {
			name = o.Domain + "." + name
		}
		p.printf("%7d %s\n", o.Count, name)
	}
	var total int64
	for i := range f.Graph.Initializers {
		total += f.Graph.Initializers[i].Bytes()
	}
	p.printf("%d initialisers, %d bytes\n", len(f.Graph.Initializers), total)
	for i := range f.Graph.Initializers {
		t := &f.Graph.Initializers[i]
		p.printf("%11d %v %d %s", t.Bytes(), t.DType, t.Dims, t.Name)
		if t.External() != "" {
			p.printf(" in %s", t.External())
		}
		p.printf("\n")
	}
	return p.err
}

// FreeInputs are the inputs without an initialiser, those that a caller must
// give. (Old files list every initialiser among the inputs.)
func (g *Graph) FreeInputs() []Value {
	known := make(map[string]bool, len(g.Initializers))
	for i := range g.Initializers {
		known[g.Initializers[i].Name] = true
	}
	var free []Value
	for _, v := range g.Inputs {
		if !known[v.Name] {
			free = append(free, v)
		}
	}
	return free
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
