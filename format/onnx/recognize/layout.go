package recognize

import "slices"

// kind says what an axis runs over.
type kind uint8

const (
	batchAxis   kind = iota // sentences
	timeAxis                // positions of a sequence
	keyAxis                 // positions attended to
	featureAxis             // the outputs of a linear layer, or an embedding's columns
	repeatAxis              // copies of the same
	pickAxis                // tokens of one band of the vocabulary
)

// symbol is an axis as a whole.
type symbol struct {
	kind kind
	size int
	of   *symbol // keyAxis: the time axis of the keys
}

// axis is a symbol or a regular part of it: size elements of it, stride
// apart. Heads are the outer part of a feature axis, what they hold the inner.
type axis struct {
	*symbol
	size, stride int
}

func (s *symbol) whole() axis { return axis{s, s.size, 1} }

func (a axis) isWhole() bool { return a.size == a.symbol.size && a.stride == 1 }

// isOuter reports whether a is the outermost part of its symbol.
func (a axis) isOuter() bool { return a.size*a.stride == a.symbol.size }

// dim is a dimension: the axes that it runs over, the slowest first. Axes of
// one element are left out.
type dim []axis

// layout is how a value's elements lie: what each dimension runs over.
type layout []dim

func (d dim) size() int {
	n := 1
	for _, a := range d {
		n *= a.size
	}
	return n
}

func (l layout) shape() []int {
	s := make([]int, len(l))
	for i, d := range l {
		s[i] = d.size()
	}
	return s
}

// only returns the axis of a dimension that has one.
func (d dim) only() (axis, bool) {
	if len(d) != 1 {
		return axis{}, false
	}
	return d[0], true
}

// whole returns the symbol of a dimension that is all of it.
func (d dim) whole() (*symbol, bool) {
	if len(d) == 1 && d[0].isWhole() {
		return d[0].symbol, true
	}
	return nil, false
}

// push appends an axis to a dimension, joining parts that belong together.
func (d dim) push(a axis) dim {
	if a.size == 1 {
		return d
	}
	if n := len(d); n > 0 && d[n-1].symbol == a.symbol && d[n-1].stride == a.stride*a.size {
		d = slices.Clone(d)
		d[n-1] = axis{a.symbol, d[n-1].size * a.size, a.stride}
		return d
	}
	return append(slices.Clip(d), a)
}

// reshape regroups the axes into dimensions of the sizes of shape; ok is false
// if that cuts an axis unevenly.
func (l layout) reshape(shape []int) (out layout, ok bool) {
	var rest []axis
	for _, d := range l {
		rest = append(rest, d...)
	}
	for _, n := range shape {
		var d dim
		for n > 1 {
			if len(rest) == 0 {
				return nil, false
			}
			a := rest[0]
			switch {
			case n%a.size == 0:
				d = d.push(a)
				n /= a.size
				rest = rest[1:]
			case a.size%n == 0:
				inner := a.size / n
				d = d.push(axis{a.symbol, n, a.stride * inner})
				rest = append([]axis{{a.symbol, inner, a.stride}}, rest[1:]...)
				n = 1
			default:
				return nil, false
			}
		}
		if n == 0 {
			return nil, false
		}
		out = append(out, d)
	}
	return out, len(rest) == 0
}

func (l layout) transpose(perm []int) layout {
	out := make(layout, len(perm))
	for i, p := range perm {
		out[i] = l[p]
	}
	return out
}

// like reports whether two axes run alike: the same part of the same symbol,
// equal parts of two feature axes, or a repetition of the same size.
func (a axis) like(b axis) bool {
	if a.size != b.size {
		return false
	}
	switch {
	case a.kind == repeatAxis || b.kind == repeatAxis:
		return true
	case a.kind == featureAxis && b.kind == featureAxis:
		return a.stride == b.stride && a.symbol.size == b.symbol.size
	}
	return a.symbol == b.symbol && a.stride == b.stride
}

func (d dim) like(e dim) bool {
	return slices.EqualFunc(d, e, axis.like)
}

// like reports whether two values lie alike, dimension by dimension. Leading
// dimensions of one element may be missing.
func (l layout) like(m layout) bool {
	l, m = l.trimmed(), m.trimmed()
	return slices.EqualFunc(l, m, dim.like)
}

func (l layout) trimmed() layout {
	for len(l) > 0 && len(l[0]) == 0 {
		l = l[1:]
	}
	return l
}

// covers reports whether m, broadcast, lies along l: each of its dimensions
// is like l's or has one element.
func (l layout) covers(m layout) bool {
	m = m.trimmed()
	if len(m) > len(l) {
		return false
	}
	for i := range m {
		if d := m[len(m)-1-i]; len(d) > 0 && !d.like(l[len(l)-1-i]) {
			return false
		}
	}
	return true
}

// rename replaces a symbol by one of the same size.
func (l layout) rename(from, to *symbol) layout {
	out := make(layout, len(l))
	for i, d := range l {
		out[i] = slices.Clone(d)
		for j := range d {
			if d[j].symbol == from {
				out[i][j].symbol = to
			}
		}
	}
	return out
}

// find returns the dimension that is all of a symbol, −1 if none is.
func (l layout) find(s *symbol) int {
	return slices.IndexFunc(l, func(d dim) bool { w, ok := d.whole(); return ok && w == s })
}
