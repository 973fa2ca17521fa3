package recognize

import (
	"slices"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

var rules map[string]ruleFunc

func init() {
	rules = map[string]ruleFunc{
		"Identity": identity, "Dropout": identity, "Cast": cast, "CastLike": identity,
		"Reshape": reshape, "Flatten": flatten, "Transpose": transpose, "Unsqueeze": unsqueeze, "Squeeze": squeeze,
		"Expand": expand, "Tile": tile, "Slice": sliceRule, "Split": split, "Gather": gather, "Concat": concat,
		"Equal": equal, "Less": compareTokens, "LessOrEqual": compareTokens, "Greater": compareTokens, "GreaterOrEqual": compareTokens,
		"NonZero": nonZero, "GatherND": gatherND, "ScatterND": scatterND, "Not": not, "Or": or, "And": and, "Where": where, "IsNaN": isNaN,
		"CumSum": cumSum, "ReduceSum": reduceSum, "ReduceMean": reduceMean,
		"Add": add, "Sub": sub, "Mul": mul, "Div": div, "Pow": pow, "Sqrt": sqrt, "Reciprocal": reciprocal, "Neg": neg,
		"Relu": activation("relu"), "Tanh": tanh, "Erf": erf, "Sigmoid": activation("sigmoid"), "Gelu": gelu, "Swish": activation("swish"),
		"LayerNormalization": layerNorm, "MatMul": matMul, "Gemm": gemm, "Einsum": einsum,
		"Softmax": softmax, "LogSoftmax": logSoftmax, "Sin": sinusoid, "Cos": sinusoid,
	}
}

// arity is how many inputs an operator must have, if more than one.
var arity = map[string]int{
	"Reshape": 2, "Expand": 2, "Tile": 2, "Slice": 3, "Gather": 2, "CastLike": 2, "Equal": 2, "Or": 2, "And": 2, "Where": 3, "CumSum": 2,
	"Add": 2, "Sub": 2, "Mul": 2, "Div": 2, "Pow": 2, "LayerNormalization": 2, "MatMul": 2, "Gemm": 2,
	"Less": 2, "LessOrEqual": 2, "Greater": 2, "GreaterOrEqual": 2, "GatherND": 2, "ScatterND": 3,
}

func identity(r *rule) []*value {
	if len(r.in) > 2 && r.in[2] != nil {
		if t, ok := r.in[2].scalar(); !ok || t != 0 {
			return nil // dropout in training
		}
	}
	return r.same(r.in[0], r.in[0].layout)
}

// cast keeps a meaning between floats, and that of counts, ids and masks
// between all types.
func cast(r *rule) []*value {
	v := r.in[0]
	if to := onnx.DType(r.node.Int("to", 0)); !to.IsFloat() {
		switch v.meaning.(type) {
		case *tokens, *padding, *count, *length, *running, *positions, *mask, *external, *band, *bandTokens, *bandIndex:
		default:
			return nil
		}
	}
	return r.same(v, v.layout)
}

func (r *rule) reshaped(v *value, shape []int) []*value {
	l, ok := v.layout.reshape(shape)
	if !ok {
		return nil
	}
	return r.same(v, l)
}

func reshape(r *rule) []*value {
	want, ok := r.in[1].ints()
	if !ok {
		return nil
	}
	shape, ok := eval.ReshapeTo(r.in[0].shape(), want, r.node.Int("allowzero", 0) != 0)
	if !ok {
		r.hint = "a reshape to as many elements (were sizes fixed when the model was exported?)"
		return nil
	}
	r.hint = "a reshape that keeps heads, positions and sentences apart"
	return r.reshaped(r.in[0], shape)
}

func flatten(r *rule) []*value {
	shape := r.in[0].shape()
	a := int(r.node.Int("axis", 1))
	if a < 0 {
		a += len(shape)
	}
	if a < 0 || a > len(shape) {
		return nil
	}
	n, m := 1, 1
	for i, d := range shape {
		if i < a {
			n *= d
		} else {
			m *= d
		}
	}
	return r.reshaped(r.in[0], []int{n, m})
}

func transpose(r *rule) []*value {
	perm, ok := eval.Permutation(r.node, len(r.in[0].layout))
	if !ok {
		return nil
	}
	return r.same(r.in[0], r.in[0].layout.transpose(perm))
}

// axes returns the axes of input i or attribute "axes", counted from the
// front.
func (r *rule) axes(i, rank int) ([]int, bool) {
	var list []int64
	if a := r.node.Attribute("axes"); a != nil {
		list = a.Ints()
	} else if i < len(r.in) && r.in[i] != nil {
		var ok bool
		if list, ok = r.in[i].ints(); !ok {
			return nil, false
		}
	}
	out := make([]int, 0, len(list))
	for _, a := range list {
		if a < 0 {
			a += int64(rank)
		}
		if a < 0 || a >= int64(rank) || slices.Contains(out, int(a)) {
			return nil, false
		}
		out = append(out, int(a))
	}
	return out, true
}

func unsqueeze(r *rule) []*value {
	v := r.in[0]
	var n int
	if a := r.node.Attribute("axes"); a != nil {
		n = len(a.Ints())
	} else if len(r.in) > 1 {
		list, _ := r.in[1].ints()
		n = len(list)
	}
	rank := len(v.layout) + n
	axes, ok := r.axes(1, rank)
	if !ok || rank > 64 {
		return nil
	}
	var l layout
	rest := v.layout
	for i := range rank {
		if slices.Contains(axes, i) {
			l = append(l, nil)
		} else {
			l, rest = append(l, rest[0]), rest[1:]
		}
	}
	return r.same(v, l)
}

func squeeze(r *rule) []*value {
	v := r.in[0]
	axes, ok := r.axes(1, len(v.layout))
	if !ok {
		return nil
	}
	l := layout{}
	for i, d := range v.layout {
		switch {
		case len(axes) == 0 && len(d) == 0:
		case slices.Contains(axes, i) && len(d) > 0:
			return nil
		case !slices.Contains(axes, i):
			l = append(l, d)
		}
	}
	return r.same(v, l)
}

// repeated gives dimensions of one element n copies.
func (r *rule) repeated(v *value, shape []int64) []*value {
	l := slices.Clone(v.layout)
	for len(l) < len(shape) {
		l = slices.Insert(l, 0, dim(nil))
	}
	for i, n := range shape {
		j := len(l) - len(shape) + i
		if n > 1 && len(l[j]) == 0 {
			s := &symbol{kind: repeatAxis, size: int(n)}
			l[j] = dim{s.whole()}
		} else if n != 1 && int(n) != l[j].size() {
			return nil
		}
	}
	return r.same(v, l)
}

func expand(r *rule) []*value {
	shape, ok := r.in[1].ints()
	if !ok || len(shape) > 64 {
		return nil
	}
	return r.repeated(r.in[0], shape)
}

func tile(r *rule) []*value {
	repeats, ok := r.in[1].ints()
	if !ok || len(repeats) != len(r.in[0].layout) {
		return nil
	}
	shape := slices.Clone(repeats)
	for i, n := range repeats {
		d := r.in[0].layout[i].size()
		if n != 1 && d != 1 {
			return nil
		}
		shape[i] = n * int64(d)
	}
	return r.repeated(r.in[0], shape)
}
