package ops

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/x448/float16"
)

// DType is the element type of stored weights.
type DType uint8

const (
	F32 DType = iota
	F16
	BF16
	I8
)

// Weights are a stored matrix [Rows, Cols], row-major little-endian, as a
// file holds it. Scales has one entry per row for I8 and is nil otherwise.
type Weights struct {
	DType      DType
	Rows, Cols int
	Data       []byte
	Scales     []float32
}

// Row writes row i, converted to float32, to dst [Cols].
func (w *Weights) Row(dst []float32, i int) {
	if len(dst) != w.Cols || i < 0 || i >= w.Rows {
		panic(fmt.Sprintf("ops: row %d of [%d %d] into %d floats", i, w.Rows, w.Cols, len(dst)))
	}
	switch w.DType {
	case F32:
		d := w.Data[i*w.Cols*4:]
		for j := range dst {
			dst[j] = math.Float32frombits(binary.LittleEndian.Uint32(d[4*j:]))
		}
	case F16:
		d := w.Data[i*w.Cols*2:]
		for j := range dst {
			dst[j] = float16.Frombits(binary.LittleEndian.Uint16(d[2*j:])).Float32()
		}
	case BF16:
		d := w.Data[i*w.Cols*2:]
		for j := range dst {
			dst[j] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(d[2*j:])) << 16)
		}
	case I8:
		d := w.Data[i*w.Cols:]
		for j := range dst {
			dst[j] = float32(int8(d[j])) * w.Scales[i]
		}
	}
}

// Floats converts the whole matrix.
func (w *Weights) Floats() []float32 {
	out := make([]float32, w.Rows*w.Cols)
	for i := range w.Rows {
		w.Row(out[i*w.Cols:(i+1)*w.Cols], i)
	}
	return out
}

// Linear is y = W x + b, or several of them stacked into one (q, k and v of
// an attention), packed for this processor.
type Linear struct {
	In, Out int
	w       []float32
	bias    []float32
}

// NewLinear packs the rows of all parts, one below the other, with their
// biases concatenated (nil means none). All parts have the same columns.
func NewLinear(parts []*Weights, bias []float32) *Linear {
	l := &Linear{In: parts[0].Cols, bias: bias}
	for _, p := range parts {
		if p.Cols != l.In {
			panic(fmt.Sprintf("ops: linear: part has %d columns, want %d", p.Cols, l.In))
		}
		l.Out += p.Rows
		l.w = append(l.w, p.Floats()...)
	}
	if bias != nil && len(bias) != l.Out {
		panic(fmt.Sprintf("ops: linear: %d biases, want %d", len(bias), l.Out))
	}
	return l
}

// Linear computes dst = x Wᵀ + b: dst [R, Out], x [R, In]. dst must not
// alias x.
func (c *CPU) Linear(dst Matrix, l *Linear, x Matrix) {
	c.linear(dst, l, x)
}

// LinearActivation computes dst = act(x Wᵀ + b).
func (c *CPU) LinearActivation(dst Matrix, l *Linear, x Matrix, act Activation) {
	c.linear(dst, l, x)
	for i := range dst.Rows {
		act.apply(dst.Row(i))
	}
}

// LinearAdd computes dst += x Wᵀ + b, the residual connection.
func (c *CPU) LinearAdd(dst Matrix, l *Linear, x Matrix) {
	wantShape("linear", dst, x.Rows, l.Out)
	wantShape("linear", x, x.Rows, l.In)
	for i := range x.Rows {
		l.row(dst.Row(i), x.Row(i), true)
	}
}

func (c *CPU) linear(dst Matrix, l *Linear, x Matrix) {
	wantShape("linear", dst, x.Rows, l.Out)
	wantShape("linear", x, x.Rows, l.In)
	for i := range x.Rows {
		l.row(dst.Row(i), x.Row(i), false)
	}
}

func (l *Linear) row(dst, x []float32, add bool) {
	for j := range dst {
		w := l.w[j*l.In : (j+1)*l.In]
		var s float32
		for k, v := range x {
			s += v * w[k]
		}
		if l.bias != nil {
			s += l.bias[j]
		}
		if add {
			s += dst[j]
		}
		dst[j] = s
	}
}

// Transposed is the matrix [Cols, Rows] as float32 weights.
func (w *Weights) Transposed() *Weights {
	t := &Weights{DType: F32, Rows: w.Cols, Cols: w.Rows, Data: make([]byte, 4*w.Rows*w.Cols)}
	row := make([]float32, w.Cols)
	for i := range w.Rows {
		w.Row(row, i)
		for j, v := range row {
			binary.LittleEndian.PutUint32(t.Data[4*(j*w.Rows+i):], math.Float32bits(v))
		}
	}
	return t
}
