package recognize

import (
	"slices"

	"memsizer/format"
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
