package recognize

import (
	"strings"

	"memsizer/format/onnx/eval"
)

// product is a contraction of two values, dimensions named by letters as in
// einsum.
type product struct {
	a, b         *value
	as, bs, outs string
}

func (p product) swapped() product { return product{p.b, p.a, p.bs, p.as, p.outs} }

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func matMul(r *rule) []*value {
	a, b := r.in[0], r.in[1]
	ra, rb := len(a.shape()), len(b.shape())
	if ra < 1 || rb < 1 || ra > 40 || rb > 40 {
		return nil
	}
	batch := max(ra, rb, 2) - 2
	k, m, n := letters[batch:batch+1], letters[batch+1:batch+2], letters[batch+2:batch+3]
	p := product{a: a, b: b, outs: letters[:batch]}
	if ra == 1 {
		p.as = k
	} else {
		p.as = letters[batch-(ra-2):batch] + m + k
		p.outs += m
	}
	if rb == 1 {
		p.bs = k
	} else {
		p.bs = letters[batch-(rb-2):batch] + k + n
		p.outs += n
	}
	return r.contract(p)
}

func gemm(r *rule) []*value {
	if r.node.Float("alpha", 1) != 1 || r.node.Float("beta", 1) != 1 {
		return nil
	}
	p := product{a: r.in[0], b: r.in[1], as: "mk", bs: "kn", outs: "mn"}
	if r.node.Int("transA", 0) != 0 {
		p.as = "km"
	}
	if r.node.Int("transB", 0) != 0 {
		p.bs = "nk"
	}
	out := r.contract(p)
	if out == nil || len(r.in) < 3 || r.in[2] == nil {
		return out
	}
	if r.in[2].constant == nil {
		return nil
	}
	return r.addBias(r.in[2], out[0])
}

func einsum(r *rule) []*value {
	a := r.node.Attribute("equation")
	if a == nil {
		return nil
	}
	e, ok := eval.ParseEquation(a.Text())
	if !ok || len(r.in) != 2 || len(e.Inputs) != 2 {
		return nil
	}
	p := product{r.in[0], r.in[1], e.Inputs[0], e.Inputs[1], e.Output}
	if len(p.as) != len(p.a.shape()) || len(p.bs) != len(p.b.shape()) {
		return nil
	}
	return r.contract(p)
}

// contract finds out what a product means.
func (r *rule) contract(p product) []*value {
	for _, q := range []product{p, p.swapped()} {
		if q.b.constant != nil {
			if q.a.constant != nil {
				return nil
			}
			return first(func() []*value { return r.project(q) }, func() []*value { return r.sumPast(q) })
		}
	}
	for _, q := range []product{p, p.swapped()} {
		if !q.aligned() {
			return nil
		}
		if out := first(
			func() []*value { return r.readMemory(q) },
			func() []*value { return r.attend(q) },
			func() []*value { return r.remember(q) },
			func() []*value { return r.score(q) },
		); out != nil {
			return out
		}
	}
	return nil
}

// aligned reports whether the dimensions that both values have run alike or
// have one element in one of them.
func (p product) aligned() bool {
	for i, c := range p.as {
		if j := strings.IndexRune(p.bs, c); j >= 0 && strings.ContainsRune(p.outs, c) {
			if d, e := p.a.layout[i], p.b.layout[j]; len(d) > 0 && len(e) > 0 && !d.like(e) {
				return false
			}
		}
	}
	return true
}

// summed returns the letters that are summed over, that both values have and
// that run over more than one element.
func (p product) summed() (list []rune) {
	for i, c := range p.as {
		if !strings.ContainsRune(p.outs, c) && (p.a.constant != nil || len(p.a.layout[i]) > 0) {
			list = append(list, c)
		}
	}
	for j, c := range p.bs {
		if !strings.ContainsRune(p.outs, c) && !strings.ContainsRune(p.as, c) && (p.b.constant != nil || len(p.b.layout[j]) > 0) {
			list = append(list, c)
		}
	}
	return list
}

func (p product) dimA(c rune) dim {
	if i := strings.IndexRune(p.as, c); i >= 0 {
		return p.a.layout[i]
	}
	return nil
}

func (p product) dimB(c rune) dim {
	if i := strings.IndexRune(p.bs, c); i >= 0 && p.b.constant == nil {
		return p.b.layout[i]
	}
	return nil
}

// layout is the product's: dimensions of a where it has them, else of b.
func (p product) layout() layout {
	out := layout{}
	for _, c := range p.outs {
		d := p.dimA(c)
		if len(d) == 0 {
			d = p.dimB(c)
		}
		out = append(out, d)
	}
	return out
}

// project is a product with a constant matrix over a whole feature axis.
func (r *rule) project(p product) []*value {
	shape := p.b.constant.Shape
	bs := p.bs
	for len(shape) > 2 && shape[0] == 1 {
		shape, bs = shape[1:], bs[1:]
	}
	if len(shape) != 2 || !p.b.constant.DType.IsFloat() || !isHidden(p.a.meaning) {
		return nil
	}
	p.a = r.started(p.a)
	w, ok := weight{p.b.constant}.reshaped(shape...)
	if !ok {
		return nil
	}
	in, out := rune(bs[0]), rune(bs[1])
	if strings.ContainsRune(p.outs, in) {
		in, out = out, in
	} else {
		w = w.transposed()
	}
	s, whole := p.dimA(in).whole()
	if strings.ContainsRune(p.outs, in) || !strings.ContainsRune(p.outs, out) || !whole || s.kind != featureAxis ||
		len(p.summed()) != 1 || strings.ContainsRune(p.as, out) {
		return nil
	}
	if p.a.scale != 1 {
		return nil
	}
	m := &linear{x: p.a.meaning, weight: w, out: &symbol{kind: featureAxis, size: w.Shape[0]}, at: r.at}
	l := layout{}
	for _, c := range p.outs {
		if c == out {
			l = append(l, m.out.dimension())
		} else {
			l = append(l, p.dimA(c))
		}
	}
	return r.make(m, l)
}

// layer returns the linear layer that a query, key or value is.
func layer(m meaning) (l *linear, isCached bool) {
	switch m := m.(type) {
	case *linear:
		return m, false
	case *cached:
		return m.linear, true
	}
	return nil, false
}

// score multiplies queries with keys, head by head.
func (r *rule) score(p product) []*value {
	q, past := layer(p.a.meaning)
	k, isCached := layer(p.b.meaning)
	if q == nil || k == nil || past || !complete(q) || !complete(k) || q == k {
		return nil
	}
	sum := p.summed()
	if len(sum) != 1 {
		return nil
	}
	d, ok1 := p.dimA(sum[0]).only()
	e, ok2 := p.dimB(sum[0]).only()
	if !ok1 || !ok2 || d.symbol != q.out || e.symbol != k.out || d.stride != 1 || e.stride != 1 || d.size != e.size || q.out.size != k.out.size {
		return nil
	}
	s := &scores{query: q, key: k, heads: q.out.size / d.size, cached: isCached, at: r.at}
	l := layout{}
	for _, c := range p.outs {
		own := p.dimA(c)
		if len(own) > 0 || strings.ContainsRune(p.as, c) && strings.ContainsRune(p.bs, c) {
			l = append(l, own)
			continue
		}
		t, ok := p.dimB(c).whole()
		switch {
		case !ok:
			l = append(l, nil)
			continue
		case t.kind == timeAxis:
			t = &symbol{kind: keyAxis, size: t.size, of: t}
		case t.kind != keyAxis:
			return nil
		}
		s.keys = t
		l = append(l, t.dimension())
	}
	if s.keys == nil {
		return nil
	}
	return []*value{{meaning: s, layout: l, scale: p.a.scale * p.b.scale, node: r.at}}
}

// attend weighs values with attention probabilities.
func (r *rule) attend(p product) []*value {
	a, ok := p.a.meaning.(*probabilities)
	v, isCached := layer(p.b.meaning)
	sum := p.summed()
	if !ok || a.nan || v == nil || !complete(v) || len(sum) != 1 || p.a.scale != 1 || p.b.scale != 1 {
		return nil
	}
	d, ok1 := p.dimA(sum[0]).only()
	t, ok2 := p.dimB(sum[0]).whole()
	if !ok1 || !ok2 || d.symbol != a.keys || isCached != a.cached {
		return nil
	}
	if !isCached && t != a.keys.of || isCached && (t.kind != keyAxis || t.size != a.keys.size) {
		return nil
	}
	if v.out.size != a.query.out.size {
		return nil
	}
	l := p.layout().rename(a.query.out, v.out)
	return r.make(&context{scores: a.scores, value: v, at: r.at}, l)
}
