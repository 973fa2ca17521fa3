package recognize

import (
	"slices"
)

// joined are matrix products of one value, side by side.
type joined struct {
	parts  []*linear
	filled int // outputs that have a part
	out    *symbol
	logs   bool // their logarithm of softmax
	at     place
}

// columns are the log-probabilities of an adaptive softmax while they are put
// together: the head first, then the tails in its place and behind it.
type columns struct {
	head  *joined
	tails []tail
	out   *symbol
	at    place
}

// tail are the columns of a tail: its own log-probabilities and the head's of
// its class.
type tail struct {
	lo, hi int
	layer  *linear
	class  int
}

// columnsCut are some of the columns.
type columnsCut struct {
	*columns
	start int
}

// joinedCut are some of the outputs of matrix products side by side.
type joinedCut struct{ *joined }

// classPrior is one column of the head.
type classPrior struct {
	head  *joined
	class int
}

// tailLogs are a tail's log-probabilities plus the head's of its class.
type tailLogs struct {
	layer *linear
	prior *classPrior
}

func (j *joined) String() string     { return "the head of an adaptive softmax" }
func (c *columns) String() string    { return "columns of an adaptive softmax" }
func (c *columnsCut) String() string { return "some columns of an adaptive softmax" }
func (j *joinedCut) String() string  { return "a part of the head of an adaptive softmax" }
func (c *classPrior) String() string { return "the log-probability of a class of words" }
func (t *tailLogs) String() string   { return "the log-probabilities of a tail" }

// concatLinear joins matrix products of one value over their outputs.
func (r *rule) concatLinear() []*value {
	first := r.in[0]
	a := int(r.node.Int("axis", 0))
	if a < 0 {
		a += len(first.layout)
	}
	if a != len(first.layout)-1 {
		return nil
	}
	j := &joined{out: &symbol{kind: featureAxis}, at: r.at}
	for _, v := range r.in {
		m, ok := v.meaning.(*linear)
		if !ok || v.constant != nil || v.scale != 1 || m.bias != nil || len(v.layout) != len(first.layout) ||
			!v.layout[:a].like(first.layout[:a]) || v.layout.find(m.out) != a || len(j.parts) > 0 && m.x != j.parts[0].x {
			return nil
		}
		j.parts = append(j.parts, m)
		j.out.size += m.out.size
	}
	j.filled = j.out.size
	l := slices.Clone(first.layout)
	l[a] = j.out.dimension()
	return r.make(j, l)
}

// headOf takes log-probabilities for an adaptive softmax's head.
func headOf(v *value) (*joined, bool) {
	switch m := v.meaning.(type) {
	case *joined:
		return m, m.logs && v.scale == 1 && m.filled == m.out.size
	case *logProbabilities:
		return &joined{parts: []*linear{m.linear}, filled: m.out.size, out: m.out, logs: true, at: m.at}, m.bias == nil && v.scale == 1
	}
	return nil, false
}

// putColumns puts the head or a tail into columns.
func (r *rule) putColumns() []*value {
	data, update := r.in[0], r.in[2]
	if update.constant != nil || len(update.layout) != 2 {
		return nil
	}
	lo, hi, rows, ok := r.in[1].block()
	s, whole := update.layout[1].whole()
	if !ok || !whole || rows != update.layout[0].size() || hi-lo != s.size {
		return nil
	}
	if m, ok := update.meaning.(*linear); ok {
		return r.putLinear(m, lo, hi)
	}
	if data.constant != nil {
		h, ok := headOf(update)
		shape := data.constant.Shape
		if !ok || lo != 0 || s != h.out || len(shape) != 2 || shape[0] != rows || shape[1] < hi {
			return nil
		}
		c := &columns{head: h, out: &symbol{kind: featureAxis, size: shape[1]}, at: r.at}
		return r.make(c, layout{update.layout[0], c.out.dimension()})
	}
	c, ok := data.meaning.(*columns)
	t, ok2 := update.meaning.(*tailLogs)
	if !ok || !ok2 || update.scale != 1 || s != t.layer.out || !update.layout[0].like(data.layout[0]) || t.prior.head != c.head {
		return nil
	}
	d := *c
	d.at = r.at
	d.tails = append(slices.Clone(c.tails), tail{lo, hi, t.layer, t.prior.class})
	return r.make(&d, data.layout)
}

// putLinear puts a matrix product beside others of the same value.
func (r *rule) putLinear(m *linear, lo, hi int) []*value {
	data, update := r.in[0], r.in[2]
	j := &joined{at: r.at}
	if data.constant != nil {
		shape := data.constant.Shape
		if len(shape) != 2 || shape[0] != update.layout[0].size() || shape[1] < hi {
			return nil
		}
		j.out = &symbol{kind: featureAxis, size: shape[1]}
	} else if former, ok := data.meaning.(*joined); ok && !former.logs && former.parts[0].x == m.x && data.scale == 1 {
		*j = *former
		j.parts = slices.Clone(former.parts)
	} else {
		return nil
	}
	if lo != j.filled || hi > j.out.size || m.bias != nil || update.scale != 1 {
		return nil
	}
	j.parts, j.filled = append(j.parts, m), hi
	return r.make(j, layout{update.layout[0], j.out.dimension()})
}

// block reads constant indices [rows, n, 2] of the columns lo … hi−1 of every
// row.
func (v *value) block() (lo, hi, rows int, ok bool) {
	if v.constant == nil || len(v.constant.Shape) != 3 || v.constant.Shape[2] != 2 || !v.constant.DType.IsInteger() || v.constant.Elements() == 0 {
		return 0, 0, 0, false
	}
	rows, n := v.constant.Shape[0], v.constant.Shape[1]
	lo = int(v.constant.Ints[1])
	for i := range rows * n {
		if v.constant.Ints[2*i] != int64(i/n) || v.constant.Ints[2*i+1] != int64(lo+i%n) {
			return 0, 0, 0, false
		}
	}
	return lo, lo + n, rows, lo >= 0
}

// cutColumns takes columns out: for their shape, or the head's classes.
func (r *rule) cutColumns(v *value, m *columns, d, start, n int) *value {
	if d != len(v.layout)-1 {
		return nil
	}
	l := slices.Clone(v.layout)
	s := &symbol{kind: featureAxis, size: n}
	l[d] = s.dimension()
	return r.make(&columnsCut{m, start}, l)[0]
}

// prior takes one class of the head.
func (r *rule) prior(v *value, m *columnsCut, d, i int) *value {
	at := m.start + i
	if d != len(v.layout)-1 || len(m.tails) > 0 || at >= m.head.out.size {
		return nil
	}
	l := slices.Clone(v.layout)
	l[d] = nil
	return r.make(&classPrior{m.head, at}, l)[0]
}

// addPrior adds a class's log-probability to its tail's.
func (r *rule) addPrior(a, b *value) []*value {
	t, ok1 := a.meaning.(*logProbabilities)
	p, ok2 := b.meaning.(*classPrior)
	if !ok1 || !ok2 || a.scale != 1 || b.scale != 1 || t.bias != nil || !a.layout.covers(b.layout) {
		return nil
	}
	return r.make(&tailLogs{t.linear, p}, a.layout)
}

// adaptiveOutput is an adaptive softmax taken apart.
type adaptiveOutput struct {
	x         meaning // what it reads
	head      weight  // [words of the head, D]
	class     weight  // [tails, D]
	tails     []adaptiveTail
	vocab     int
	headWidth int
	at        place
}

type adaptiveTail struct {
	projection, table weight // [dim, D], [size, dim]
}

// adaptive takes columns apart once they are complete.
func (c *columns) adaptive() (*adaptiveOutput, error) {
	if len(c.tails) == 0 {
		return nil, c.at.error("an adaptive softmax without tails")
	}
	first := c.tails[0].lo
	o := &adaptiveOutput{x: c.head.parts[0].x, vocab: c.out.size, at: c.at}
	if c.head.out.size != first+len(c.tails) {
		return nil, c.head.at.error("a head of %d words and classes; expected %d words and %d classes", c.head.out.size, first, len(c.tails))
	}
	switch p := c.head.parts; {
	case len(p) == 1:
		o.head, o.class = p[0].weight.rows(0, first), p[0].weight.rows(first, len(c.tails))
	case len(p) == 2 && p[0].out.size == first:
		o.head, o.class = p[0].weight, p[1].weight
	default:
		return nil, c.head.at.error("a head of %d parts; expected its words and its classes", len(p))
	}
	o.headWidth = o.head.Shape[1]
	at := first
	for i, t := range c.tails {
		inner, ok := t.layer.x.(*linear)
		switch {
		case t.lo != at || t.class != first+i:
			return nil, t.layer.at.error("a tail of the words from %d on, of class %d; expected words from %d on, of class %d", t.lo, t.class, at, first+i)
		case !ok || inner.bias != nil || inner.x != o.x:
			return nil, t.layer.at.error("a tail that is not two matrix products of what the head reads")
		}
		o.tails = append(o.tails, adaptiveTail{inner.weight, t.layer.weight})
		at = t.hi
	}
	if at != o.vocab {
		return nil, c.at.error("the tails end at word %d of %d", at, o.vocab)
	}
	return o, nil
}
