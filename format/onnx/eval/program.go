package eval

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"memsizer/format/onnx"
)

// Program is a graph ready to run. It may be run concurrently.
type Program struct {
	graph  *onnx.Graph
	opset  int64
	order  []int
	consts map[string]*Tensor
	last   map[string]int // position in order after which a value is not used
}

// DefaultLimit bounds the elements of any value of a run.
const DefaultLimit = 1 << 29

// New prepares the main graph of a file. It is an error if an operator is not
// known, if two values have one name, or if nodes depend on each other in a
// circle or on values that nothing makes.
func New(f *onnx.File) (*Program, error) {
	if err := CheckOpset(f); err != nil {
		return nil, fmt.Errorf("eval: %q: %w", f.Name, err)
	}
	p, err := newProgram(f.Graph, f.Opset(""), nil)
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return p, nil
}

// MinOpset is the oldest operator set of ai.onnx whose operators are known:
// before it, Softmax and others meant something else.
const MinOpset = 13

// CheckOpset reports an operator set that is older than MinOpset or missing.
func CheckOpset(f *onnx.File) error {
	if v := f.Opset(""); v < MinOpset {
		return fmt.Errorf("operator set %d of ai.onnx, want %d or later", v, MinOpset)
	}
	return nil
}

func newProgram(g *onnx.Graph, opset int64, outer scope) (*Program, error) {
	p := &Program{graph: g, opset: opset, consts: make(map[string]*Tensor), last: make(map[string]int)}
	for i := range g.Nodes {
		if !Knows(&g.Nodes[i]) {
			return nil, fmt.Errorf("%s: unknown operator", Position(g, i))
		}
	}
	for i := range g.Initializers {
		t, err := FromFile(&g.Initializers[i])
		if err != nil {
			return nil, err
		}
		p.consts[g.Initializers[i].Name] = t
	}
	order, err := Order(g, func(name string) bool { return outer != nil && outer.lookup(name) != nil })
	if err != nil {
		return nil, err
	}
	p.order = order
	for pos, i := range order {
		Uses(&g.Nodes[i], func(name string) { p.last[name] = pos })
	}
	for i := range g.Outputs {
		p.last[g.Outputs[i].Name] = math.MaxInt
	}
	return p, nil
}

// Uses calls fn with every value that a node or its subgraphs read, those that
// the subgraphs make themselves included.
func Uses(n *onnx.Node, fn func(string)) {
	for _, in := range n.Inputs {
		fn(in)
	}
	for i := range n.Attributes {
		for _, g := range append(n.Attributes[i].Graphs(), n.Attributes[i].Graph()) {
			if g == nil {
				continue
			}
			for j := range g.Nodes {
				Uses(&g.Nodes[j], fn)
			}
			for j := range g.Outputs {
				fn(g.Outputs[j].Name)
			}
		}
	}
}

// Position names a node for people: its operator, name and place in the graph.
func Position(g *onnx.Graph, i int) string {
	n := &g.Nodes[i]
	op := n.OpType
	if n.Domain != "" {
		op = n.Domain + "." + op
	}
	return fmt.Sprintf("node %d of %d, %s %q", i, len(g.Nodes), op, n.Name)
}

// Order sorts the nodes of a graph topologically, keeping the file's order
// where it has a choice. outside reports the values that come from around the
// graph; nil for none.
func Order(g *onnx.Graph, outside func(string) bool) ([]int, error) {
	made := make(map[string]int) // by node, −1 for inputs and initialisers
	for i := range g.Inputs {
		made[g.Inputs[i].Name] = -1
	}
	for i := range g.Initializers {
		made[g.Initializers[i].Name] = -1
	}
	for i := range g.Nodes {
		for _, out := range g.Nodes[i].Outputs {
			if out == "" {
				continue
			}
			if _, twice := made[out]; twice {
				return nil, fmt.Errorf("%s: value %q is made twice", Position(g, i), out)
			}
			made[out] = i
		}
	}
	d := simple.NewDirectedGraph()
	for i := range g.Nodes {
		d.AddNode(simple.Node(i))
	}
	for i := range g.Nodes {
		var missing string
		Uses(&g.Nodes[i], func(name string) {
			from, ok := made[name]
			switch {
			case name == "" || ok && from < 0 || outside != nil && outside(name):
			case !ok:
				if subgraphs(&g.Nodes[i]) == 0 {
					missing = name
				}
			case from == i:
				missing = name
			default:
				d.SetEdge(simple.Edge{F: simple.Node(from), T: simple.Node(i)})
			}
		})
		if missing != "" {
			return nil, fmt.Errorf("%s: nothing makes its input %q before it", Position(g, i), missing)
		}
	}
	if order, ok := inOrder(g, d); ok {
		return order, nil
	}
	sorted, err := topo.SortStabilized(d, nil)
	if err != nil {
		return nil, fmt.Errorf("nodes depend on each other in a circle: %v", err)
	}
	order := make([]int, len(sorted))
	for i, n := range sorted {
		order[i] = int(n.ID())
	}
	return order, nil
}

// inOrder is the usual case: the file keeps ONNX's rule.
func inOrder(g *onnx.Graph, d *simple.DirectedGraph) ([]int, bool) {
	order := make([]int, len(g.Nodes))
	for i := range order {
		order[i] = i
		for to := d.From(int64(i)); to.Next(); {
			if to.Node().ID() < int64(i) {
				return nil, false
			}
		}
	}
	return order, true
}

func subgraphs(n *onnx.Node) int {
	count := 0
	for i := range n.Attributes {
		if n.Attributes[i].Graph() != nil {
			count++
		}
		count += len(n.Attributes[i].Graphs())
	}
	return count
}

// run is one execution.
type run struct {
	p      *Program
	values map[string]*Tensor
	outer  scope
}

func (r *run) lookup(name string) *Tensor {
	if t := r.values[name]; t != nil {
		return t
	}
	if t := r.p.consts[name]; t != nil {
		return t
	}
	if r.outer != nil {
		return r.outer.lookup(name)
	}
	return nil
}

// Run executes the graph on inputs by name and returns the outputs wanted, by
// name; no names mean the graph's own outputs. Inner values can be wanted too.
func (p *Program) Run(inputs map[string]*Tensor, want ...string) (map[string]*Tensor, error) {
	if len(want) == 0 {
		for i := range p.graph.Outputs {
			want = append(want, p.graph.Outputs[i].Name)
		}
	}
	out, err := p.run(inputs, want, nil)
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return out, nil
}

func (p *Program) run(inputs map[string]*Tensor, want []string, outer scope) (map[string]*Tensor, error) {
	r := &run{p: p, values: make(map[string]*Tensor), outer: outer}
	for name, t := range inputs {
		r.values[name] = t
	}
	for i := range p.graph.Inputs {
		if name := p.graph.Inputs[i].Name; r.lookup(name) == nil {
			return nil, fmt.Errorf("input %q is not given", name)
		}
	}
	for pos, i := range p.order {
		n := &p.graph.Nodes[i]
		if err := r.step(n); err != nil {
			return nil, fmt.Errorf("%s: %w", Position(p.graph, i), err)
		}
		Uses(n, func(name string) {
			if p.last[name] == pos && !slices.Contains(want, name) {
				delete(r.values, name)
			}
		})
	}
	out := make(map[string]*Tensor, len(want))
	for _, name := range want {
		t := r.lookup(name)
		if t == nil {
			return nil, fmt.Errorf("output %q is not made", name)
		}
		out[name] = t
	}
	return out, nil
}

func (r *run) step(n *onnx.Node) error {
	in := make([]*Tensor, len(n.Inputs))
	for j, name := range n.Inputs {
		if name == "" {
			continue
		}
		if in[j] = r.lookup(name); in[j] == nil {
			return fmt.Errorf("its input %q is absent", name)
		}
	}
	out, err := apply(&call{node: n, in: in, opset: r.p.opset, limit: DefaultLimit, outer: r})
	if err != nil {
		return err
	}
	for j, name := range n.Outputs {
		if name == "" {
			continue
		}
		if j >= len(out) || out[j] == nil {
			return fmt.Errorf("its output %d is not made", j)
		}
		r.values[name] = out[j]
	}
	return nil
}
