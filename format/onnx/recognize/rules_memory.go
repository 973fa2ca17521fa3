package recognize

import (
	"math"
	"strings"
)

// scaleByTime multiplies the memory of each position, or what was read from
// it, with a constant (t+1)^-½.
func (r *rule) scaleByTime(c, v *value) []*value {
	shape := c.constant.Shape
	x, err := c.constant.Values()
	if err != nil || x == nil || len(shape) > len(v.layout) {
		return nil
	}
	n := 0
	for i, d := range shape {
		if d == 1 {
			continue
		}
		s, ok := v.layout[len(v.layout)-len(shape)+i].whole()
		if !ok || s.kind != timeAxis || n != 0 || s.size != d {
			return nil
		}
		n = d
	}
	for t := range n {
		if !near(float64(x[t]), 1/math.Sqrt(float64(t+1))) {
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	return r.scaleMemory(v, func(m *memory) bool { return m.causal })
}

// scaleMemory marks a memory, or what was read from one, as scaled.
func (r *rule) scaleMemory(v *value, may func(*memory) bool) []*value {
	if v.scale != 1 {
		return nil
	}
	switch m := v.meaning.(type) {
	case *memory:
		if !m.scaled && may(m) {
			s := *m
			s.scaled, s.at = true, r.at
			return r.make(&s, v.layout)
		}
	case *read:
		if !m.memory.scaled && may(m.memory) {
			s, t := *m, *m.memory
			t.scaled = true
			s.memory, s.at = &t, r.at
			return r.make(&s, v.layout)
		}
	}
	return nil
}

// mulLength multiplies a memory with the sequence length's ^-½.
func (r *rule) mulLength(v, by *value, sign float64) []*value {
	l, ok := by.meaning.(*length)
	if !ok || l.power*sign != -0.5 || by.scale != 1 || !v.layout.covers(by.layout) {
		return nil
	}
	return r.scaleMemory(v, func(m *memory) bool {
		if l.counter != nil {
			return m.state != nil && l.plus == 1
		}
		return !m.causal && m.state == nil && m.given == nil
	})
}

// addState adds the memory of former steps.
func (r *rule) addState(a, b *value) []*value {
	e, ok1 := a.meaning.(*external)
	o, ok2 := b.meaning.(*outer)
	if !ok1 || !ok2 || a.scale != 1 || b.scale != 1 || !a.layout.like(b.layout) {
		return nil
	}
	for _, d := range b.layout {
		if s, ok := d.whole(); ok && s.kind == timeAxis {
			return nil
		}
	}
	return r.make(&memory{keys: o.keys, values: o.values, state: e, at: r.at}, b.layout)
}

// sumPast is a product of outer products with a constant matrix [T,T] that
// sums over the past, scaled by (t+1)^-½ or not.
func (r *rule) sumPast(p product) []*value {
	o, ok := p.a.meaning.(*outer)
	shape := p.b.constant.Shape
	if !ok || len(shape) != 2 || p.a.scale != 1 || !p.b.constant.DType.IsFloat() {
		return nil
	}
	n := shape[0]
	s, t := rune(p.bs[0]), rune(p.bs[1])
	from, to := 1, n
	if strings.ContainsRune(p.outs, s) {
		s, t, from, to = t, s, n, 1
	}
	time, whole := p.dimA(s).whole()
	if strings.ContainsRune(p.outs, s) || !strings.ContainsRune(p.outs, t) || !whole || time.kind != timeAxis || shape[1] != n || time.size != n || len(p.summed()) != 1 {
		return nil
	}
	// element (t, s) of the matrix is at t·from + s·to.
	x, err := p.b.constant.Values()
	if err != nil {
		return nil
	}
	m := &memory{keys: o.keys, values: o.values, pads: o.pads, causal: true, scaled: x[(n-1)*from] != 1, at: r.at}
	for i := range n {
		for j := range n {
			want := 0.0
			if j <= i {
				want = 1
				if m.scaled {
					want = 1 / math.Sqrt(float64(i+1))
				}
			}
			if got := float64(x[i*from+j*to]); got != want && !near(got, want) {
				r.hint = "a sum over each position's past, scaled by its length^-½"
				return nil
			}
		}
	}
	l := layout{}
	for _, c := range p.outs {
		if c == t {
			l = append(l, time.dimension())
		} else {
			l = append(l, p.dimA(c))
		}
	}
	return r.make(m, l)
}

// normed returns a normalised key or value, and the stream whose pads it has
// zeros at.
func normed(m meaning) (n *norm, pads *stream) {
	if k, ok := m.(*masked); ok {
		m, pads = k.x, k.padding
	}
	n, ok := m.(*norm)
	if !ok || n.stage != normDone {
		return nil, nil
	}
	if _, ok := n.x.(*linear); !ok {
		return nil, nil
	}
	return n, pads
}

// remember makes outer products of keys and values, or a memory if they are
// summed over a sequence.
func (r *rule) remember(p product) []*value {
	k, padsK := normed(p.a.meaning)
	v, padsV := normed(p.b.meaning)
	if k == nil || v == nil || p.a.scale != 1 || p.b.scale != 1 || k == v {
		return nil
	}
	if p.a.layout.find(k.dim) < 0 || p.b.layout.find(v.dim) < 0 {
		return nil
	}
	pads := padsK
	if pads == nil {
		pads = padsV
	}
	l := p.layout()
	if l.find(k.dim) < 0 || l.find(v.dim) < 0 {
		return nil
	}
	switch sum := p.summed(); len(sum) {
	case 0:
		return r.make(&outer{keys: k, values: v, pads: pads, at: r.at}, l)
	case 1:
		s, ok1 := p.dimA(sum[0]).whole()
		t, ok2 := p.dimB(sum[0]).whole()
		if ok1 && ok2 && s == t && s.kind == timeAxis {
			return r.make(&memory{keys: k, values: v, pads: pads, length: s.size, at: r.at}, l)
		}
	}
	return nil
}

// outerProduct is remember by broadcasting: [.., K, 1] × [.., 1, D].
func (r *rule) outerProduct(a, b *value) []*value {
	if len(a.layout) != len(b.layout) || len(a.layout) > 40 {
		return nil
	}
	all := letters[:len(a.layout)]
	p := product{a, b, all, all, all}
	if !p.aligned() {
		return nil
	}
	return r.remember(p)
}

// readMemory reads a memory with slot weights.
func (r *rule) readMemory(p product) []*value {
	s, ok := p.a.meaning.(*slots)
	if !ok || !s.mean && s.heads != 1 || p.a.scale*p.b.scale != 1 && !near(p.a.scale*p.b.scale, 1) {
		return nil
	}
	sum := p.summed()
	if len(sum) != 1 {
		return nil
	}
	a, ok := p.dimA(sum[0]).only()
	k, whole := p.dimB(sum[0]).whole()
	if !ok || !whole || a.symbol != s.query.out || a.stride != 1 || a.size != s.size || k.size != s.size {
		return nil
	}
	var m memory
	switch b := p.b.meaning.(type) {
	case *memory:
		m = *b
		if k == m.values.dim && k != m.keys.dim {
			m.keys, m.values = m.values, m.keys
		}
		if k != m.keys.dim || p.b.layout.find(m.values.dim) < 0 || p.layout().find(m.values.dim) < 0 {
			return nil
		}
	case *external:
		m = memory{given: b, scaled: true}
	default:
		return nil
	}
	m.at = r.at
	for j, c := range p.bs { // each position reads its own memory
		t, ok := p.b.layout[j].whole()
		if u, same := p.dimA(c).whole(); ok && t.kind == timeAxis && (!same || u != t) {
			return nil
		}
	}
	return r.make(&read{slots: s, memory: &m, at: r.at}, p.layout())
}
