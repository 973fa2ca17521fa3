package ops

import (
	"fmt"
	"time"

	"memsizer/simd"
)

// Linear is y = W x + b, or several of them stacked into one (q, k and v of
// an attention), packed for the kernels. Float weights are multiplied as they
// are and accumulated in float32; bfloat16 ones take activations rounded to
// bfloat16, int8 ones activations quantised per row.
type Linear struct {
	In, Out int
	dtype   DType
	f32     []float32
	half    []uint16 // F16 or BF16
	i8      []int8
	scale   []float32
	comp    []int32
	bias    []float32
}

// NewLinear packs the rows of all parts, one below the other, with their
// biases concatenated (nil means none). All parts have the same columns;
// parts of different element types are packed as float32.
func NewLinear(parts []*Weights, bias []float32) *Linear {
	l := &Linear{In: parts[0].Cols, bias: bias, dtype: parts[0].DType}
	for _, p := range parts {
		if p.Cols != l.In {
			panic(fmt.Sprintf("ops: linear: part has %d columns, want %d", p.Cols, l.In))
		}
		if p.DType != l.dtype {
			l.dtype = F32
		}
		l.Out += p.Rows
	}
	if bias != nil && len(bias) != l.Out {
		panic(fmt.Sprintf("ops: linear: %d biases, want %d", len(bias), l.Out))
	}
	if l.dtype == I8 && l.In > simd.MaxI8Columns {
		l.dtype = F32
	}
	l.pack(parts)
	return l
}

func (l *Linear) pack(parts []*Weights) {
	n, k := l.Out, l.In
	switch l.dtype {
	case F32:
		l.f32 = allocate[float32](l, simd.PackedLen(n, k))
	case F16:
		l.half = allocate[uint16](l, simd.PackedLen(n, k))
	case BF16:
		l.half = allocate[uint16](l, simd.PackedLenBF16(n, k))
	case I8:
		l.i8 = allocate[int8](l, simd.PackedLenI8(n, k))
		l.comp = make([]int32, simd.Panels(n)*simd.Panel)
		l.scale = make([]float32, simd.Panels(n)*simd.Panel)
	}
	pack(l, parts)
}

// DType is the element type that the weights are multiplied as.
func (l *Linear) DType() DType { return l.dtype }

// Bytes is the size of the packed weights.
func (l *Linear) Bytes() int { return 4*len(l.f32) + 2*len(l.half) + len(l.i8) }

// Linear computes dst = x Wᵀ + b: dst [R, Out], x [R, In]. dst must not
// alias x.
func (c *CPU) Linear(dst Matrix, l *Linear, x Matrix) {
	c.linear(dst, l, x, simd.Epilogue{Bias: l.bias})
}

// LinearActivation computes dst = act(x Wᵀ + b).
func (c *CPU) LinearActivation(dst Matrix, l *Linear, x Matrix, act Activation) {
	c.linear(dst, l, x, simd.Epilogue{Bias: l.bias, Activation: act})
}

// LinearAdd computes dst = residual + x Wᵀ + b, the residual connection. dst
// must alias neither x nor residual.
func (c *CPU) LinearAdd(dst Matrix, l *Linear, x, residual Matrix) {
	sameShape("linear", dst, residual)
	c.linear(dst, l, x, simd.Epilogue{Bias: l.bias, Residual: residual.Data, LdResidual: residual.Stride})
}

func (c *CPU) linear(dst Matrix, l *Linear, x Matrix, e simd.Epilogue) {
	wantShape("linear", dst, x.Rows, l.Out)
	wantShape("linear", x, x.Rows, l.In)
	if x.Rows == 0 {
		return
	}
	if c.profile == nil {
		c.multiply(dst, l, x, e)
		return
	}
	c.Begin(PhaseLinear)
	start := time.Now()
	c.multiply(dst, l, x, e)
	c.profile.product(Product{Rows: x.Rows, Out: l.Out, In: l.In, DType: l.dtype}, l.Bytes(), start)
	c.End()
}

func (c *CPU) multiply(dst Matrix, l *Linear, x Matrix, e simd.Epilogue) {
	m, n, k := x.Rows, l.Out, l.In
	t := &c.product
	*t = product{l: l, dst: dst, x: x, e: e}
	switch l.dtype {
	case BF16:
		t.ld = Stride(k)
		t.rounded = growTo(&c.rounded, m*t.ld)
		simd.RoundRowsBF16(t.rounded, t.ld, x.Data, x.Stride, m, k)
	case I8:
		t.ld = (k+3)/4*4 + 64
		t.quantized = growTo(&c.quantized, m*t.ld)
		t.scales = growTo(&c.scales, m)
		simd.QuantizeRows(t.quantized, t.ld, t.scales, x.Data, x.Stride, m, k)
	}
	if c.pool == nil || m*n*k < minShared {
		t.whole()
		return
	}
	c.pool.run(t)
}

// elementSize is the bytes of a packed weight.
func (l *Linear) elementSize() int {
	switch l.dtype {
	case F32:
		return 4
	case I8:
		return 1
	}
	return 2
}
