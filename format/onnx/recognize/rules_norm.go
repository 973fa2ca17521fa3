package recognize

import "math"

// lastFeature returns the symbol of the last dimension, if it is a whole
// feature axis.
func (v *value) lastFeature() (*symbol, bool) {
	if len(v.layout) == 0 {
		return nil, false
	}
	d := v.layout[len(v.layout)-1]
	if len(d) == 0 {
		return nil, false
	}
	s, ok := d.whole()
	return s, ok && s.kind == featureAxis
}

// isHidden reports whether a meaning is a vector of features per position.
func isHidden(m meaning) bool {
	switch m := m.(type) {
	case *embedding, *bandRows, *base, *encoded, *linear, *residual, *read, *activated, *context:
		return true
	case *norm:
		return m.stage == normDone
	case *masked:
		return isHidden(m.x)
	}
	return false
}

func layerNorm(r *rule) []*value {
	v := r.started(r.in[0])
	s, ok := v.lastFeature()
	axis := r.node.Int("axis", -1)
	if !ok || !isHidden(v.meaning) || v.scale != 1 || axis != -1 && int(axis) != len(v.layout)-1 {
		return nil
	}
	w, ok1 := r.in[1].vector(s.size)
	if len(r.in) < 3 || r.in[2] == nil {
		r.hint = "a layer norm with a bias"
		return nil
	}
	b, ok2 := r.in[2].vector(s.size)
	if !ok1 || !ok2 {
		return nil
	}
	return r.make(&norm{x: v.meaning, stage: normDone, weight: w, bias: b, eps: float64(r.node.Float("epsilon", 1e-5)), dim: s, at: r.at}, v.layout)
}

func reduceMean(r *rule) []*value {
	v := r.started(r.in[0])
	axes, ok := r.axes(1, len(v.layout))
	if !ok || len(axes) != 1 {
		return nil
	}
	l := r.reduced(v.layout, axes)
	if m, ok := v.meaning.(*slots); ok {
		if heads, ok := m.headsOf(v.layout[axes[0]]); ok && heads {
			return []*value{{meaning: m.averaged(r.at), layout: l, scale: v.scale, node: r.at}}
		}
		return nil
	}
	s, ok := v.lastFeature()
	if !ok || axes[0] != len(v.layout)-1 || v.scale != 1 {
		return nil
	}
	if n, ok := v.meaning.(*norm); ok && n.stage == normSquared {
		return r.stage(n, normVariance, l)
	}
	if !isHidden(v.meaning) {
		return nil
	}
	return r.make(&norm{x: v.meaning, stage: normMean, dim: s, at: r.at}, l)
}

// stage takes a layer norm one step on.
func (r *rule) stage(n *norm, stage normStage, l layout) []*value {
	m := *n
	m.stage, m.at = stage, r.at
	return r.make(&m, l)
}

// norms returns the layer norms in the making that two values are, of the
// same input.
func norms(a, b *value) (m, n *norm, ok bool) {
	m, ok1 := a.meaning.(*norm)
	n, ok2 := b.meaning.(*norm)
	return m, n, ok1 && ok2 && m.x == n.x && a.scale == 1 && b.scale == 1
}

// centre subtracts the mean.
func (r *rule) centre(a, b *value) []*value {
	a = r.started(a)
	n, ok := b.meaning.(*norm)
	if !ok || n.stage != normMean || n.x != a.meaning || a.scale != 1 || b.scale != 1 || !a.layout.covers(b.layout) {
		return nil
	}
	return r.stage(n, normCentered, a.layout)
}

// normProduct multiplies the parts of a layer norm.
func (r *rule) normProduct(a, b *value) []*value {
	m, n, ok := norms(a, b)
	if !ok {
		return nil
	}
	switch {
	case m.stage == normCentered && n.stage == normCentered:
		return r.stage(m, normSquared, a.layout)
	case m.stage == normCentered && n.stage == normInverse && a.layout.covers(b.layout):
		return r.stage(n, normalized, a.layout)
	case m.stage == normInverse && n.stage == normCentered && b.layout.covers(a.layout):
		return r.stage(m, normalized, b.layout)
	}
	return nil
}

// normVector applies a constant vector to a normalised value.
func (r *rule) normVector(c, v *value, to normStage) []*value {
	n, ok := v.meaning.(*norm)
	if !ok || n.stage != to-1 || v.scale != 1 {
		return nil
	}
	s, ok := v.lastFeature()
	if !ok {
		return nil
	}
	w, ok := c.vector(s.size)
	if !ok {
		return nil
	}
	out := r.stage(n, to, v.layout)
	m := out[0].meaning.(*norm)
	if to == normScaled {
		m.weight = w
	} else {
		m.bias = w
	}
	return out
}

func sqrt(r *rule) []*value {
	v := r.in[0]
	if n, ok := v.meaning.(*norm); ok && n.stage == normVariance && v.scale == 1 {
		return r.stage(n, normStd, v.layout)
	}
	return r.raise(v, 0.5)
}

func reciprocal(r *rule) []*value {
	v := r.in[0]
	if n, ok := v.meaning.(*norm); ok && n.stage == normStd && v.scale == 1 {
		return r.stage(n, normInverse, v.layout)
	}
	return r.raise(v, -1)
}

func pow(r *rule) []*value {
	v := r.in[0]
	p, ok := r.in[1].scalar()
	if !ok || v.constant != nil {
		return nil
	}
	switch m := v.meaning.(type) {
	case *norm:
		switch {
		case m.stage == normCentered && p == 2 && v.scale == 1:
			return r.stage(m, normSquared, v.layout)
		case m.stage == normVariance && p == 0.5 && v.scale == 1:
			return r.stage(m, normStd, v.layout)
		case m.stage == normVariance && p == -0.5 && v.scale == 1:
			return r.stage(m, normInverse, v.layout)
		}
		return nil
	case *linear:
		if p == 3 || p == 2 {
			part := "square"
			if p == 3 {
				part = "cube"
			}
			return r.part(v, m, part, math.Pow(v.scale, p))
		}
		return nil
	}
	return r.raise(v, p)
}
