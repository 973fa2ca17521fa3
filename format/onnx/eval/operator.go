package eval

import (
	"fmt"
	"maps"
	"slices"

	"memsizer/format/onnx"
)

// call is one application of an operator.
type call struct {
	node  *onnx.Node
	in    []*Tensor // nil where an optional input is absent
	opset int64
	limit int
	outer scope // values around the node, for subgraphs
}

// scope looks up the values that a subgraph may use from outside.
type scope interface {
	lookup(name string) *Tensor
}

// failure is an error on its way out of an operator.
type failure struct{ error }

// fail ends the operator with an error.
func (c *call) fail(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

func (c *call) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// input returns input i, which must be there.
func (c *call) input(i int) *Tensor {
	if i >= len(c.in) || c.in[i] == nil {
		c.fail("input %d is absent", i)
	}
	return c.in[i]
}

// has reports whether input i is there.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// floats returns the elements of input i, which must be floats.
func (c *call) floats(i int) []float32 {
	t := c.input(i)
	if !t.DType.IsFloat() {
		c.fail("input %d is of %v, want floats", i, t.DType)
	}
	if t.view != nil {
		c.room(t.Shape)
	}
	v, err := t.Values()
	c.must(err)
	return v
}

// ints returns the elements of input i, which must be integers.
func (c *call) ints(i int) []int64 {
	t := c.input(i)
	if t.DType.IsFloat() {
		c.fail("input %d is of %v, want integers", i, t.DType)
	}
	return t.Ints
}

// room checks that a tensor of shape may be allocated.
func (c *call) room(shape []int) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			c.fail("shape %d", shape)
		}
		if d != 0 && n > c.limit/d {
			c.fail("a tensor of shape %d is larger than %d elements", shape, c.limit)
		}
		n *= d
	}
}

// like makes a tensor with the type of t.
func (c *call) like(t *Tensor, shape []int) *Tensor {
	c.room(shape)
	return t.like(shape)
}

// typed makes a tensor of a type.
func (c *call) typed(d onnx.DType, shape []int) *Tensor {
	c.room(shape)
	if !d.IsFloat() && !d.IsInteger() {
		c.fail("a tensor of %v", d)
	}
	t := &Tensor{DType: d, Shape: slices.Clone(shape)}
	t.alloc()
	return t
}

// axis returns an axis, counted from the end if negative.
func (c *call) axis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		c.fail("axis %d of %d dimensions", a, rank)
	}
	return int(a)
}

// axes returns the axes of input i, else of attribute "axes", else nil.
func (c *call) axes(i int, rank int) []int {
	var list []int64
	if a := c.node.Attribute("axes"); a != nil {
		list = a.Ints()
	} else if c.has(i) {
		list = c.ints(i)
	}
	if list == nil {
		return nil
	}
	axes := make([]int, len(list))
	for j, a := range list {
		axes[j] = c.axis(a, rank)
	}
	slices.Sort(axes)
	return slices.Compact(axes)
}

// text returns the string attribute called name, or value.
func (c *call) text(name, value string) string {
	if a := c.node.Attribute(name); a != nil && a.Type == onnx.AttributeString {
		return a.Text()
	}
	return value
}

type operator func(*call) []*Tensor

var operators map[string]operator

func init() {
	operators = map[string]operator{
		"Constant": constant, "ConstantOfShape": constantOfShape, "Range": rangeOp, "EyeLike": eyeLike,
		"Identity": identity, "Dropout": dropout, "Cast": cast, "CastLike": castLike,
		"Shape": shapeOp, "Size": sizeOp, "Reshape": reshape, "Flatten": flatten, "Transpose": transpose,
		"Unsqueeze": unsqueeze, "Squeeze": squeeze, "Expand": expand, "Tile": tile, "Concat": concat,
		"Split": split, "Slice": sliceOp, "Trilu": trilu, "Pad": pad,
		"Gather": gather, "GatherElements": gatherElements, "GatherND": gatherND, "NonZero": nonZero,
		"ScatterND": scatterND, "ScatterElements": scatterElements, "OneHot": oneHot, "Where": where,
		"MatMul": matMul, "Gemm": gemm, "Einsum": einsum,
		"Softmax": softmax, "LogSoftmax": softmax, "LayerNormalization": layerNorm, "CumSum": cumSum,
		"ArgMax": argMax, "ArgMin": argMax, "If": ifOp,
		"IsNaN": isNaN, "IsInf": isInf, "Not": not, "Clip": clip,
	}
	for name := range unaries {
		operators[name] = unary
	}
	for name := range binaries {
		operators[name] = binary
	}
	for name := range reductions {
		operators[name] = reduce
	}
}

// Operators lists the operators of ai.onnx that the package executes.
func Operators() []string { return slices.Sorted(maps.Keys(operators)) }

// Knows reports whether the package executes the node's operator.
func Knows(n *onnx.Node) bool { return n.Domain == "" && operators[n.OpType] != nil }

// Apply executes one node on its inputs (nil for absent ones) under an opset.
// It is an error if an output would have more than limit elements.
func Apply(n *onnx.Node, in []*Tensor, opset int64, limit int) ([]*Tensor, error) {
	return apply(&call{node: n, in: in, opset: opset, limit: limit})
}

func apply(c *call) (out []*Tensor, err error) {
	if !Knows(c.node) {
		return nil, fmt.Errorf("eval: unknown operator")
	}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			out, err = nil, f.error
		default:
			panic(f)
		}
	}()
	out = operators[c.node.OpType](c)
	for _, t := range out {
		if t != nil && t.view == nil && (t.DType == onnx.Float16 || t.DType == onnx.BFloat16) && c.node.OpType != "Identity" {
			onnx.RoundTo(t.Floats, t.DType)
		}
	}
	return out, nil
}
