package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// emission is the state while a tile is written.
type emission struct {
	tile
	rows  rowPointers
	w, pf panelPointers
	spill GPVirtual // where keep stores the widened weights
	k     GPVirtual
	pfs   GPVirtual // how far pf moves in a step
	wReg  []int     // registers for weights
	bReg  []int     // registers for broadcast activations
	nextB int
	nextW int
	mask  int // register with the mask of the high halves (bfs, Z)
}

const floatSignature = "func(a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, resume int, pf int, pfs int)"
const keepSignature = "func(a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, resume int, pf int, pfs int, wide *byte)"
const int8Signature = "func(a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, comp *byte, sw *byte, sa *byte, pf int, pfs int, klast int, pflast int)"

// generate writes the tile's function.
func (t tile) generate() {
	signature := floatSignature
	switch {
	case t.integer():
		signature = int8Signature
	case t.keep:
		signature = keepSignature
	}
	text(t.name(), signature, t.name()+" is a tile of matMul: see tile_amd64.go for the arguments.")
	e := &emission{tile: t}
	a := arg("a")
	if t.rows > 1 {
		e.rows.ld = arg("lda")
	}
	e.w.base, e.pf.base = arg("w"), GP64()
	pf := arg("pf")
	LEAQ(Mem{Base: e.w.base, Index: pf, Scale: 1}, e.pf.base)
	if panels := t.vecs / t.perPanel(); panels > 1 {
		stride := arg("wstride")
		e.w.stride, e.pf.stride = stride, stride
		if panels > 3 {
			s3 := GP64()
			LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, s3)
			e.w.stride3, e.pf.stride3 = s3, s3
		}
	}
	e.k, e.pfs = arg("k"), arg("pfs")
	if t.keep {
		e.spill = arg("wide")
	}
	e.allocate()
	e.start()
	e.rows = newRowPointers(a, e.rows.ld, t.rows)
	e.loop()
	e.finish()
	VZEROUPPER()
	RET()
}

// allocate divides the registers that are not accumulators.
func (e *emission) allocate() {
	free := []int{}
	for i := e.tile.rows * e.vecs; i < e.registers(); i++ {
		free = append(free, i)
	}
	take := func(n int) []int {
		got := free[:n]
		free = free[n:]
		return got
	}
	if e.kind == bfs && e.wide {
		e.mask = take(1)[0]
		broadcast("highHalf", 0xffff0000, e.r(e.mask))
	}
	if e.kind == i8w {
		e.mask = take(1)[0]
		broadcast("evenBytes", 0x00ff00ff, e.r(e.mask))
		e.wReg, e.bReg = take(2*e.vecs), take(3)
		return
	}
	if e.byRows() {
		e.wReg = take(e.vecs)
		if len(free) >= e.vecs+2 {
			e.wReg = append(e.wReg, take(e.vecs)...)
		}
		e.bReg = take(min(len(free), 6))
	} else {
		e.bReg = take(e.tile.rows)
		if len(free) >= e.tile.rows+2 && e.kind != bfs {
			e.bReg = append(e.bReg, take(e.tile.rows)...)
		}
		e.wReg = take(min(len(free), 8))
	}
}

// byRows tells the order inside a step: rows outside with all weight vectors in registers, or vectors
// outside with all activations in registers.
func (e *emission) byRows() bool { return e.vecs <= e.tile.rows || e.vecs == 2 }

// start sets the accumulators: zeros or the partial sums in c; comp for int8.
func (e *emission) start() {
	if e.integer() {
		comp := arg("comp")
		for i := range e.tile.rows {
			for v := range e.vecs {
				if i == 0 {
					VMOVUPS(Mem{Base: comp, Disp: v * 4 * e.columns()}, e.r(e.acc(0, v)))
				} else {
					VMOVAPS(e.r(e.acc(0, v)), e.r(e.acc(i, v)))
				}
			}
		}
		return
	}
	for i := range e.tile.rows * e.vecs {
		if e.wide {
			VPXORD(Z[i], Z[i], Z[i])
		} else {
			VXORPS(Y[i], Y[i], Y[i])
		}
	}
	c, ld, resume := arg("c"), arg("ldc"), arg("resume")
	TESTQ(resume, resume)
	JZ(LabelRef("zero"))
	for i := range e.tile.rows {
		for v := range e.vecs {
			VMOVUPS(Mem{Base: c, Disp: v * 4 * e.columns()}, e.r(e.acc(i, v)))
		}
		if i+1 < e.tile.rows {
			ADDQ(ld, c)
		}
	}
	Label("zero")
}

// columns is the number of columns in a vector.
func (t tile) columns() int { return 32 / t.perPanel() }

const unroll = 4

// loop runs over k steps, four at a time and then one.
func (e *emission) loop() {
	advance := func(steps int) {
		ADDQ(I32(int32(steps*e.stepBytes())), e.w.base)
		LEAQ(Mem{Base: e.pf.base, Index: e.pfs, Scale: uint8(steps)}, e.pf.base)
		if e.keep {
			ADDQ(I32(int32(steps*e.wideStep())), e.spill)
		}
		e.rows.advance(steps * e.aBytes())
	}
	Label("again")
	SUBQ(Imm(unroll), e.k)
	JL(LabelRef("tail"))
	Label("loop")
	for u := range unroll {
		e.step(u)
	}
	advance(unroll)
	SUBQ(Imm(unroll), e.k)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(unroll), e.k)
	JZ(LabelRef("done"))
	Label("one")
	e.step(0)
	advance(1)
	DECQ(e.k)
	JNZ(LabelRef("one"))
	Label("done")
	if e.integer() && e.vecs > e.perPanel() { // the last steps, which prefetch elsewhere
		klast, err := Param("klast").Resolve()
		if err != nil {
			panic(err)
		}
		MOVQ(klast.Addr, e.k)
		TESTQ(e.k, e.k)
		JZ(LabelRef("end"))
		MOVQ(I32(0), klast.Addr)
		Load(Param("pflast"), e.pf.base)
		ADDQ(e.w.base, e.pf.base)
		JMP(LabelRef("again"))
		Label("end")
	}
}

// step is one step of k, the u-th of the unrolled loop.
func (e *emission) step(u int) {
	e.prefetch(u)
	if e.kind != bfs {
		e.half(u, u*e.aBytes(), false)
		return
	}
	e.half(u, u*e.aBytes(), true)
	e.half(u, u*e.aBytes()+4, false)
}

// prefetch touches the lines which a later step will read, in every panel of the tile.
func (e *emission) prefetch(u int) {
	bytes := e.stepBytes()
	panels := e.vecs / e.perPanel()
	if panels == 0 { // half a panel: the driver lets only the first half prefetch, for both
		panels = 1
	}
	for p := range panels {
		for q := 0; q < bytes; q += 64 {
			PREFETCHT0(e.pf.mem(p, u*bytes+q))
		}
	}
}

// half multiplies one element (or pair, or four) of each row with a vector of weights.
func (e *emission) half(u, aDisp int, odd bool) {
	if e.kind == i8w {
		e.widened(u, aDisp)
		return
	}
	if e.byRows() {
		first := u % (len(e.wReg) / e.vecs) * e.vecs
		for v := range e.vecs {
			e.load(u, v, e.wReg[first+v], odd)
		}
		for i := range e.tile.rows {
			b := e.bReg[e.nextB%len(e.bReg)]
			e.nextB++
			VBROADCASTSS(e.rows.mem(i, aDisp), e.r(b))
			for v := range e.vecs {
				e.multiply(e.acc(i, v), b, e.wReg[first+v])
			}
		}
		return
	}
	first := u % (len(e.bReg) / e.tile.rows) * e.tile.rows
	for i := range e.tile.rows {
		VBROADCASTSS(e.rows.mem(i, aDisp), e.r(e.bReg[first+i]))
	}
	for v := range e.vecs {
		w := e.wReg[e.nextW%len(e.wReg)]
		e.nextW++
		e.load(u, v, w, odd)
		for i := range e.tile.rows {
			e.multiply(e.acc(i, v), e.bReg[first+i], w)
		}
	}
}

// widened multiplies four bytes as words: the even bytes of a double word are words after a mask (activations)
// or two shifts (weights), the odd ones after one shift, and VPMADDWD adds two products exactly.
func (e *emission) widened(u, aDisp int) {
	even, odd := e.wReg[:e.vecs], e.wReg[e.vecs:2*e.vecs]
	for v := range e.vecs {
		VMOVUPS(e.w.mem(0, u*e.stepBytes()+v*e.vecBytes()), e.r(odd[v]))
		VPSLLW(Imm(8), e.r(odd[v]), e.r(even[v]))
		VPSRAW(Imm(8), e.r(even[v]), e.r(even[v]))
		VPSRAW(Imm(8), e.r(odd[v]), e.r(odd[v]))
	}
	for i := range e.tile.rows {
		x, y, t := e.r(e.bReg[0]), e.r(e.bReg[1]), e.r(e.bReg[2])
		VPBROADCASTD(e.rows.mem(i, aDisp), x)
		VPSRLW(Imm(8), x, y)
		if e.wide {
			VPANDD(e.r(e.mask), x, x)
		} else {
			VPAND(e.r(e.mask), x, x)
		}
		for v := range e.vecs {
			sum := e.r(e.acc(i, v))
			VPMADDWD(e.r(even[v]), x, t)
			VPADDD(t, sum, sum)
			VPMADDWD(e.r(odd[v]), y, t)
			VPADDD(t, sum, sum)
		}
	}
}

// load brings vector v of step u into register w.
func (e *emission) load(u, v, w int, odd bool) {
	panel, in := v/e.perPanel(), v%e.perPanel()
	m := e.w.mem(panel, u*e.stepBytes()+in*e.vecBytes())
	r := e.r(w)
	switch {
	case e.kind == f16:
		VCVTPH2PS(m, r)
	case e.kind == bfs && !odd:
		if e.wide {
			VPSLLD(Imm(16), m, r)
		} else {
			VMOVUPS(m, r)
			VPSLLD(Imm(16), r, r)
		}
	case e.kind == bfs && e.wide:
		VPANDD(m, e.r(e.mask), r)
	case e.kind == bfs:
		VMOVUPS(m, r)
		VPSRLD(Imm(16), r, r)
		VPSLLD(Imm(16), r, r)
	default:
		VMOVUPS(m, r)
	}
	if e.keep {
		at := u*e.wideStep() + in*4*e.columns()
		if e.kind == bfs && !odd {
			at += 128
		}
		VMOVUPS(r, Mem{Base: e.spill, Disp: at})
	}
}

// wideStep is the length of a step of a panel as float32.
func (t tile) wideStep() int {
	if t.kind == bfs {
		return 256
	}
	return 128
}

// multiply adds b·w to the accumulator.
func (e *emission) multiply(acc, b, w int) {
	switch {
	case e.kind == bf:
		vdpbf16ps(acc, b, w)
	case e.kind == i8 && e.wide:
		VPDPBUSD(Z[w], Z[b], Z[acc])
	case e.kind == i8:
		vpdpbusdVEX(acc, b, w)
	default:
		VFMADD231PS(e.r(w), e.r(b), e.r(acc))
	}
}

// finish stores the sums; int8 sums are first scaled to float32(acc)·sa·sw.
func (e *emission) finish() {
	c := arg("c")
	var ld GPVirtual
	if e.tile.rows > 1 {
		ld = arg("ldc")
	}
	var sw, sa GPVirtual
	if e.integer() {
		sw, sa = arg("sw"), arg("sa")
	}
	b := e.r(e.registers() - 1)
	for i := range e.tile.rows {
		if e.integer() {
			VBROADCASTSS(Mem{Base: sa, Disp: 4 * i}, b)
		}
		for v := range e.vecs {
			r := e.r(e.acc(i, v))
			if e.integer() {
				VCVTDQ2PS(r, r)
				VMULPS(b, r, r)
				VMULPS(Mem{Base: sw, Disp: v * 4 * e.columns()}, r, r)
			}
			VMOVUPS(r, Mem{Base: c, Disp: v * 4 * e.columns()})
		}
		if i+1 < e.tile.rows {
			ADDQ(ld, c)
		}
	}
}
