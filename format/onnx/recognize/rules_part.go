package recognize

import (
	"memsizer/format/onnx/eval"
	"slices"
)

// sliceRule takes all of a dimension, the last position, or a part of a
// layer's outputs.
func sliceRule(r *rule) []*value {
	v := r.in[0]
	starts, ok1 := r.in[1].ints()
	ends, ok2 := r.in[2].ints()
	if !ok1 || !ok2 || len(starts) != len(ends) {
		return nil
	}
	axes, steps := make([]int64, len(starts)), make([]int64, len(starts))
	for i := range starts {
		axes[i], steps[i] = int64(i), 1
	}
	for j, list := range [][]int64{axes, steps} {
		if len(r.in) > 3+j && r.in[3+j] != nil {
			given, ok := r.in[3+j].ints()
			if !ok || len(given) != len(list) {
				return nil
			}
			copy(list, given)
		}
	}
	for i := range starts {
		a := int(axes[i])
		if a < 0 {
			a += len(v.layout)
		}
		if a < 0 || a >= len(v.layout) {
			return nil
		}
		start, n, ok := eval.SliceRange(int64(v.layout[a].size()), starts[i], ends[i], steps[i])
		if !ok || steps[i] != 1 && n > 1 {
			return nil
		}
		if v = r.cut(v, a, int(start), int(n)); v == nil {
			return nil
		}
	}
	return []*value{v}
}

// cut takes n elements of a dimension from start on.
func (r *rule) cut(v *value, d, start, n int) *value {
	size := v.layout[d].size()
	if start == 0 && n == size {
		return r.same(v, v.layout)[0]
	}
	l := slices.Clone(v.layout)
	a, ok := v.layout[d].only()
	if !ok || n < 1 {
		return nil
	}
	switch m := v.meaning.(type) {
	case *tokens, *embedding, *placed, *base:
		if a.kind == timeAxis && a.isWhole() && n == 1 && start == size-1 {
			l[d] = nil
			return r.same(v, l)[0]
		}
	case *columns:
		return r.cutColumns(v, m, d, start, n)
	case *joined: // the shape of what is about to be put there
		if d == len(l)-1 {
			l[d] = (&symbol{kind: featureAxis, size: n}).dimension()
			return r.make(&joinedCut{m}, l)[0]
		}
	case *columnsCut:
		if n == 1 {
			return r.prior(v, m, d, start)
		}
	case *linear:
		if a.symbol == m.out && a.isOuter() {
			part := m.part(start*a.stride, n*a.stride, r.at)
			l = l.rename(m.out, part.out)
			l[d] = dim(nil).push(axis{part.out, n, a.stride})
			return r.make(part, l)[0]
		}
	}
	return nil
}

// part is the layer with n of its outputs, from start on.
func (m *linear) part(start, n int, at place) *linear {
	p := *m
	p.at = at
	p.out = &symbol{kind: featureAxis, size: n}
	p.weight = m.weight.rows(start, n)
	if m.bias != nil {
		b := m.bias.rows(start, n)
		p.bias = &b
	}
	return &p
}

func split(r *rule) []*value {
	v := r.in[0]
	a := int(r.node.Int("axis", 0))
	if a < 0 {
		a += len(v.layout)
	}
	if a < 0 || a >= len(v.layout) {
		return nil
	}
	d := v.layout[a].size()
	var sizes []int64
	if len(r.in) > 1 && r.in[1] != nil {
		sizes, _ = r.in[1].ints()
	} else if at := r.node.Attribute("split"); at != nil {
		sizes = at.Ints()
	} else if n := len(r.node.Outputs); n > 0 && d%n == 0 {
		for range n {
			sizes = append(sizes, int64(d/n))
		}
	}
	var out []*value
	at := 0
	for _, n := range sizes {
		if n < 1 || int(n) > d-at {
			return nil
		}
		part := r.cut(v, a, at, int(n))
		if part == nil {
			return nil
		}
		out = append(out, part)
		at += int(n)
	}
	if at != d {
		return nil
	}
	return out
}

// gather looks up rows of a table, reorders states, or takes one element of a
// dimension.
func gather(r *rule) []*value {
	v, ids := r.in[0], r.in[1]
	axis := int(r.node.Int("axis", 0))
	if v.constant != nil {
		if table, ok := v.matrix(); ok && axis == 0 {
			return r.rows(table, ids)
		}
		return nil
	}
	if axis < 0 {
		axis += len(v.layout)
	}
	if axis < 0 || axis >= len(v.layout) {
		return nil
	}
	if e, ok := ids.meaning.(*external); ok && e != nil && axis == 0 {
		if _, state := v.meaning.(*external); state && len(ids.layout) == 1 {
			return r.same(v, v.layout)
		}
		return nil
	}
	i, ok := ids.scalar()
	if !ok || len(ids.constant.Shape) > 1 {
		return nil
	}
	size := v.layout[axis].size()
	if i < 0 {
		i += float64(size)
	}
	if i < 0 || int(i) >= size {
		return nil
	}
	one := r.cut(v, axis, int(i), 1)
	if one == nil {
		return nil
	}
	if len(ids.constant.Shape) == 0 {
		one.layout = slices.Delete(slices.Clone(one.layout), axis, axis+1)
	}
	return []*value{one}
}

// concat puts keys and values behind those of earlier steps, and computed
// sines in front of cosines.
func concat(r *rule) []*value {
	if p := r.concatSinusoids(); p != nil {
		return p
	}
	if p := r.concatLinear(); p != nil {
		return p
	}
	var full []*value // without those that have no elements
	for _, v := range r.in {
		if v.constant == nil || v.constant.Elements() > 0 {
			full = append(full, v)
		}
	}
	if len(full) == 1 {
		return r.same(full[0], full[0].layout)
	}
	r.in = full
	if len(r.in) != 2 || r.in[0].constant != nil || r.in[1].constant != nil {
		return nil
	}
	past, ok1 := r.in[0].meaning.(*external)
	now, ok2 := r.in[1].meaning.(*linear)
	a := int(r.node.Int("axis", 0))
	if a < 0 {
		a += len(r.in[1].layout)
	}
	if !ok1 || !ok2 || a < 0 || a >= len(r.in[1].layout) || len(r.in[0].layout) != len(r.in[1].layout) || len(r.in[1].layout[a]) != 0 {
		return nil
	}
	l := slices.Clone(r.in[1].layout)
	for i := range l {
		if i != a && l[i].size() != r.in[0].layout[i].size() {
			return nil
		}
	}
	keys := &symbol{kind: keyAxis, size: r.in[0].layout[a].size() + 1}
	l[a] = dim{keys.whole()}
	v := r.same(r.in[1], l)
	v[0].meaning = &cached{now, past}
	return v
}
