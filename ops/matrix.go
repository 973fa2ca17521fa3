package ops

import "fmt"

// Matrix is a row-major view of float32: row i is
// Data[i*Stride : i*Stride+Cols].
type Matrix struct {
	Data               []float32
	Rows, Cols, Stride int
}

const (
	panel   = 32 // columns of a packed weight panel; rows are padded to it
	stagger = 16 // floats added so that rows do not share cache sets
)

// Stride is the row stride of a matrix of cols columns that suits the
// kernels: padded to whole panels and not a power of two.
func Stride(cols int) int { return (cols+panel-1)/panel*panel + stagger }

// NewMatrix returns a zero matrix with the stride of [Stride].
func NewMatrix(rows, cols int) Matrix {
	stride := Stride(cols)
	return Matrix{make([]float32, rows*stride), rows, cols, stride}
}

// Row is row i.
func (m Matrix) Row(i int) []float32 {
	o := i * m.Stride
	return m.Data[o : o+m.Cols : o+m.Cols]
}

// Head is the view of the first rows of m.
func (m Matrix) Head(rows int) Matrix {
	if rows > m.Rows {
		panic(fmt.Sprintf("ops: %d rows of a matrix of %d", rows, m.Rows))
	}
	m.Rows = rows
	return m
}

// Slice is the view of rows lo to hi.
func (m Matrix) Slice(lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Rows {
		panic(fmt.Sprintf("ops: rows %d:%d of a matrix of %d", lo, hi, m.Rows))
	}
	if lo < hi {
		m.Data = m.Data[lo*m.Stride:]
	}
	m.Rows = hi - lo
	return m
}

// Columns is the view of columns lo to hi of every row.
func (m Matrix) Columns(lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Cols {
		panic(fmt.Sprintf("ops: columns %d:%d of a matrix of %d", lo, hi, m.Cols))
	}
	if m.Rows > 0 {
		m.Data = m.Data[lo:]
	}
	m.Cols = hi - lo
	return m
}

func sameShape(op string, a, b Matrix) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		panic(fmt.Sprintf("ops: %s: shapes [%d %d] and [%d %d] differ", op, a.Rows, a.Cols, b.Rows, b.Cols))
	}
}

func wantShape(op string, m Matrix, rows, cols int) {
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("ops: %s: shape [%d %d], want [%d %d]", op, m.Rows, m.Cols, rows, cols))
	}
}
