package recognize

import "math"

// The parts that GELU is made of, beside its result's: "erf" is erf(x/√2),
// "erf+1" one more, "cube" x³, "square" x², "inner" x + 0.044715x³ (or, with
// a scale, times √(2/π)), "bracket" 1 + 0.044715x², "tanh" the tanh of inner
// times √(2/π), "tanh+1" one more.
const geluCube = 0.044715

var geluScale = math.Sqrt(2 / math.Pi)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(b) }

// part is a part of an activation of x.
func (r *rule) part(v *value, x *linear, fn string, scale float64) []*value {
	out := r.make(&activated{x: x, fn: fn, at: r.at}, v.layout)
	out[0].scale = scale
	return out
}

// complete reports whether a layer can be activated: its bias is added.
func complete(m *linear) bool { return m.bias != nil }

func activation(fn string) ruleFunc {
	return func(r *rule) []*value {
		v := r.in[0]
		if x, ok := v.meaning.(*linear); ok && complete(x) && v.scale == 1 {
			return r.part(v, x, fn, 1)
		}
		return nil
	}
}

func tanh(r *rule) []*value {
	v := r.in[0]
	if a, ok := v.meaning.(*activated); ok && a.fn == "inner" && near(v.scale, geluScale) {
		return r.part(v, a.x, "tanh", 1)
	}
	return activation("tanh")(r)
}

func erf(r *rule) []*value {
	v := r.in[0]
	if x, ok := v.meaning.(*linear); ok && complete(x) && near(v.scale, math.Sqrt(0.5)) {
		return r.part(v, x, "erf", 1)
	}
	return nil
}

func gelu(r *rule) []*value {
	fn := "gelu"
	if a := r.node.Attribute("approximate"); a != nil && a.Text() == "tanh" {
		fn = "gelu_accurate"
	}
	return activation(fn)(r)
}

// partPlus adds a number to a part of an activation.
func (r *rule) partPlus(v *value, a *activated, c float64) []*value {
	switch {
	case c == 1 && a.fn == "erf":
		return r.part(v, a.x, "erf+1", 1)
	case c == 1 && a.fn == "tanh":
		return r.part(v, a.x, "tanh+1", 1)
	case c == 1 && a.fn == "square" && near(v.scale, geluCube):
		return r.part(v, a.x, "bracket", 1)
	}
	return nil
}

// partSum adds x and its cube.
func (r *rule) partSum(a, b *value) []*value {
	x, ok1 := a.meaning.(*linear)
	p, ok2 := b.meaning.(*activated)
	if !ok1 || !ok2 || p.x != x || p.fn != "cube" || !near(b.scale, geluCube*a.scale) {
		return nil
	}
	return r.part(a, x, "inner", a.scale)
}

// partProduct multiplies x with a part of its activation.
func (r *rule) partProduct(a, b *value) []*value {
	x, ok := a.meaning.(*linear)
	if !ok || !a.layout.like(b.layout) {
		return nil
	}
	scale := a.scale * b.scale
	if y, ok := b.meaning.(*linear); ok && y == x {
		return r.part(a, x, "square", scale)
	}
	p, ok := b.meaning.(*activated)
	if !ok || p.x != x {
		return nil
	}
	switch p.fn {
	case "sigmoid":
		return r.part(a, x, "swish", scale)
	case "erf+1":
		return r.part(a, x, "gelu", 2*scale)
	case "tanh+1":
		return r.part(a, x, "gelu_accurate", 2*scale)
	case "square":
		return r.part(a, x, "cube", scale)
	case "bracket":
		return r.part(a, x, "inner", scale)
	}
	return nil
}
