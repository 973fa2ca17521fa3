//go:build !purego && (amd64 || arm64)

package simd

import "unsafe"

// tileFunc is a micro-kernel: rows × panels sums over k steps. a is the first row of activations, lda
// their stride; w the first panel at its first step, wstride the distance of the next panel; c the
// first sum, ldc the stride of rows; all strides in bytes. With resume ≠ 0 the sums continue from c. pf is the
// distance from w of the bytes to prefetch first, which move on by pfs each step. Rows and panels are part of the
// function's name.
type tileFunc func(a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, resume int, pf int, pfs int)

// tiles are the micro-kernels of one weight type and instruction set.
type tiles struct {
	rows  int          // of the largest tile
	step  int          // bytes of a panel in one step of k
	xstep int          // bytes of a row of activations in one step of k
	one   [15]tileFunc // one panel, by rows
	half  [15]tileFunc // half a panel, by rows; called twice where one is nil
	few   [5]tileFunc  // several panels, by rows
	fewN  [5]int       // how many
	pair  [7]tileFunc  // two panels, by rows, where few has none
	keep  [15]keepFunc // one panel or half a panel, by rows, that also stores the weights as float32
	wide  *tiles       // the float32 tiles for what keep has stored; nil: not used
}

// keepFunc is a tileFunc that stores the widened weights at wide.
type keepFunc func(a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, resume int, pf int, pfs int, wide *byte)

// product is one call of matMul for the tiles. Strides in bytes, k in steps.
type product struct {
	dst      []float32
	ldd      int // elements
	c, a, w  unsafe.Pointer
	ldc, lda int
	m, n, k  int
	p0, p1   int
	e        *Epilogue
}

// ahead is the distance in bytes of the software prefetch when a tile passes over its panels once.
const ahead = 8192

// block is the number of steps of k a tile runs when there are several row blocks: a block of the
// panel stays in the first or second cache while all rows pass.
const block = 512

// run computes the product.
func (t *tiles) run(p *product) {
	full := min(p.p1, p.n/Panel)
	switch {
	case p.m <= t.rows:
		for i := p.p0; i < full; {
			i = t.onePass(p, i, full)
		}
	default:
		parts := rowParts(p.m, t.rows, min(t.blockSteps(), p.k)*t.xstep)
		for i := range parts {
			t.blocks(p, i*p.m/parts, (i+1)*p.m/parts, full)
		}
	}
	if full < p.p1 {
		t.lastPanel(p, full)
	}
}

// onePass computes the panels from i on for all rows at once over all of k, and returns the panel after them.
func (t *tiles) onePass(p *product, i, end int) int {
	panel := p.k * t.step
	w := unsafe.Add(p.w, i*panel)
	c := unsafe.Add(p.c, i*Panel*4)
	next := i + 1
	if f, n := t.several(p.m); f != nil && i+n <= end {
		next = i + n
		// each panel is a stream: near their ends, fetch the beginnings of the panels after all of these
		last := min(p.k, ahead/t.step)
		k := p.k - last
		if k > 0 {
			callTile(f, p.a, p.lda, w, panel, c, p.ldc, k, 0, ahead, t.step)
		}
		callTile(f, unsafe.Add(p.a, k*t.xstep), p.lda, unsafe.Add(w, k*t.step), panel, c, p.ldc, last, k, (next-i)*panel-k*t.step, t.step)
	} else {
		t.panel(p.m, p.a, p.lda, w, c, p.ldc, p.k, 0, ahead, t.step)
	}
	p.e.apply(p.dst, p.ldd, 0, p.m, i*Panel, next*Panel)
	return next
}

// several is the tile of several panels for m rows and their number; nil if there is none.
func (t *tiles) several(m int) (tileFunc, int) {
	switch {
	case m < len(t.few) && t.few[m] != nil:
		return t.few[m], t.fewN[m]
	case m < len(t.pair):
		return t.pair[m], 2
	}
	return nil, 0
}

// panel runs the tile of one panel for m rows.
func (t *tiles) panel(m int, a unsafe.Pointer, lda int, w, c unsafe.Pointer, ldc, k, resume, pf, pfs int) {
	if f := t.one[m]; f != nil {
		callTile(f, a, lda, w, 0, c, ldc, k, resume, pf, pfs)
		return
	}
	callTile(t.half[m], a, lda, w, 0, c, ldc, k, resume, pf, pfs)
	callTile(t.half[m], a, lda, unsafe.Add(w, t.halfPanel()), 0, unsafe.Add(c, Panel/2*4), ldc, k, resume, 0, 0)
}

// halfPanel is the distance of the second 16 columns in a step.
func (t *tiles) halfPanel() int { return t.step / 2 }

// cached is the bytes of activations that stay in the second cache while panels pass.
const cached = 768 << 10

// rowParts is the number of even parts of m rows, each to pass all panels before the next does: so many that the
// rows of one stay in the cache, but of no fewer rows than a tile has, if there are as many. size is the bytes of a
// row that a panel meets.
func rowParts(m, rows, size int) int {
	return max(min(per(m*size, cached), m/rows), 1)
}

// blocks computes the panels for rows [m0,m1), at least as many as a tile has: blocks of k outside, then panels, then
// rows. The row blocks share the prefetching of the next panel evenly: memory is slower than the first of them
// would be.
func (t *tiles) blocks(p *product, m0, m1, end int) {
	nb := per(m1-m0, t.rows)
	var wide unsafe.Pointer
	if t.wide != nil {
		buffer := wideScratch.get()
		defer wideScratch.put(buffer)
		wide = unsafe.Pointer(buffer)
	}
	steps := t.blockSteps()
	for k0 := 0; k0 < p.k; k0 += steps {
		k := min(steps, p.k-k0)
		a := unsafe.Add(p.a, k0*t.xstep)
		for i := p.p0; i < end; i++ {
			w := unsafe.Add(p.w, (i*p.k+k0)*t.step)
			c := unsafe.Add(p.c, i*Panel*4)
			next := p.k * t.step
			if i+1 == end { // the first panel of the next block
				next = (p.p0-i)*p.k*t.step + k*t.step
			}
			for b := range nb {
				r0, r1 := m0+b*(m1-m0)/nb, m0+(b+1)*(m1-m0)/nb
				ab, cb := unsafe.Add(a, r0*p.lda), unsafe.Add(c, r0*p.ldc)
				pf := next + b*k*t.step/nb // this row block's part of the next panel
				switch {
				case wide == nil:
					t.panel(r1-r0, ab, p.lda, w, cb, p.ldc, k, k0, pf, per(t.step, nb))
				case b == 0:
					t.keepPanel(r1-r0, ab, p.lda, w, cb, p.ldc, k, k0, pf, per(t.step, nb), wide)
				default:
					kw := k * t.xstep / t.wide.xstep
					t.wide.panel(r1-r0, ab, p.lda, wide, cb, p.ldc, kw, k0, pf+int(uintptr(w)-uintptr(wide)), per(k*t.step, kw*nb))
				}
			}
			if k0+k == p.k {
				p.e.apply(p.dst, p.ldd, m0, m1, i*Panel, (i+1)*Panel)
			}
		}
	}
}

// per is n divided among parts, rounded up.
func per(n, parts int) int { return (n + parts - 1) / parts }

// blockSteps is the number of steps of which the widened weights fill a block.
func (t *tiles) blockSteps() int {
	if t.wide == nil {
		return block
	}
	return block * t.wide.xstep / t.xstep
}

// keepPanel runs the tile of one panel for m rows and stores the widened weights.
func (t *tiles) keepPanel(m int, a unsafe.Pointer, lda int, w, c unsafe.Pointer, ldc, k, resume, pf, pfs int, wide unsafe.Pointer) {
	f := t.keep[m]
	callKeep(f, a, lda, w, 0, c, ldc, k, resume, pf, pfs, wide)
	if t.one[m] == nil { // the second half
		callKeep(f, a, lda, unsafe.Add(w, t.halfPanel()), 0, unsafe.Add(c, Panel/2*4), ldc, k, resume, 0, 0, unsafe.Add(wide, Panel/2*4))
	}
}

// wideScratch holds blocks of widened weights.
var wideScratch scratch[[block * Panel]float32]

// sumsScratch holds tiles of sums that do not fit into dst.
var sumsScratch scratch[[14 * Panel]float32]

// lastPanel computes a panel of fewer than 32 columns beside dst and copies what belongs there.
func (t *tiles) lastPanel(p *product, i int) {
	sums := sumsScratch.get()
	defer sumsScratch.put(sums)
	w := unsafe.Add(p.w, i*p.k*t.step)
	c := unsafe.Pointer(sums)
	for r := 0; r < p.m; r += t.rows {
		rows := min(t.rows, p.m-r)
		t.panel(rows, unsafe.Add(p.a, r*p.lda), p.lda, w, c, Panel*4, p.k, 0, 0, 0)
		for j := range rows {
			copy(p.dst[(r+j)*p.ldd+i*Panel:(r+j)*p.ldd+p.n], sums[j*Panel:])
		}
	}
	p.e.apply(p.dst, p.ldd, 0, p.m, i*Panel, p.n)
}

// callTile calls a tile. It is not inlined so that its stack check lets the garbage collector stop the
// goroutine between tiles: the assembly has none.
//
//go:noinline
func callTile(f tileFunc, a unsafe.Pointer, lda int, w unsafe.Pointer, wstride int, c unsafe.Pointer, ldc, k, resume, pf, pfs int) {
	f((*byte)(a), lda, (*byte)(w), wstride, (*byte)(c), ldc, k, resume, pf, pfs)
}

//go:noinline
func callKeep(f keepFunc, a unsafe.Pointer, lda int, w unsafe.Pointer, wstride int, c unsafe.Pointer, ldc, k, resume, pf, pfs int, wide unsafe.Pointer) {
	f((*byte)(a), lda, (*byte)(w), wstride, (*byte)(c), ldc, k, resume, pf, pfs, (*byte)(wide))
}
