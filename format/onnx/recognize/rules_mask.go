package recognize

// blocked is the largest number that, added to a score, makes it count for
// nothing.
const blocked = -1e4

// all reports whether every element of a float constant satisfies fn.
func (v *value) all(fn func(float32) bool) bool {
	if v == nil || v.constant == nil || !v.constant.DType.IsFloat() || v.constant.Elements() > foldLimit {
		return false
	}
	x, err := v.constant.Values()
	if err != nil {
		return false
	}
	for _, f := range x {
		if !fn(f) {
			return false
		}
	}
	return len(x) > 0
}

func isBlocked(x float32) bool { return x <= blocked }
func isNull(x float32) bool    { return x == 0 }

// isCausal reports whether a constant blocks, of its last two dimensions
// [T,T], exactly what lies above the diagonal: with true if it is of bools
// (false if flipped), else with a large negative number beside zeros.
func (v *value) isCausal() (n int, flipped, ok bool) {
	shape := v.constant.Shape
	rank := len(shape)
	if rank < 2 || v.constant.Elements() != shape[rank-1]*shape[rank-1] || shape[rank-2] != shape[rank-1] {
		return 0, false, false
	}
	n = shape[rank-1]
	if v.constant.Elements() > foldLimit || n < 2 {
		return 0, false, false
	}
	x, err := v.constant.Values()
	if err != nil {
		return 0, false, false
	}
	flipped = x == nil && v.constant.Ints[0] != 0
	for i := range n * n {
		above := i%n > i/n
		switch {
		case x != nil && above && !isBlocked(x[i]), x != nil && !above && x[i] != 0,
			x == nil && (v.constant.Ints[i] != 0) != (above != flipped):
			return 0, false, false
		}
	}
	return n, flipped, true
}

// causalLayout is a constant causal mask's layout: both dimensions match
// whatever has their size.
func causalLayout(n int) layout {
	q, k := &symbol{kind: repeatAxis, size: n}, &symbol{kind: repeatAxis, size: n}
	return layout{q.dimension(), k.dimension()}
}

// asMask takes a value for a mask of scores, with its layout.
func (v *value) asMask() (m mask, l layout, ok bool) {
	if v.constant != nil {
		n, flipped, causal := v.isCausal()
		if causal {
			return mask{causal: true, flipped: flipped, added: v.constant.DType.IsFloat()}, causalLayout(n), true
		}
		if v.all(isNull) {
			return mask{added: true}, nil, true
		}
		return m, nil, false
	}
	switch x := v.meaning.(type) {
	case *padding:
		return mask{pads: x.stream, flipped: x.flipped, added: v.scale <= blocked && !x.flipped}, v.layout, v.scale == 1 || v.scale <= blocked && !x.flipped
	case *mask:
		return *x, v.layout, v.scale == 1 || x.added && v.scale > 0
	}
	return m, nil, false
}

// joinMasks combines two masks: nothing is attended to where either blocks.
func (r *rule) joinMasks(a, b *value) []*value {
	m, l, ok1 := a.asMask()
	n, k, ok2 := b.asMask()
	if !ok1 || !ok2 || m.added != n.added || m.flipped != n.flipped || m.pads != nil && n.pads != nil && m.pads != n.pads {
		return nil
	}
	if m.pads == nil {
		m.pads = n.pads
	}
	m.causal = m.causal || n.causal
	joint, ok := join(l, k)
	if !ok {
		return nil
	}
	return r.make(&m, joint)
}

// join broadcasts two layouts.
func join(l, m layout) (layout, bool) {
	if len(l) < len(m) {
		l, m = m, l
	}
	out := append(layout{}, l...)
	for i := range m {
		d, e := &out[len(l)-len(m)+i], m[i]
		switch {
		case len(*d) == 0:
			*d = e
		case len(e) == 0:
		case !d.like(e):
			return nil, false
		case (*d)[0].kind == repeatAxis:
			*d = e
		}
	}
	return out, true
}

func or(r *rule) []*value {
	out := r.joinMasks(r.in[0], r.in[1])
	if out != nil && out[0].meaning.(*mask).flipped {
		return nil
	}
	return out
}

func and(r *rule) []*value {
	if out := r.intersect(); out != nil {
		return out
	}
	out := r.joinMasks(r.in[0], r.in[1])
	if out != nil && !out[0].meaning.(*mask).flipped {
		return nil
	}
	return out
}

// addMask adds a mask to scores or to another mask.
func (r *rule) addMask(c, v *value) []*value {
	if s, ok := v.meaning.(*scores); ok {
		m, l, ok := c.asMask()
		if !ok || !m.added {
			return nil
		}
		return r.applyMask(v, s, m, l)
	}
	out := r.joinMasks(c, v)
	if out == nil || !out[0].meaning.(*mask).added {
		return nil
	}
	return out
}

// applyMask applies a mask to scores.
func (r *rule) applyMask(v *value, s *scores, m mask, l layout) []*value {
	t := *s
	t.at = r.at
	if m.pads != nil {
		if s.keys == nil || s.keys.of != m.pads.time {
			r.hint = "a mask of the keys' padding"
			return nil
		}
		l = l.rename(m.pads.time, s.keys)
		t.pads = m.pads
	}
	if !v.layout.covers(l) {
		r.hint = "a mask that lies along the scores"
		return nil
	}
	if m.causal {
		if n := len(v.layout); n < 2 || s.keys == nil || len(v.layout[n-1]) != 1 || v.layout[n-1][0].symbol != s.keys ||
			len(v.layout[n-2]) != 1 || v.layout[n-2][0].symbol != s.keys.of {
			r.hint = "a causal mask over queries and keys of one sequence"
			return nil
		}
		t.causal = true
	}
	return r.same(&value{meaning: &t, scale: v.scale}, v.layout)
}

func where(r *rule) []*value {
	cond, x, y := r.in[0], r.in[1], r.in[2]
	if p, ok := cond.meaning.(*probabilities); ok && p.nan { // 0 where NaN
		if q, ok := y.meaning.(*probabilities); ok && q.scores == p.scores && x.all(isNull) {
			return r.same(y, y.layout)
		}
		return nil
	}
	m, l, ok := cond.asMask()
	if !ok || m.added {
		return nil
	}
	if m.flipped {
		x, y = y, x
		m.flipped = false
	}
	switch n := y.meaning.(type) {
	case *scores:
		if x.all(isBlocked) {
			return r.applyMask(y, n, m, l)
		}
	case *norm:
		if x.all(isNull) && m.pads != nil && !m.causal {
			return r.maskPads(y, m.pads, l)
		}
	case *base:
		if x.all(isNull) && m.pads != nil && y.layout.covers(l) {
			return r.same(y, y.layout)
		}
	}
	if x.constant == nil || y.constant == nil && !isMask(y.meaning) {
		return nil
	}
	switch {
	case x.all(isBlocked):
		m.added = true
		return r.joinMasks(&value{meaning: &m, layout: l, scale: 1}, y)
	case x.all(isNull) && y.all(isBlocked): // the mask is of what is kept
		return nil
	}
	return nil
}

func isMask(m meaning) bool { _, ok := m.(*mask); return ok }

func isNaN(r *rule) []*value {
	p, ok := r.in[0].meaning.(*probabilities)
	if !ok {
		return nil
	}
	return r.make(&probabilities{p.scores, true}, r.in[0].layout)
}

// maskPads zeroes a normalised key or value at pads.
func (r *rule) maskPads(v *value, pads *stream, l layout) []*value {
	n, ok := v.meaning.(*norm)
	if !ok || n.stage != normDone || v.scale != 1 || !v.layout.covers(l) {
		return nil
	}
	return r.make(&masked{n, pads}, v.layout)
}

// mulPadding multiplies with 0 at pads: keys and values of MemSizer, or an
// embedded sequence, whose pads are masked wherever they could be seen.
func (r *rule) mulPadding(v, p *value) []*value {
	m, ok := p.meaning.(*padding)
	if !ok || !m.flipped || p.scale != 1 {
		return nil
	}
	if c, ok := v.meaning.(*running); ok && c.stream == m.stream && v.scale == 1 && v.layout.like(p.layout) {
		return r.make(&running{m.stream, true}, v.layout)
	}
	if b, ok := v.meaning.(*base); ok && v.layout.covers(p.layout) {
		return r.make(b, v.layout)
	}
	return r.maskPads(v, m.stream, p.layout)
}
