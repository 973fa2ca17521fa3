package recognize

import (
	"math"
)

func logSoftmax(r *rule) []*value {
	v := r.in[0]
	axis := r.node.Int("axis", -1)
	if j, ok := v.meaning.(*joined); ok && !j.logs && j.filled == j.out.size && v.scale == 1 && v.layout.find(j.out) == len(v.layout)-1 && (axis == -1 || int(axis) == len(v.layout)-1) {
		k := *j
		k.logs = true
		return r.make(&k, v.layout)
	}
	m, ok := v.meaning.(*linear)
	if s, whole := v.lastFeature(); !ok || !whole || s != m.out || axis != -1 && int(axis) != len(v.layout)-1 || v.scale != 1 {
		return nil
	}
	return r.make(&logProbabilities{m}, v.layout)
}

func softmax(r *rule) []*value {
	v := r.in[0]
	a := int(r.node.Int("axis", -1))
	if a < 0 {
		a += len(v.layout)
	}
	if a < 0 || a >= len(v.layout) {
		return nil
	}
	d := v.layout[a]
	switch m := v.meaning.(type) {
	case *scores:
		size := m.query.out.size / m.heads
		if m.keys == nil || len(d) != 1 || d[0].symbol != m.keys {
			r.hint = "a softmax over the keys"
			return nil
		}
		if !near(v.scale, 1/math.Sqrt(float64(size))) {
			r.hint = "scores divided by the root of the heads' dimension"
			return nil
		}
		return r.make(&probabilities{scores: m}, v.layout)
	case *linear:
		if len(d) != 1 || d[0].symbol != m.out || d[0].stride != 1 || !complete(m) || v.scale != 1 {
			return nil
		}
		return r.make(&slots{query: m, heads: m.out.size / d[0].size, size: d[0].size, at: r.at}, v.layout)
	}
	return nil
}

// headsOf reports whether a dimension runs over the heads.
func (s *slots) headsOf(d dim) (heads, ok bool) {
	if s.mean {
		return false, false
	}
	if s.heads == 1 {
		return len(d) == 0, true
	}
	return len(d) == 1 && d[0].symbol == s.query.out && d[0].size == s.heads && d[0].stride == s.size, true
}

func (s *slots) averaged(at place) *slots {
	t := *s
	t.mean, t.at = true, at
	return &t
}
