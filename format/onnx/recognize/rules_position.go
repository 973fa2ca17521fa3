package recognize

import (
	"math"
	"memsizer/format/onnx/eval"
	"slices"
)

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
