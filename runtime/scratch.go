package runtime

import "memsizer/ops"

// scratch is the working memory of one goroutine. Each method hands out the
// one buffer of its name, grown when it must; two results of the same method
// overlap, those of different methods do not.
type scratch struct {
	w, n, in, e ops.Matrix
	x, y        ops.Matrix
	out, tail   ops.Matrix
	r           []float32
	z           []int32
	memory      *ops.Memory
}

func (s *scratch) wide(rows, cols int) ops.Matrix   { return reuse(&s.w, rows, cols) }
func (s *scratch) narrow(rows, cols int) ops.Matrix { return reuse(&s.n, rows, cols) }
func (s *scratch) input(rows, cols int) ops.Matrix  { return reuse(&s.in, rows, cols) }
func (s *scratch) rowsOf(rows, cols int) ops.Matrix { return reuse(&s.e, rows, cols) }
func (s *scratch) logits(rows, cols int) ops.Matrix { return reuse(&s.out, rows, cols) }
func (s *scratch) tails(rows, cols int) ops.Matrix  { return reuse(&s.tail, rows, cols) }

func (s *scratch) hidden(rows, cols int) hidden {
	return hidden{reuse(&s.x, rows, cols), reuse(&s.y, rows, cols)}
}

// reserve makes the buffers that the encoder uses as large as batches of n
// tokens need, so that a larger batch than before does not replace them: the
// memory of a long run stays what it is after the first batches.
func (s *scratch) reserve(e *encoder, n int) {
	s.hidden(n, e.dim)
	s.narrow(n, e.dim)
	s.input(n, e.dim)
	wide := 3 * e.dim
	for i := range e.layers {
		wide = max(wide, e.layers[i].ffn.fc1.Out)
	}
	s.wide(n, wide)
}

func (s *scratch) row(n int) []float32 {
	if cap(s.r) < n {
		s.r = make([]float32, n)
	}
	return s.r[:n]
}

func (s *scratch) zeros(n int) []int32 {
	if len(s.z) < n {
		s.z = make([]int32, n+n/2)
	}
	return s.z[:n]
}

func reuse(m *ops.Matrix, rows, cols int) ops.Matrix {
	stride := ops.Stride(cols)
	if len(m.Data) < rows*stride {
		*m = ops.NewMatrix(rows+rows/4, cols)
	}
	return ops.Matrix{Data: m.Data, Rows: rows, Cols: cols, Stride: stride}
}
