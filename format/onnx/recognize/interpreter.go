package recognize

import (
	"fmt"
	"slices"
	"strings"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

// foldLimit bounds the elements of a constant that is computed, not read.
const foldLimit = 1 << 22

// graph is one file's graph while it is understood.
type graph struct {
	file   *onnx.File
	opset  int64
	order  []int
	live   map[int]bool // nodes that the outputs depend on
	values map[string]*value
	starts map[startKey]*base
	bands  map[band]*symbol

	streams []*stream
	batch   *symbol
	// sourceLength is that of the encoder's output, if it is an input.
	sourceLength int
	depth        int // nodes understood before the first that was not
}

// newGraph sorts a file's graph.
func newGraph(f *onnx.File) (*graph, error) {
	if f.Functions > 0 {
		return nil, fmt.Errorf("recognize: %q: the model defines operators of its own (%d), which are not read", f.Name, f.Functions)
	}
	if f.Graph.SparseInitializers > 0 {
		return nil, fmt.Errorf("recognize: %q: the model has sparse initialisers, which are not read", f.Name)
	}
	if err := eval.CheckOpset(f); err != nil {
		return nil, fmt.Errorf("recognize: %q: %w", f.Name, err)
	}
	order, err := eval.Order(f.Graph, nil)
	if err != nil {
		return nil, fmt.Errorf("recognize: %q: %w", f.Name, err)
	}
	g := &graph{file: f, opset: f.Opset(""), order: order, live: make(map[int]bool)}
	wanted := make(map[string]bool)
	for i := range f.Graph.Outputs {
		wanted[f.Graph.Outputs[i].Name] = true
	}
	for _, i := range slices.Backward(order) {
		n := &f.Graph.Nodes[i]
		for _, out := range n.Outputs {
			if out != "" && wanted[out] {
				g.live[i] = true
			}
		}
		if g.live[i] {
			eval.Uses(n, func(in string) { wanted[in] = true })
		}
	}
	return g, nil
}

// place returns node i, for messages.
func (g *graph) place(i int) place { return place{graph: g, node: i} }

func (p place) String() string {
	if p.node < 0 || p.graph == nil {
		return "the inputs"
	}
	s := eval.Position(p.graph.file.Graph, p.node)
	if p.inner != nil {
		s += fmt.Sprintf(", in its branch %s %q", p.inner.OpType, p.inner.Name)
	}
	return s
}

// interpret gives every value of the graph its meaning. Inputs must have been
// given theirs.
func (g *graph) interpret() error {
	for i := range g.file.Graph.Initializers {
		t := &g.file.Graph.Initializers[i]
		if !t.DType.IsFloat() && !t.DType.IsInteger() {
			continue
		}
		c, err := eval.FromFile(t)
		if err != nil {
			return err
		}
		if g.values[t.Name] == nil {
			g.values[t.Name] = &value{constant: c, scale: 1, node: g.place(-1)}
		}
	}
	g.depth = 0
	failed := false
	last := g.lastUses()
	for _, i := range g.order {
		if !g.live[i] {
			continue
		}
		if !g.store(&g.file.Graph.Nodes[i], g.step(&g.file.Graph.Nodes[i], g.place(i)), g.place(i)) {
			failed = true
		}
		if !failed {
			g.depth++
		}
		eval.Uses(&g.file.Graph.Nodes[i], func(name string) {
			if v := g.values[name]; last[name] == i && v != nil && v.constant != nil && v.constant.View() == nil && v.constant.Elements() > smallConstant {
				delete(g.values, name)
			}
		})
	}
	return nil
}

// smallConstant bounds the elements of computed constants that are kept.
const smallConstant = 1 << 12

// lastUses finds the last node in order that reads each value.
func (g *graph) lastUses() map[string]int {
	last := make(map[string]int)
	for _, i := range g.order {
		if g.live[i] {
			eval.Uses(&g.file.Graph.Nodes[i], func(name string) { last[name] = i })
		}
	}
	return last
}

// store keeps the outputs of a node; ok is false if one is not understood.
func (g *graph) store(n *onnx.Node, outs []*value, at place) (ok bool) {
	ok = true
	for j, name := range n.Outputs {
		if name == "" {
			continue
		}
		var v *value
		if j < len(outs) {
			v = outs[j]
		}
		if v == nil {
			v = &value{meaning: &opaque{at, fmt.Sprintf("its output %d is not understood", j)}}
		}
		if _, bad := v.meaning.(*opaque); bad {
			ok = false
		}
		g.values[name] = v
	}
	return ok
}

// branch follows the branch of an If whose condition is known.
func (r *rule) branch() []*value {
	cond, ok := r.in[0].ints()
	if !ok || len(cond) != 1 {
		return r.fail("a condition that does not depend on the inputs' contents")
	}
	name := "else_branch"
	if cond[0] != 0 {
		name = "then_branch"
	}
	a := r.node.Attribute(name)
	if a == nil || a.Graph() == nil {
		return r.fail("a branch " + name)
	}
	sub := a.Graph()
	for i := range sub.Initializers {
		c, err := eval.FromFile(&sub.Initializers[i])
		if err != nil {
			return r.fail("constants of a known type")
		}
		r.graph.values[sub.Initializers[i].Name] = &value{constant: c, scale: 1, node: r.at}
	}
	for i := range sub.Nodes {
		at := r.at
		at.inner = &sub.Nodes[i]
		r.graph.store(&sub.Nodes[i], r.graph.step(&sub.Nodes[i], at), at)
	}
	var out []*value
	for i := range sub.Outputs {
		out = append(out, r.graph.values[sub.Outputs[i].Name])
	}
	return out
}

// step gives the outputs of one node their meanings.
func (g *graph) step(n *onnx.Node, at place) []*value {
	r := &rule{graph: g, node: n, at: at}
	constant := true
	var bad *opaque
	for _, name := range n.Inputs {
		var v *value
		if name != "" {
			v = g.values[name]
			if v == nil {
				return r.fail("a known input")
			}
			if o, ok := v.meaning.(*opaque); ok && (bad == nil || o.at.node < bad.at.node) {
				bad = o
			}
			constant = constant && v.constant != nil
		}
		r.in = append(r.in, v)
	}
	if bad != nil {
		return r.pass(bad)
	}
	need := max(1, arity[n.OpType])
	if n.OpType == "Constant" {
		need = 0
	}
	for i := range need {
		if i >= len(r.in) || r.in[i] == nil {
			return r.fail(fmt.Sprintf("at least %d inputs", need))
		}
	}
	if n.OpType == "If" && n.Domain == "" && len(r.in) == 1 {
		return r.branch()
	}
	if n.OpType == "Shape" || n.OpType == "Size" {
		return r.shape()
	}
	if constant && eval.Knows(n) {
		return r.fold()
	}
	rule := rules[n.OpType]
	if n.Domain != "" || rule == nil {
		return r.fail(r.expected())
	}
	out := rule(r)
	if len(out) == 0 || out[0] == nil {
		return r.fail(r.expected())
	}
	return out
}

// rule is one node being understood.
type rule struct {
	graph *graph
	node  *onnx.Node
	in    []*value
	at    place
	hint  string // what was expected, when a rule knows better
}

// ruleFunc returns the outputs' meanings, nothing where it has none.
type ruleFunc func(*rule) []*value

func (r *rule) pass(o *opaque) []*value {
	out := make([]*value, len(r.node.Outputs))
	for i := range out {
		out[i] = &value{meaning: o}
	}
	return out
}

func (r *rule) fail(expected string) []*value {
	var on []string
	for _, v := range r.in {
		switch {
		case v == nil:
		case v.constant != nil:
			on = append(on, fmt.Sprintf("a constant %d", v.constant.Shape))
		default:
			on = append(on, fmt.Sprintf("%s %d", v.meaning, v.layout.shape()))
		}
	}
	why := "not understood"
	if len(on) > 0 {
		why += " on " + strings.Join(on, " and ")
	}
	return r.pass(&opaque{r.at, why + "; expected " + expected})
}

// fold computes a constant.
func (r *rule) fold() []*value {
	in := make([]*eval.Tensor, len(r.in))
	for i, v := range r.in {
		if v != nil {
			in[i] = v.constant
		}
	}
	out, err := eval.Apply(r.node, in, r.graph.opset, foldLimit)
	if err != nil {
		return r.fail("a constant that can be computed: " + err.Error())
	}
	values := make([]*value, len(out))
	for i, t := range out {
		if t != nil {
			values[i] = &value{constant: t, scale: 1, node: r.at}
		}
	}
	if len(values) == 0 || values[0] == nil {
		return values
	}
	switch r.node.OpType {
	case "Gather":
		r.constantRows(values[0])
	case "Identity", "Cast", "Slice", "Reshape", "Unsqueeze", "Squeeze", "Expand":
		if p, ok := r.in[0].meaning.(*placed); ok && (r.node.OpType == "Expand" || out[0].Elements() == in[0].Elements()) {
			values[0].meaning = p
		}
	}
	return values
}

func (r *rule) shape() []*value {
	v := r.in[0]
	shape := v.shape()
	in := &eval.Tensor{DType: onnx.Int64, Shape: shape} // only its shape is looked at
	out, err := eval.Apply(r.node, []*eval.Tensor{in}, r.graph.opset, foldLimit)
	if err != nil {
		return r.fail("a shape: " + err.Error())
	}
	return []*value{{constant: out[0], scale: 1, node: r.at}}
}

// make returns a value of a new meaning.
func (r *rule) make(m meaning, l layout) []*value {
	return []*value{{meaning: m, layout: l, scale: 1, node: r.at}}
}

// same returns a value with v's meaning in another layout.
func (r *rule) same(v *value, l layout) []*value {
	return []*value{{meaning: v.meaning, layout: l, scale: v.scale, node: r.at}}
}

// scaled returns v times a number.
func (r *rule) scaled(v *value, by float64) []*value {
	return []*value{{meaning: v.meaning, layout: v.layout, scale: v.scale * by, node: r.at}}
}

// scalar returns a constant of one element.
func (v *value) scalar() (float64, bool) {
	if v == nil || v.constant == nil || v.constant.Elements() != 1 {
		return 0, false
	}
	if !v.constant.DType.IsFloat() {
		return float64(v.constant.Ints[0]), true
	}
	x, err := v.constant.Values()
	if err != nil {
		return 0, false
	}
	return float64(x[0]), true
}

// ints returns a constant of integers.
func (v *value) ints() ([]int64, bool) {
	if v == nil || v.constant == nil || !v.constant.DType.IsInteger() {
		return nil, false
	}
	return v.constant.Ints, true
}

// vector returns a constant that runs over the last dimension only, of n
// elements.
func (v *value) vector(n int) (weight, bool) {
	if v == nil || v.constant == nil || !v.constant.DType.IsFloat() || v.constant.Elements() != n || len(v.constant.Shape) == 0 {
		return weight{}, false
	}
	if v.constant.Shape[len(v.constant.Shape)-1] != n {
		return weight{}, false
	}
	return weight{v.constant}.reshaped(n)
}

// matrix returns a constant matrix of floats.
func (v *value) matrix() (weight, bool) {
	if v == nil || v.constant == nil || !v.constant.DType.IsFloat() || len(v.constant.Shape) != 2 {
		return weight{}, false
	}
	return weight{v.constant}, true
}

// pair returns the constant and the other of two inputs, if just one is one.
func (r *rule) pair() (c, v *value, ok bool) {
	if len(r.in) != 2 || r.in[0] == nil || r.in[1] == nil {
		return nil, nil, false
	}
	a, b := r.in[0], r.in[1]
	switch {
	case a.constant != nil && b.constant == nil:
		return a, b, true
	case b.constant != nil && a.constant == nil:
		return b, a, true
	}
	return nil, nil, false
}
