package ops

import (
	"memsizer/simd"
)

// product is one call of linear, cut into tiles of per panels.
type product struct {
	l         *Linear
	dst, x    Matrix
	e         simd.Epilogue
	part      simd.Epilogue // of the tile being computed
	per       int
	ld        int // of rounded or quantized
	rounded   []uint16
	quantized []uint8
	scales    []float32
}

const (
	minShared = 128 << 10 // multiplications below which a product is not shared
	tileTime  = 40000     // nanoseconds that a tile takes, about
	perCore   = 4         // tiles of a small product
)

// cut chooses the tiles for a number of cores: small enough that nobody waits
// long for the last one, and whole groups of the panels that the kernels for
// few rows take together.
func (t *product) cut(cores int) {
	panels, k, m := simd.Panels(t.l.Out), t.l.In, t.x.Rows
	// The time of a panel: 16 bytes of weights or 64 multiplications each
	// nanosecond.
	cost := simd.Panel * k * max(t.l.elementSize()*4, m) / 64
	group := 1
	switch {
	case m <= 2:
		group = 4
	case m <= 6:
		group = 2
	}
	per := max(min(tileTime/max(cost, 1), panels/(perCore*cores)), (panels+maxTiles-1)/maxTiles, 1)
	t.per = (per + group - 1) / group * group
}

func (t *product) tiles() int { return (simd.Panels(t.l.Out) + t.per - 1) / t.per }

// span is the panels and the number of columns of tile i.
func (t *product) span(i int) (p0, p1, columns int) {
	p0 = i * t.per
	p1 = min(p0+t.per, simd.Panels(t.l.Out))
	return p0, p1, min(p1*simd.Panel, t.l.Out) - p0*simd.Panel
}

// whole computes all columns.
func (t *product) whole() {
	t.panels(0, simd.Panels(t.l.Out), t.dst.Data, t.dst.Stride, &t.e)
}

// tile computes the columns of tile i.
func (t *product) tile(i int) {
	p0, p1, _ := t.span(i)
	t.part = t.epilogue(i)
	t.panels(p0, p1, t.dst.Data[p0*simd.Panel:], t.dst.Stride, &t.part)
}

// size is the room that tile i needs elsewhere, in elements.
func (t *product) size(i int) int {
	_, _, n := t.span(i)
	return t.x.Rows * Stride(n)
}

// aside computes tile i into dst, which has the size of [product.size]. e is
// scratch.
func (t *product) aside(i int, dst []float32, e *simd.Epilogue) {
	p0, p1, n := t.span(i)
	*e = t.epilogue(i)
	t.panels(p0, p1, dst, Stride(n), e)
}

// put copies tile i from where aside wrote it.
func (t *product) put(i int, from []float32) {
	p0, _, n := t.span(i)
	ld := Stride(n)
	for r := range t.dst.Rows {
		copy(t.dst.Row(r)[p0*simd.Panel:], from[r*ld:r*ld+n])
	}
}

// epilogue is that of the columns of tile i.
func (t *product) epilogue(i int) simd.Epilogue {
	p0, _, n := t.span(i)
	e := t.e
	if e.Bias != nil {
		e.Bias = e.Bias[p0*simd.Panel:][:n]
	}
	if e.Residual != nil {
		e.Residual = e.Residual[p0*simd.Panel:]
	}
	return e
}

// panels computes panels p0 to p1 into dst, whose first column is that of p0.
func (t *product) panels(p0, p1 int, dst []float32, ldd int, e *simd.Epilogue) {
	l, x := t.l, t.x
	k, c0, c1 := l.In, p0*simd.Panel, p1*simd.Panel
	n := min(c1, l.Out) - c0
	switch l.dtype {
	case F32:
		simd.MatMulF32(dst, ldd, x.Data, x.Stride, x.Rows, l.f32[c0*k:c1*k], n, k, 0, p1-p0, e)
	case F16:
		simd.MatMulF16(dst, ldd, x.Data, x.Stride, x.Rows, l.half[c0*k:c1*k], n, k, 0, p1-p0, e)
	case BF16:
		k2 := (k + 1) &^ 1
		simd.MatMulBF16(dst, ldd, t.rounded, t.ld, x.Rows, l.half[c0*k2:c1*k2], n, k, 0, p1-p0, e)
	case I8:
		k4 := (k + 3) &^ 3
		simd.MatMulI8(dst, ldd, t.quantized, t.ld, t.scales, x.Rows, l.i8[c0*k4:c1*k4], l.scale[c0:], l.comp[c0:], n, k, 0, p1-p0, e)
	}
}
