package recognize

import (
	"math"
	"slices"

	"memsizer/format"
	"memsizer/format/onnx/eval"
)

// equal compares tokens with the pad.
func equal(r *rule) []*value {
	c, v, ok := r.pair()
	if !ok {
		return nil
	}
	t, isTokens := v.meaning.(*tokens)
	id, isScalar := c.scalar()
	if !isTokens || !isScalar {
		return nil
	}
	if id != format.Pad {
		r.hint = "a comparison with the pad, 1"
		return nil
	}
	return r.make(&padding{stream: t.stream}, v.layout)
}

func not(r *rule) []*value {
	switch m := r.in[0].meaning.(type) {
	case *padding:
		return r.flip(r.in[0], m)
	case *mask:
		f := *m
		f.flipped = !m.flipped
		return r.make(&f, r.in[0].layout)
	}
	return nil
}

func (r *rule) flip(v *value, m *padding) []*value {
	return r.make(&padding{m.stream, !m.flipped}, v.layout)
}

// cumSum counts tokens up to each position, or sums outer products.
func cumSum(r *rule) []*value {
	v := r.in[0]
	a, ok := r.in[1].scalar()
	if !ok || r.node.Int("reverse", 0) != 0 || r.node.Int("exclusive", 0) != 0 {
		return nil
	}
	if a < 0 {
		a += float64(len(v.layout))
	}
	if a < 0 || int(a) >= len(v.layout) {
		return nil
	}
	s, whole := v.layout[int(a)].whole()
	if !whole || s.kind != timeAxis || v.scale != 1 {
		return nil
	}
	switch m := v.meaning.(type) {
	case *padding:
		if m.flipped && s == m.time {
			return r.make(&running{stream: m.stream}, v.layout)
		}
	case *outer:
		return r.make(&memory{keys: m.keys, values: m.values, pads: m.pads, causal: true, at: r.at}, v.layout)
	}
	return nil
}

// reduceSum counts tokens, or sums a memory.
func reduceSum(r *rule) []*value {
	v := r.in[0]
	axes, ok := r.axes(1, len(v.layout))
	if !ok || len(axes) != 1 {
		return nil
	}
	l := r.reduced(v.layout, axes)
	s, whole := v.layout[axes[0]].whole()
	switch m := v.meaning.(type) {
	case *padding:
		if whole && s == m.time && v.scale == 1 {
			if m.flipped {
				return r.make(&length{stream: m.stream, power: 1}, l)
			}
			return r.make(&count{m.stream, true}, l)
		}
	case *outer:
		if whole && s.kind == timeAxis && v.scale == 1 {
			return r.make(&memory{keys: m.keys, values: m.values, pads: m.pads, length: s.size, at: r.at}, l)
		}
	case *slots:
		if h, ok := m.headsOf(v.layout[axes[0]]); ok && h {
			return []*value{{meaning: m.averaged(r.at), layout: l, scale: v.scale * float64(m.heads), node: r.at}}
		}
	}
	return nil
}

// reduced drops dimensions, or leaves one element in them.
func (r *rule) reduced(l layout, axes []int) layout {
	out := layout{}
	for i, d := range l {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case r.node.Int("keepdims", 1) != 0:
			out = append(out, nil)
		}
	}
	return out
}

// addNumber adds a constant number to a count.
func (r *rule) addNumber(v *value, c float64) []*value {
	if v.scale != 1 {
		return nil
	}
	switch m := v.meaning.(type) {
	case *running:
		return r.make(&positions{stream: m.stream, offset: 1 + c}, v.layout)
	case *positions:
		p := *m
		p.offset += c
		return r.make(&p, v.layout)
	case *length:
		if m.power == 1 && m.counter != nil {
			p := *m
			p.plus += c
			return r.make(&p, v.layout)
		}
	case *external:
		if len(v.layout.trimmed()) <= 2 {
			return r.make(&length{counter: m, plus: c, power: 1}, v.layout)
		}
	case *activated:
		return r.partPlus(v, m, c)
	case *bandTokens:
		t := *m
		t.shift -= c
		return r.make(&t, v.layout)
	case *norm:
		if m.stage == normVariance && m.eps == 0 && c > 0 {
			n := *m
			n.eps = c
			return r.make(&n, v.layout)
		}
	}
	return nil
}

// raise takes a power of a count of tokens.
func (r *rule) raise(v *value, power float64) []*value {
	if v.scale != 1 {
		return nil
	}
	switch m := v.meaning.(type) {
	case *length:
		p := *m
		p.power *= power
		return r.make(&p, v.layout)
	case *external:
		return r.make(&length{counter: m, power: power}, v.layout)
	}
	return nil
}

// rows looks up rows of a table at tokens or positions.
func (r *rule) rows(table weight, ids *value) []*value {
	dim := &symbol{kind: featureAxis, size: table.Shape[1]}
	l := append(slices.Clone(ids.layout), dim.dimension())
	switch m := ids.meaning.(type) {
	case *tokens:
		return r.make(&embedding{table: table, stream: m.stream, dim: dim, at: r.at}, l)
	case *bandTokens:
		return r.bandLookup(table, ids, m)
	case *positions:
		if m.offset != math.Trunc(m.offset) || m.offset < 0 || int(m.offset) >= table.Shape[0] {
			r.hint = "a position within the table"
			return nil
		}
		return r.make(&placed{table: table.Tensor, offset: int(m.offset), stream: m.stream, dim: dim, limit: table.Shape[0], at: r.at}, l)
	case *length: // of a step: the number of tokens before it
		if m.counter == nil || m.power != 1 {
			return nil
		}
		return r.make(&placed{table: table.Tensor, offset: int(m.plus), dim: dim, limit: table.Shape[0], at: r.at}, l)
	case *external: // of a step: the position's row itself
		return r.make(&placed{table: table.Tensor, offset: -1, dim: dim, limit: table.Shape[0], at: r.at}, l)
	}
	return nil
}

func (s *symbol) dimension() dim { return dim(nil).push(s.whole()) }

// constantRows remembers where rows of a table come from when they are looked
// up at positions that follow each other.
func (r *rule) constantRows(out *value) {
	table, ok := r.in[0].matrix()
	ids, ok2 := r.in[1].ints()
	if !ok || !ok2 || len(ids) == 0 || len(ids) >= table.Shape[0] || r.node.Int("axis", 0) != 0 {
		return
	}
	for i, id := range ids {
		if id != ids[0]+int64(i) {
			return
		}
	}
	first := ids[0]
	if first < 0 {
		first += int64(table.Shape[0])
	}
	out.meaning = &placed{table: table.Tensor, offset: int(first), limit: table.Shape[0], rows: len(ids), at: r.at}
}

// addPositions adds position embeddings to token embeddings.
func (r *rule) addPositions(a, b *value) []*value {
	if b.constant == nil {
		if _, ok := b.meaning.(*placed); !ok {
			a, b = b, a
		}
	}
	start, ok := a.start(r.at)
	if !ok {
		return nil
	}
	p, ok := b.meaning.(*placed)
	switch {
	case ok && b.constant == nil:
		if b.scale != 1 || !a.layout.covers(b.layout) {
			return nil
		}
	case b.constant != nil && b.constant.DType.IsFloat():
		if p = r.constantPositions(a, b, p); p == nil {
			return nil
		}
	default:
		return nil
	}
	start.placed = p
	return r.make(start, a.layout)
}

// start is a token embedding as the start of a stack, to which positions are
// to be added.
func (v *value) start(at place) (*base, bool) {
	switch m := v.meaning.(type) {
	case *embedding:
		return &base{embedding: m, scale: v.scale, at: at}, true
	case *linear:
		if b, ok := m.x.(*base); ok && b.placed == nil && b.project == nil && m.bias == nil && v.scale == 1 {
			return &base{embedding: b.embedding, scale: b.scale, project: m, at: at}, true
		}
	}
	return nil, false
}

// started takes a token embedding, scaled or not, for the start of a stack
// without positions: the same one wherever it is used.
func (r *rule) started(v *value) *value {
	m, ok := v.meaning.(*embedding)
	if !ok {
		return v
	}
	key := startKey{m, v.scale}
	b := r.graph.starts[key]
	if b == nil {
		b = &base{embedding: m, scale: v.scale, at: v.node}
		r.graph.starts[key] = b
	}
	return &value{meaning: b, layout: v.layout, scale: 1, node: v.node}
}

type startKey struct {
	embedding *embedding
	scale     float64
}

// constantPositions finds the rows of position embeddings that do not depend
// on the tokens: those of a tensor, or computed ones.
func (r *rule) constantPositions(a, b *value, p *placed) *placed {
	l := a.layout.trimmed()
	shape := b.constant.Shape
	for len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) == 0 || len(shape) > len(l) {
		return nil
	}
	feature, ok := l[len(l)-1].whole()
	if !ok || feature.kind != featureAxis || shape[len(shape)-1] != feature.size {
		return nil
	}
	length := 1
	for i, d := range shape[:len(shape)-1] {
		s, ok := l[len(l)-len(shape)+i].whole()
		switch {
		case d == 1:
		case ok && s.kind == timeAxis && s.size == d:
			length = d
		case ok && s.kind == batchAxis && s.size == d:
		default:
			return nil
		}
	}
	if p != nil {
		if p.rows != length {
			return nil
		}
		q := *p
		q.dim = feature
		if length == 1 { // the last of the sequence's positions
			q.offset -= a.last() - 1
		}
		return &q
	}
	if view := b.constant.View(); view != nil && len(view.Tensor().Dims) == 2 && view.Tensor().Dims[1] == int64(feature.size) {
		if first, ok := r.firstRow(b.constant); ok {
			table, err := eval.FromFile(view.Tensor())
			if err != nil {
				return nil
			}
			return &placed{table: table, offset: first - a.last() + length, dim: feature, limit: table.Shape[0], at: r.at}
		}
	}
	return r.computedPositions(a, b, feature, length)
}

// last is the length of the sequence whose last position v is of, or 1.
func (v *value) last() int {
	e, ok := v.meaning.(*embedding)
	if !ok || v.layout.find(e.stream.time) >= 0 {
		return v.lengthOf()
	}
	return e.stream.length
}

func (v *value) lengthOf() int {
	for _, d := range v.layout {
		if s, ok := d.whole(); ok && s.kind == timeAxis {
			return s.size
		}
	}
	return 1
}

// firstRow returns the row of a matrix in the file where a view of some of its
// rows begins.
func (r *rule) firstRow(t *eval.Tensor) (int, bool) {
	view := *t.View()
	whole := view.Tensor().View()
	rows, cols := whole.Dims()[0], whole.Dims()[1]
	flat, ok := view.Reshape([]int64{view.Elements() / cols, cols})
	if !ok {
		return 0, false
	}
	for i := int64(0); i+flat.Dims()[0] <= rows; i++ {
		if flat.Same(whole.Slice(0, i, 1, flat.Dims()[0])) {
			return int(i), true
		}
	}
	return 0, false
}

// computedPositions takes constants for sinusoids; the check of their values
// comes when the stack is put together.
func (r *rule) computedPositions(a, b *value, feature *symbol, length int) *placed {
	x, err := b.constant.Values()
	if err != nil || len(x) < length*feature.size {
		return nil
	}
	table := eval.Floats(x[len(x)-length*feature.size:], length, feature.size)
	for offset := range 4 {
		if isSinusoid(table, offset+a.last()-length) {
			return &placed{offset: offset, computed: true, dim: feature, at: r.at}
		}
	}
	r.hint = "position embeddings of a table or sinusoids"
	return nil
}
