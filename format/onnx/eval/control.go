package eval

func ifOp(c *call) []*Tensor {
	cond := c.ints(0)
	if len(cond) != 1 {
		c.fail("a condition of %d elements", len(cond))
	}
	name := "else_branch"
	if cond[0] != 0 {
		name = "then_branch"
	}
	a := c.node.Attribute(name)
	if a == nil || a.Graph() == nil {
		c.fail("no %s", name)
	}
	g := a.Graph()
	p, err := newProgram(g, c.opset, c.outer)
	c.must(err)
	want := make([]string, len(g.Outputs))
	for i := range g.Outputs {
		want[i] = g.Outputs[i].Name
	}
	values, err := p.run(nil, want, c.outer)
	c.must(err)
	out := make([]*Tensor, len(want))
	for i, w := range want {
		out[i] = values[w]
	}
	return out
}
