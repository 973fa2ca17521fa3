package recognize

import "math"

func add(r *rule) []*value {
	if c, v, ok := r.pair(); ok {
		if x, ok := c.scalar(); ok {
			if out := r.addNumber(v, x); out != nil {
				return out
			}
			if x == 0 {
				return r.same(v, v.layout)
			}
		}
		return first(
			func() []*value { return r.addBias(c, v) },
			func() []*value { return r.normVector(c, v, normDone) },
			func() []*value { return r.addPositions(v, c) },
			func() []*value { return r.addMask(c, v) },
		)
	}
	a, b := r.in[0], r.in[1]
	return first(
		func() []*value { return r.addPositions(a, b) },
		func() []*value { return r.addPrior(a, b) },
		func() []*value { return r.addPrior(b, a) },
		func() []*value { return r.addMask(a, b) },
		func() []*value { return r.addMask(b, a) },
		func() []*value { return r.addState(a, b) },
		func() []*value { return r.addState(b, a) },
		func() []*value { return r.partSum(a, b) },
		func() []*value { return r.partSum(b, a) },
		func() []*value { return r.addResidual(a, b) },
	)
}

// first returns what the first rule that applies makes.
func first(rules ...func() []*value) []*value {
	for _, rule := range rules {
		if out := rule(); out != nil {
			return out
		}
	}
	return nil
}

func sub(r *rule) []*value {
	a, b := r.in[0], r.in[1]
	if c, ok := b.scalar(); ok && a.constant == nil {
		return r.addNumber(a, -c)
	}
	if c, ok := a.scalar(); ok {
		switch m := b.meaning.(type) {
		case *padding: // 1 − mask
			if c == 1 && b.scale == 1 {
				return r.flip(b, m)
			}
		case *count: // all − pads
			if int(c) == m.length && m.pads && b.scale == 1 {
				return r.make(&length{stream: m.stream, power: 1}, b.layout)
			}
		}
		return nil
	}
	if a.constant != nil || b.constant != nil {
		return nil
	}
	return r.centre(a, b)
}

func neg(r *rule) []*value { return r.scaled(r.in[0], -1) }

func mul(r *rule) []*value {
	if c, v, ok := r.pair(); ok {
		if x, ok := c.scalar(); ok {
			return r.mulNumber(v, x)
		}
		return first(
			func() []*value { return r.normVector(c, v, normScaled) },
			func() []*value { return r.makeAngles(c, v) },
			func() []*value { return r.scaleByTime(c, v) },
		)
	}
	a, b := r.in[0], r.in[1]
	return first(
		func() []*value { return r.normProduct(a, b) },
		func() []*value { return r.partProduct(a, b) },
		func() []*value { return r.partProduct(b, a) },
		func() []*value { return r.mulLength(a, b, 1) },
		func() []*value { return r.mulLength(b, a, 1) },
		func() []*value { return r.mulPadding(a, b) },
		func() []*value { return r.mulPadding(b, a) },
		func() []*value { return r.outerProduct(a, b) },
	)
}

// mulNumber multiplies with a constant number, which a memory may take for
// its scale when no padding is considered.
func (r *rule) mulNumber(v *value, x float64) []*value {
	if m, ok := v.meaning.(*memory); ok && !m.scaled && !m.causal && m.state == nil && m.given == nil && m.pads == nil && v.scale == 1 {
		if n := float64(m.length); x != 1 && near(x, 1/math.Sqrt(n)) {
			s := *m
			s.scaled, s.at = true, r.at
			return r.make(&s, v.layout)
		}
	}
	return r.scaled(v, x)
}

func div(r *rule) []*value {
	a, b := r.in[0], r.in[1]
	if x, ok := b.scalar(); ok && a.constant == nil {
		if x == 0 {
			return nil
		}
		return r.mulNumber(a, 1/x)
	}
	if c, ok := a.scalar(); ok && c == 1 {
		if n, ok := b.meaning.(*norm); ok && n.stage == normStd {
			return r.stage(n, normInverse, b.layout)
		}
		return r.raise(b, -1)
	}
	if a.constant != nil || b.constant != nil {
		return nil
	}
	if m, n, ok := norms(a, b); ok && m.stage == normCentered && n.stage == normStd && a.layout.covers(b.layout) {
		return r.stage(n, normalized, a.layout)
	}
	return r.mulLength(a, b, -1)
}

// addBias adds a constant vector to a matrix product.
func (r *rule) addBias(c, v *value) []*value {
	m, ok := v.meaning.(*linear)
	if !ok || m.bias != nil || v.scale != 1 {
		return nil
	}
	if s, ok := v.lastFeature(); !ok || s != m.out {
		return nil
	}
	b, ok := c.vector(m.out.size)
	if !ok {
		return nil
	}
	l := *m
	l.bias, l.at = &b, r.at
	l.out = &symbol{kind: featureAxis, size: m.out.size}
	return r.make(&l, v.layout.rename(m.out, l.out))
}

// addResidual adds a sublayer's output to its input.
func (r *rule) addResidual(a, b *value) []*value {
	a, b = r.started(a), r.started(b)
	if a.scale != 1 || b.scale != 1 || !a.layout.like(b.layout) {
		return nil
	}
	x, y := a, b
	if !isSublayer(b.meaning) || isSublayer(a.meaning) {
		x, y = b, a
	}
	if !isSublayer(y.meaning) || isSublayer(x.meaning) || !isHidden(x.meaning) {
		return nil
	}
	return r.make(&residual{x: x.meaning, sub: y.meaning, at: r.at}, x.layout)
}

// isSublayer reports whether a meaning is the output of a feed-forward or
// attention block.
func isSublayer(m meaning) bool {
	switch m := m.(type) {
	case *read:
		return true
	case *linear:
		return m.bias != nil
	}
	return false
}
