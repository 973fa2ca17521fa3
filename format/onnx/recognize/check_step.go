package recognize

import (
	"fmt"

	"memsizer/format"
	"memsizer/format/onnx/eval"
)

// states maps the outputs of a decoder's step to the inputs that they become
// in the next one.
func (g *graph) states() map[string]*external {
	list := make(map[string]*external)
	for i := range g.file.Graph.Outputs {
		name := g.file.Graph.Outputs[i].Name
		v := g.values[name]
		if v == nil || v.constant != nil || v.scale != 1 {
			continue
		}
		switch m := v.meaning.(type) {
		case *memory:
			if m.state != nil && !m.scaled {
				list[name] = m.state
			}
		case *length:
			if m.counter != nil && m.plus == 1 && m.power == 1 {
				list[name] = m.counter
			}
		case *cached:
			list[name] = m.past
		}
	}
	return list
}

// fillExternals gives the inputs that are not given yet their values at a
// step: what counts tokens their number, an order of sentences the identity,
// states zeros.
func (g *graph) fillExternals(inputs map[string]*eval.Tensor, step int) error {
	free := g.file.Graph.FreeInputs()
	for i := range free {
		v := &free[i]
		if inputs[v.Name] != nil {
			continue
		}
		shape := make([]int, len(v.Dims))
		for j, d := range v.Dims {
			switch {
			case d.Size > 0 && d.Size < 1<<24:
				shape[j] = int(d.Size)
			case j == 0:
				shape[j] = g.batch.size
			case len(v.Dims) > 2: // steps so far
				shape[j] = step
			default:
				shape[j] = 1
			}
		}
		t := &eval.Tensor{DType: v.DType, Shape: shape}
		n := t.Elements()
		if n > foldLimit {
			return fmt.Errorf("input %q of shape %d", v.Name, shape)
		}
		fill := float64(step)
		if len(shape) > 2 {
			fill = 0
		}
		if g.isRow(v.Name) {
			fill += format.Pad + 1
		}
		for k := range n {
			if v.DType.IsFloat() {
				t.Floats = append(t.Floats, float32(fill))
			} else if g.isOrder(v.Name) {
				t.Ints = append(t.Ints, int64(k))
			} else {
				t.Ints = append(t.Ints, int64(fill))
			}
		}
		inputs[v.Name] = t
	}
	return nil
}

// isRow reports whether an input is looked up in a table as it is.
func (g *graph) isRow(name string) bool {
	for i := range g.file.Graph.Nodes {
		n := &g.file.Graph.Nodes[i]
		if n.OpType == "Gather" && len(n.Inputs) == 2 && n.Inputs[1] == name {
			v := g.values[n.Inputs[0]]
			return v != nil && v.constant != nil
		}
	}
	return false
}

// isOrder reports whether an input reorders states.
func (g *graph) isOrder(name string) bool {
	for i := range g.file.Graph.Nodes {
		n := &g.file.Graph.Nodes[i]
		if n.OpType == "Gather" && len(n.Inputs) == 2 && n.Inputs[1] == name {
			v := g.values[n.Inputs[0]]
			return v != nil && v.constant == nil
		}
	}
	return false
}

// runSteps executes a decoder's step from the first token on.
func (m *Model) runSteps(p *eval.Program, in checkInput, fixed map[string]*eval.Tensor) ([][][]float32, error) {
	f := m.found
	g := f.graphs[len(f.graphs)-1]
	states := g.states()
	target := f.decoder.start.stream()
	free := g.file.Graph.FreeInputs()
	want := []string{f.scores}
	for name := range states {
		want = append(want, name)
	}
	carried := make(map[string]*eval.Tensor)
	rows := make([][][]float32, len(in.target))
	for step := range in.tgtLen {
		inputs := make(map[string]*eval.Tensor)
		for name, t := range fixed {
			inputs[name] = t
		}
		for name, t := range carried {
			inputs[name] = t
		}
		part := make([][]int32, len(in.target))
		for b, s := range in.target {
			part[b] = s[:step+1]
			if target.length == 1 {
				part[b] = s[step : step+1]
			}
		}
		v := &free[target.input]
		inputs[v.Name] = as(batch(part, len(part[0]), false), v)
		if err := g.fillExternals(inputs, step); err != nil {
			return nil, err
		}
		out, err := p.Run(inputs, want...)
		if err != nil {
			return nil, err
		}
		for b := range part {
			row, err := logitsAt(out[f.scores], g.values[f.scores].layout, b, 0)
			if err != nil {
				return nil, err
			}
			rows[b] = append(rows[b], row)
		}
		for name, e := range states {
			carried[e.name] = out[name]
		}
	}
	return rows, nil
}
