package recognize

import (
	"math"
	"slices"
)

// band is true at the tokens with ids from lo up to, but not, hi.
type band struct {
	*stream
	lo, hi int
}

// bandIndex is where a band is true.
type bandIndex struct{ *band }

// bandTokens are the ids of a band's tokens, less shift.
type bandTokens struct {
	*band
	shift float64
}

// bandRows are the rows of a band's table at its tokens.
type bandRows struct {
	*band
	table weight
	at    place
}

func (b *band) String() string       { return "a band of the vocabulary" }
func (b *bandIndex) String() string  { return "the places of a band of the vocabulary" }
func (b *bandTokens) String() string { return "the tokens of a band of the vocabulary" }
func (b *bandRows) String() string   { return "embeddings of a band of the vocabulary" }

// compareTokens compares tokens with a constant.
func compareTokens(r *rule) []*value {
	t, ok := r.in[0].meaning.(*tokens)
	c, isScalar := r.in[1].scalar()
	if !ok || !isScalar || r.in[0].constant != nil || c != math.Trunc(c) || c < 0 || c > math.MaxInt32 {
		return nil
	}
	b := &band{t.stream, 0, math.MaxInt32}
	switch r.node.OpType {
	case "Less":
		b.hi = int(c)
	case "LessOrEqual":
		b.hi = int(c) + 1
	case "GreaterOrEqual":
		b.lo = int(c)
	case "Greater":
		b.lo = int(c) + 1
	}
	return r.make(b, r.in[0].layout)
}

// intersect is where two bands are true.
func (r *rule) intersect() []*value {
	a, ok1 := r.in[0].meaning.(*band)
	b, ok2 := r.in[1].meaning.(*band)
	if !ok1 || !ok2 || a.stream != b.stream || !r.in[0].layout.like(r.in[1].layout) {
		return nil
	}
	return r.make(&band{a.stream, max(a.lo, b.lo), min(a.hi, b.hi)}, r.in[0].layout)
}

// bandSize is how many tokens are taken to be in a band.
const bandSize = 2

// tokensOf is the axis of a band's tokens.
func (g *graph) tokensOf(b *band) *symbol {
	s := g.bands[*b]
	if s == nil {
		s = &symbol{kind: pickAxis, size: bandSize}
		g.bands[*b] = s
	}
	return s
}

// nonZero finds the places of a band, [rank, N].
func nonZero(r *rule) []*value {
	b, ok := r.in[0].meaning.(*band)
	l := r.in[0].layout
	if !ok || len(l) < 2 {
		return nil
	}
	n := r.graph.tokensOf(b).dimension()
	for i, d := range l {
		switch {
		case i == 0 && len(d) == 1 && d[0].kind == batchAxis, i == 1 && len(d) == 1 && d[0].symbol == b.time:
		case i > 1 && len(d) == 1 && d[0].kind == repeatAxis:
			n = append(slices.Clip(n), d[0])
		default:
			return nil
		}
	}
	rank := &symbol{kind: repeatAxis, size: len(l)}
	return r.make(&bandIndex{b}, layout{rank.dimension(), n})
}

// gatherND takes the tokens of a band.
func gatherND(r *rule) []*value {
	t, ok1 := r.in[0].meaning.(*tokens)
	i, ok2 := r.in[1].meaning.(*bandIndex)
	if !ok1 || !ok2 || r.in[0].constant != nil || t.stream != i.stream || r.node.Int("batch_dims", 0) != 0 {
		return nil
	}
	n, ok := r.in[1].layout[0].whole()
	if len(r.in[1].layout) != 2 || !ok || n.kind != pickAxis || r.in[1].layout[1].size() != 2 {
		return nil
	}
	return r.make(&bandTokens{i.band, 0}, layout{n.dimension()})
}

// bandLookup looks up rows of a band's table.
func (r *rule) bandLookup(table weight, ids *value, t *bandTokens) []*value {
	size := table.Shape[0]
	if t.hi == math.MaxInt32 {
		t.hi = t.lo + size // the last band may have no upper bound
	}
	if int(t.shift) != t.lo || t.hi-t.lo != size {
		r.hint = "a table of the band's size, looked up from its first word on"
		return nil
	}
	dim := &symbol{kind: featureAxis, size: table.Shape[1]}
	return r.make(&bandRows{t.band, table, r.at}, append(slices.Clone(ids.layout), dim.dimension()))
}

// scatterND puts the projected embeddings of a band among the others, or
// columns among an adaptive softmax's.
func scatterND(r *rule) []*value {
	i, ok := r.in[1].meaning.(*bandIndex)
	if !ok {
		return r.putColumns()
	}
	m, ok := r.in[2].meaning.(*linear)
	if !ok || m.bias != nil || r.in[2].scale != 1 {
		return nil
	}
	rows, ok := m.x.(*bandRows)
	if !ok || *rows.band != *i.band {
		return nil
	}
	var flat dim
	for _, d := range r.in[2].layout {
		flat = append(flat, d...)
	}
	n := r.graph.tokensOf(i.band)
	if len(flat) != 2 || flat[0] != n.whole() || flat[1] != m.out.whole() {
		return nil
	}
	e := &embedding{stream: i.stream, dim: &symbol{kind: featureAxis, size: m.out.size}, at: r.at}
	l := layout{r.graph.batch.dimension(), i.time.dimension(), e.dim.dimension()}
	if data := r.in[0]; data.constant == nil {
		former, ok := data.meaning.(*embedding)
		if !ok || former.bands == nil || former.dim.size != m.out.size || data.scale != 1 {
			return nil
		}
		e.bands = slices.Clone(former.bands)
	} else if !slices.Equal(data.constant.Shape, l.shape()) {
		return nil
	}
	e.bands = append(e.bands, m)
	return r.make(e, l)
}

// vocabulary checks that the bands of an adaptive embedding follow each other
// from the first word on, and returns where they end.
func (e *embedding) vocabulary() ([]int, error) {
	at := 0
	var ends []int
	for _, m := range e.bands {
		b := m.x.(*bandRows)
		if b.lo != at {
			return nil, b.at.error("a band of the vocabulary from %d on; expected one from %d on", b.lo, at)
		}
		at = b.hi
		ends = append(ends, at)
	}
	return ends, nil
}
