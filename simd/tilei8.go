//go:build !purego && (amd64 || arm64)

package simd

import "unsafe"

// tileI8Func is a micro-kernel for int8: as tileFunc, with all of k at once. The sums start at comp and are
// stored as (float32(sum)·sa)·sw. After k steps, tiles of several panels do klast more, which prefetch at pflast.
type tileI8Func func(a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, comp *byte, sw *byte, sa *byte, pf int, pfs int, klast int, pflast int)

// tilesI8 are the micro-kernels of int8 of one instruction set.
type tilesI8 struct {
	rows int            // of the largest tile
	one  [15]tileI8Func // one panel, by rows
	half [15]tileI8Func // half a panel, by rows; called twice where one is nil
	few  [5]tileI8Func  // several panels, by rows
	fewN [5]int         // how many
	pair [7]tileI8Func  // two panels, by rows, where few has none
}

// stepI8 is the length of a step of a panel: 32 columns of four bytes.
const stepI8 = 4 * Panel

// productI8 is one call of matMulI8. ldd in elements, ldc in bytes, k in steps of four columns.
type productI8 struct {
	dst          []float32
	ldd          int
	c, a, w      unsafe.Pointer
	ldc, lda     int
	comp, sw, sa unsafe.Pointer
	m, n, k      int
	p0, p1       int
	e            *Epilogue
}

func (t *tilesI8) run(p *productI8) {
	full := min(p.p1, p.n/Panel)
	parts := rowParts(p.m, t.rows, 4*p.k)
	for i := range parts {
		t.blocks(p, i*p.m/parts, (i+1)*p.m/parts, full)
	}
	if full < p.p1 {
		t.lastPanel(p, full)
	}
}

// blocks computes the whole panels for rows [m0,m1). Several row blocks share the prefetching of the next panel
// evenly.
func (t *tilesI8) blocks(p *productI8, m0, m1, end int) {
	nb := per(m1-m0, t.rows)
	for i := p.p0; i < end; {
		next := i + 1
		if f, n := t.several(p.m); f != nil && i+n <= end {
			next = i + n
			panel := p.k * stepI8
			last := min(p.k, ahead/stepI8)
			callTileI8(f, p.a, p.lda, unsafe.Add(p.w, i*panel), panel, unsafe.Add(p.c, i*Panel*4), p.ldc, p.k-last,
				unsafe.Add(p.comp, i*Panel*4), unsafe.Add(p.sw, i*Panel*4), p.sa, ahead, stepI8, last, (next-i)*panel-(p.k-last)*stepI8)
		} else {
			for b := range nb {
				r0, r1 := m0+b*(m1-m0)/nb, m0+(b+1)*(m1-m0)/nb
				pf := ahead
				if nb > 1 { // this row block's part of the next panel
					pf = p.k*stepI8 + b*p.k*stepI8/nb
				}
				t.panel(p, i, r0, r1, unsafe.Add(p.c, r0*p.ldc+i*Panel*4), p.ldc, pf, per(stepI8, nb))
			}
		}
		p.e.apply(p.dst, p.ldd, m0, m1, i*Panel, next*Panel)
		i = next
	}
}

// several is the tile of several panels for m rows and their number; nil if there is none.
func (t *tilesI8) several(m int) (tileI8Func, int) {
	switch {
	case m < len(t.few) && t.few[m] != nil:
		return t.few[m], t.fewN[m]
	case m < len(t.pair):
		return t.pair[m], 2
	}
	return nil, 0
}

// panel computes panel i of rows [r0,r1) into c.
func (t *tilesI8) panel(p *productI8, i, r0, r1 int, c unsafe.Pointer, ldc, pf, pfs int) {
	a, w := unsafe.Add(p.a, r0*p.lda), unsafe.Add(p.w, i*p.k*stepI8)
	comp, sw, sa := unsafe.Add(p.comp, i*Panel*4), unsafe.Add(p.sw, i*Panel*4), unsafe.Add(p.sa, r0*4)
	if f := t.one[r1-r0]; f != nil {
		callTileI8(f, a, p.lda, w, 0, c, ldc, p.k, comp, sw, sa, pf, pfs, 0, 0)
		return
	}
	const h = Panel / 2 * 4
	f := t.half[r1-r0]
	callTileI8(f, a, p.lda, w, 0, c, ldc, p.k, comp, sw, sa, pf, pfs, 0, 0)
	callTileI8(f, a, p.lda, unsafe.Add(w, stepI8/2), 0, unsafe.Add(c, h), ldc, p.k, unsafe.Add(comp, h), unsafe.Add(sw, h), sa, 0, 0, 0, 0)
}

// lastPanel computes a panel of fewer than 32 columns beside dst and copies what belongs there.
func (t *tilesI8) lastPanel(p *productI8, i int) {
	sums := sumsScratch.get()
	defer sumsScratch.put(sums)
	for r := 0; r < p.m; r += t.rows {
		rows := min(t.rows, p.m-r)
		t.panel(p, i, r, r+rows, unsafe.Pointer(sums), Panel*4, 0, 0)
		for j := range rows {
			copy(p.dst[(r+j)*p.ldd+i*Panel:(r+j)*p.ldd+p.n], sums[j*Panel:])
		}
	}
	p.e.apply(p.dst, p.ldd, 0, p.m, i*Panel, p.n)
}

//go:noinline
func callTileI8(f tileI8Func, a unsafe.Pointer, lda int, w unsafe.Pointer, wstride int, c unsafe.Pointer, ldc, k int, comp, sw, sa unsafe.Pointer, pf, pfs, klast, pflast int) {
	f((*byte)(a), lda, (*byte)(w), wstride, (*byte)(c), ldc, k, (*byte)(comp), (*byte)(sw), (*byte)(sa), pf, pfs, klast, pflast)
}
