package eval

import (
	"math"

	"memsizer/format/onnx"
)

// unaries are functions of one float. Those of integers are in unaryInts.
var unaries = map[string]func(*call) func(float64) float64{
	"Abs": plain(math.Abs), "Neg": plain(func(x float64) float64 { return -x }), "Exp": plain(math.Exp),
	"Log": plain(math.Log), "Sqrt": plain(math.Sqrt), "Sin": plain(math.Sin), "Cos": plain(math.Cos),
	"Tan": plain(math.Tan), "Tanh": plain(math.Tanh), "Erf": plain(math.Erf), "Floor": plain(math.Floor),
	"Ceil": plain(math.Ceil), "Round": plain(math.RoundToEven), "Sigmoid": plain(sigmoid),
	"Reciprocal": plain(func(x float64) float64 { return 1 / x }),
	"Relu":       plain(func(x float64) float64 { return max(x, 0) }),
	"Softplus":   plain(func(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) }),
	"Softsign":   plain(func(x float64) float64 { return x / (1 + math.Abs(x)) }),
	"Sign":       plain(sign),
	"HardSwish":  plain(func(x float64) float64 { return x * min(1, max(0, x/6+0.5)) }),
	"Mish":       plain(func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }),
	"Gelu":       gelu,
	"LeakyRelu":  func(c *call) func(float64) float64 { return slope(float64(c.node.Float("alpha", 0.01))) },
	"Elu":        elu,
	"HardSigmoid": func(c *call) func(float64) float64 {
		a, b := float64(c.node.Float("alpha", 0.2)), float64(c.node.Float("beta", 0.5))
		return func(x float64) float64 { return min(1, max(0, a*x+b)) }
	},
}

func plain(fn func(float64) float64) func(*call) func(float64) float64 {
	return func(*call) func(float64) float64 { return fn }
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func slope(a float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return a * x
		}
		return x
	}
}

func elu(c *call) func(float64) float64 {
	a := float64(c.node.Float("alpha", 1))
	return func(x float64) float64 {
		if x < 0 {
			return a * math.Expm1(x)
		}
		return x
	}
}

func gelu(c *call) func(float64) float64 {
	if c.text("approximate", "none") == "tanh" {
		return func(x float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}
	}
	return func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }
}

func unary(c *call) []*Tensor {
	t := c.input(0)
	fn := unaries[c.node.OpType](c)
	out := c.like(t, t.Shape)
	if !t.DType.IsFloat() {
		switch c.node.OpType {
		case "Abs", "Neg", "Sign", "Relu":
		default:
			c.fail("input of %v, want floats", t.DType)
		}
		for i, v := range t.Ints {
			out.Ints[i] = wrap(int64(fn(float64(v))), t.DType)
		}
		return []*Tensor{out}
	}
	for i, v := range c.floats(0) {
		out.Floats[i] = float32(fn(float64(v)))
	}
	return []*Tensor{out}
}

// binaryOp is a function of two numbers; a nil kind is not defined.
type binaryOp struct {
	floats  func(x, y float32) float32
	ints    func(c *call, x, y int64) int64
	compare func(less, equal bool) bool
	logic   func(x, y int64) int64
}

var binaries = map[string]binaryOp{
	"Add": {floats: func(x, y float32) float32 { return x + y }, ints: func(_ *call, x, y int64) int64 { return x + y }},
	"Sub": {floats: func(x, y float32) float32 { return x - y }, ints: func(_ *call, x, y int64) int64 { return x - y }},
	"Mul": {floats: func(x, y float32) float32 { return x * y }, ints: func(_ *call, x, y int64) int64 { return x * y }},
	"Div": {floats: func(x, y float32) float32 { return x / y }, ints: intDiv},
	"Mod": {floats: func(x, y float32) float32 { return float32(math.Mod(float64(x), float64(y))) }, ints: intMod},
	"Pow": {floats: func(x, y float32) float32 { return float32(math.Pow(float64(x), float64(y))) },
		ints: func(_ *call, x, y int64) int64 { return int64(math.Pow(float64(x), float64(y))) }},
	"Min":            {floats: func(x, y float32) float32 { return min(x, y) }, ints: func(_ *call, x, y int64) int64 { return min(x, y) }},
	"Max":            {floats: func(x, y float32) float32 { return max(x, y) }, ints: func(_ *call, x, y int64) int64 { return max(x, y) }},
	"Sum":            {floats: func(x, y float32) float32 { return x + y }},
	"PRelu":          {floats: func(x, y float32) float32 { return float32(slope(float64(y))(float64(x))) }},
	"Equal":          {compare: func(_, equal bool) bool { return equal }},
	"Less":           {compare: func(less, _ bool) bool { return less }},
	"LessOrEqual":    {compare: func(less, equal bool) bool { return less || equal }},
	"Greater":        {},
	"GreaterOrEqual": {},
	"And":            {logic: func(x, y int64) int64 { return x & y }},
	"Or":             {logic: func(x, y int64) int64 { return x | y }},
	"Xor":            {logic: func(x, y int64) int64 { return x ^ y }},
}

func intDiv(c *call, x, y int64) int64 {
	if y == 0 {
		c.fail("division of an integer by zero")
	}
	return x / y
}

// intMod has the sign of the divisor, or of the dividend if fmod is set.
func intMod(c *call, x, y int64) int64 {
	if y == 0 {
		c.fail("division of an integer by zero")
	}
	m := x % y
	if c.node.Int("fmod", 0) == 0 && m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

func binary(c *call) []*Tensor {
	op := binaries[c.node.OpType]
	a := c.input(0)
	if op.floats == nil {
		return c.boolean(op)
	}
	switch c.node.OpType {
	case "Min", "Max", "Sum": // of any number
	default:
		c.input(1)
	}
	acc := a
	for i := 1; i < len(c.in); i++ {
		acc = c.arithmetic(op, acc, c.input(i))
	}
	return []*Tensor{acc}
}

func (c *call) arithmetic(op binaryOp, a, b *Tensor) *Tensor {
	if a.DType != b.DType && (c.node.OpType != "Pow" || !a.DType.IsFloat()) {
		c.fail("inputs of %v and %v", a.DType, b.DType)
	}
	shape := c.broadcast(a.Shape, b.Shape)
	out := c.like(a, shape)
	sub := &call{node: c.node, in: []*Tensor{a, b}, limit: c.limit}
	if a.DType.IsFloat() {
		var y []float32
		if b.DType.IsFloat() {
			y = sub.floats(1)
		} else {
			for _, v := range b.Ints {
				y = append(y, float32(v))
			}
		}
		zip(c, out.Floats, shape, sub.floats(0), y, a.Shape, b.Shape, op.floats)
		return out
	}
	if op.ints == nil {
		c.fail("inputs of %v", a.DType)
	}
	zip(c, out.Ints, shape, a.Ints, b.Ints, a.Shape, b.Shape, func(x, y int64) int64 { return wrap(op.ints(c, x, y), a.DType) })
	return out
}

// boolean applies comparisons and logical operators.
func (c *call) boolean(op binaryOp) []*Tensor {
	i, j := 0, 1
	switch c.node.OpType {
	case "Greater":
		op, i, j = binaries["Less"], 1, 0
	case "GreaterOrEqual":
		op, i, j = binaries["LessOrEqual"], 1, 0
	}
	a, b := c.input(i), c.input(j)
	if a.DType != b.DType {
		c.fail("inputs of %v and %v", a.DType, b.DType)
	}
	shape := c.broadcast(a.Shape, b.Shape)
	out := c.typed(onnx.Bool, shape)
	switch {
	case op.logic != nil:
		zip(c, out.Ints, shape, c.ints(i), c.ints(j), a.Shape, b.Shape, op.logic)
	case a.DType.IsFloat():
		zip(c, out.Ints, shape, c.floats(i), c.floats(j), a.Shape, b.Shape, func(x, y float32) int64 { return bit(op.compare(x < y, x == y)) })
	default:
		zip(c, out.Ints, shape, a.Ints, b.Ints, a.Shape, b.Shape, func(x, y int64) int64 { return bit(op.compare(x < y, x == y)) })
	}
	return []*Tensor{out}
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func not(c *call) []*Tensor {
	out := c.typed(onnx.Bool, c.input(0).Shape)
	for i, v := range c.ints(0) {
		out.Ints[i] = 1 - v&1
	}
	return []*Tensor{out}
}

func isNaN(c *call) []*Tensor {
	out := c.typed(onnx.Bool, c.input(0).Shape)
	for i, v := range c.floats(0) {
		out.Ints[i] = bit(v != v)
	}
	return []*Tensor{out}
}

func isInf(c *call) []*Tensor {
	neg, pos := c.node.Int("detect_negative", 1) != 0, c.node.Int("detect_positive", 1) != 0
	out := c.typed(onnx.Bool, c.input(0).Shape)
	for i, v := range c.floats(0) {
		out.Ints[i] = bit(neg && math.IsInf(float64(v), -1) || pos && math.IsInf(float64(v), 1))
	}
	return []*Tensor{out}
}

func clip(c *call) []*Tensor {
	t := c.input(0)
	if !t.DType.IsFloat() {
		out := c.like(t, t.Shape)
		copy(out.Ints, t.Ints)
		for i := range out.Ints {
			if c.has(1) {
				out.Ints[i] = max(out.Ints[i], c.scalar(1).Ints[0])
			}
			if c.has(2) {
				out.Ints[i] = min(out.Ints[i], c.scalar(2).Ints[0])
			}
		}
		return []*Tensor{out}
	}
	lo, hi := float32(math.Inf(-1)), float32(math.Inf(1))
	if c.has(1) {
		c.scalar(1)
		lo = c.floats(1)[0]
	}
	if c.has(2) {
		c.scalar(2)
		hi = c.floats(2)[0]
	}
	out := c.like(t, t.Shape)
	for i, v := range c.floats(0) {
		out.Floats[i] = min(max(v, lo), hi)
	}
	return []*Tensor{out}
}

// scalar returns input i, which must have one element and the type of input 0.
func (c *call) scalar(i int) *Tensor {
	t := c.input(i)
	if t.Elements() != 1 || t.DType != c.input(0).DType {
		c.fail("input %d is of %v %d, want one element of %v", i, t.DType, t.Shape, c.input(0).DType)
	}
	return t
}
