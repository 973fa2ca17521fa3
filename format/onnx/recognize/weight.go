package recognize

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"memsizer/format/onnx/eval"
)

// sums remembers the digests of weights that were compared.
type sums map[*eval.Tensor][sha256.Size]byte

// weight is a constant that becomes (part of) a tensor of the model, in its
// canonical orientation: [out, in] for matrices.
type weight struct{ *eval.Tensor }

// transposed swaps the two dimensions of a matrix.
func (w weight) transposed() weight {
	if v := w.View(); v != nil {
		return weight{eval.FromView(v.Transpose([]int{1, 0}))}
	}
	rows, cols := w.Shape[0], w.Shape[1]
	data := make([]float32, len(w.Floats))
	for r := range rows {
		for c := range cols {
			data[c*rows+r] = w.Floats[r*cols+c]
		}
	}
	return weight{&eval.Tensor{DType: w.DType, Shape: []int{cols, rows}, Floats: data}}
}

// rows takes n rows of a matrix, or elements of a vector, from start on.
func (w weight) rows(start, n int) weight {
	shape := append([]int{n}, w.Shape[1:]...)
	if v := w.View(); v != nil {
		return weight{eval.FromView(v.Slice(0, int64(start), 1, int64(n)))}
	}
	row := len(w.Floats) / max(1, w.Shape[0])
	return weight{&eval.Tensor{DType: w.DType, Shape: shape, Floats: w.Floats[start*row : (start+n)*row]}}
}

// reshaped gives the weight another shape of as many elements.
func (w weight) reshaped(shape ...int) (weight, bool) {
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	if v := w.View(); v != nil {
		u, ok := v.Reshape(dims)
		return weight{eval.FromView(u)}, ok
	}
	return weight{&eval.Tensor{DType: w.DType, Shape: shape, Floats: w.Floats}}, true
}

// shape is the weight's, nil for none.
func (w weight) shape() []int {
	if w.Tensor == nil {
		return nil
	}
	return w.Shape
}

// source is the tensor's name in the file, "" if the graph computes it.
func (w weight) source() string {
	if v := w.View(); v != nil {
		return v.Tensor().Name
	}
	return ""
}

// stored is the element type in the file.
func (w weight) stored() string {
	if v := w.View(); v != nil {
		return v.Tensor().DType.String()
	}
	return w.DType.String()
}

// stream calls fn with the elements in row-major order.
func (w weight) stream(fn func([]float32) error) error {
	if v := w.View(); v != nil {
		return v.Stream(fn)
	}
	return fn(w.Floats)
}

// equal reports whether two weights are the same part of a file or hold the
// same bits. known remembers what was read for that.
func (w weight) equal(u weight, known sums) (bool, error) {
	if len(w.Shape) != len(u.Shape) {
		return false, nil
	}
	for i := range w.Shape {
		if w.Shape[i] != u.Shape[i] {
			return false, nil
		}
	}
	if w.Tensor == u.Tensor || w.View() != nil && u.View() != nil && w.View().Same(*u.View()) {
		return true, nil
	}
	a, err := w.sum(known)
	if err != nil {
		return false, err
	}
	b, err := u.sum(known)
	return a == b, err
}

func (w weight) sum(known sums) (sum [sha256.Size]byte, err error) {
	if s, ok := known[w.Tensor]; ok {
		return s, nil
	}
	h := sha256.New()
	var buf []byte
	err = w.stream(func(c []float32) error {
		buf = buf[:0]
		for _, x := range c {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		h.Write(buf)
		return nil
	})
	h.Sum(sum[:0])
	known[w.Tensor] = sum
	return sum, err
}
