package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reductions generates the kernels that go over a row and keep 32 lanes.
func reductions() {
	both("dot", "func(x *float32, y *float32, n int) float32", "returns Σ x[i]·y[i].", func(g vec) {
		x, y, n := arg("x"), arg("y"), arg("n")
		g.clear(4)
		g.blocks("", n, []Register{x, y}, func(masked bool) { g.dotBlock(x, y, masked) })
		g.fold(4, 0, sum)
		Store(X4, ReturnIndex(0))
	})
	both("max", "func(x *float32, n int) float32", "returns the largest element, -Inf for none.", func(g vec) {
		x, n := arg("x"), arg("n")
		g.lowest(4)
		g.blocks("", n, []Register{x}, func(masked bool) { g.maxBlock(x, masked) })
		g.fold(4, 0, largest)
		Store(X4, ReturnIndex(0))
	})
	both("maxBits", "func(x *float32, n int) uint32", "returns the largest |x[i]| as bits, which puts NaN above Inf.", func(g vec) {
		x, n := arg("x"), arg("n")
		g.clear(4)
		g.blocks("", n, []Register{x}, func(masked bool) {
			for v := range g.count() {
				g.load(x, v, masked, 0)
				g.and(vector("absolute", 0x7fffffff), 0, 0)
				VPMAXUD(g.r(0), g.r(4+v), g.r(4+v))
			}
		})
		g.fold(4, 0, func(a, b, to VecPhysical) { VPMAXUD(a, b, to) })
		bits := GP32()
		VMOVD(X4, bits)
		Store(bits, ReturnIndex(0))
	})
	for _, keep := range []bool{false, true} {
		name, signature, doc := "expSum", "func(x *float32, n int, m float32) float32", "returns Σ e^(x[i]-m)."
		if keep {
			name, signature, doc = "expSumTo", "func(dst *float32, x *float32, n int, m float32) float32", "sets dst[i] = e^(x[i]-m) and returns the sum."
		}
		both(name, signature, doc, func(g vec) {
			x, n := arg("x"), arg("n")
			pointers := []Register{x}
			if keep {
				pointers = append(pointers, arg("dst"))
			}
			g.spread("m", 3)
			g.sumOnly = !keep
			g.prepareExp()
			g.clear(4)
			g.blocks("", n, pointers, func(masked bool) {
				for v := range g.count() {
					g.load(x, v, masked, 0)
					VSUBPS(g.r(3), g.r(0), g.r(0))
					g.exp(0, 1, 2)
					if keep {
						g.store(0, pointers[1], v, masked)
					}
					g.keep(v, masked, 0)
					VADDPS(g.r(0), g.r(4+v), g.r(4+v))
				}
			})
			g.fold(4, 0, sum)
			Store(X4, ReturnIndex(0))
		})
	}
	both("layerNorm", "func(dst *float32, x *float32, gamma *float32, beta *float32, n int, count float32, eps float32)",
		"is layerNormGeneric with count = n.", vec.layerNorm)
	both("firstAbove", "func(x *float32, i int, n int, v float32) int",
		"returns the first of i, i+64 … from which one of 64 elements is greater than v; at the latest the first of which fewer than 64 are left.", vec.firstAbove)
	both("slotSoftmax", "func(alpha *float32, q *float32, n int, heads int, mean float32)",
		"is slotSoftmaxGeneric for 0 < n ≤ 32 slots with mean = 1/heads.", vec.slotSoftmax)
	both("scores", "func(dst *float32, q *float32, keys *float32, ldk int, t int, n int, s float32)",
		"sets dst[i] = s·Σ q·keys[i] for t rows of n elements, ldk bytes apart.", vec.scores)
}

// clear sets the block of accumulators to zero, lowest to -Inf.
func (g vec) clear(acc int) {
	for v := range g.count() {
		g.zero(acc + v)
	}
}

func (g vec) lowest(acc int) {
	for v := range g.count() {
		VMOVUPS(vector("negativeInf", 0xff800000), g.r(acc+v))
	}
}

func (g vec) dotBlock(x, y Register, masked bool) {
	for v := range g.count() {
		g.load(x, v, masked, 0)
		if masked {
			g.load(y, v, masked, 1)
			VFMADD231PS(g.r(1), g.r(0), g.r(4+v))
		} else {
			VFMADD231PS(g.at(y, v), g.r(0), g.r(4+v))
		}
	}
}

// maxBlock keeps the accumulator where an element is NaN.
func (g vec) maxBlock(x Register, masked bool) {
	for v := range g.count() {
		g.load(x, v, masked, 0)
		g.fill(v, masked, 0, 4+v)
		VMAXPS(g.r(4+v), g.r(0), g.r(4+v))
	}
}

func (g vec) layerNorm() {
	d, x, gamma, beta, n := arg("dst"), arg("x"), arg("gamma"), arg("beta"), arg("n")
	p, c := GP64(), GP64()
	count := func() Mem { return param("count") }
	MOVQ(x, p)
	MOVQ(n, c)
	g.clear(4)
	g.blocks("mean", c, []Register{p}, func(masked bool) {
		for v := range g.count() {
			g.load(p, v, masked, 0)
			VADDPS(g.r(0), g.r(4+v), g.r(4+v))
		}
	})
	g.fold(4, 0, sum)
	VDIVSS(count(), X4, X4)
	VBROADCASTSS(X4, g.r(8)) // mean
	MOVQ(x, p)
	MOVQ(n, c)
	g.clear(4)
	g.blocks("variance", c, []Register{p}, func(masked bool) {
		for v := range g.count() {
			g.load(p, v, masked, 0)
			VSUBPS(g.r(8), g.r(0), g.r(0))
			g.keep(v, masked, 0)
			VFMADD231PS(g.r(0), g.r(0), g.r(4+v))
		}
	})
	g.fold(4, 0, sum)
	VDIVSS(count(), X4, X4)
	VADDSS(param("eps"), X4, X4)
	VSQRTSS(X4, X4, X4)
	VMOVSS(number(1), X0)
	VDIVSS(X4, X0, X4)
	VBROADCASTSS(X4, g.r(9)) // 1/√(variance+eps)
	g.blocks("norm", n, []Register{d, x, gamma, beta}, func(masked bool) {
		for v := range g.count() {
			g.load(x, v, masked, 0)
			g.load(gamma, v, masked, 1)
			g.load(beta, v, masked, 2)
			VSUBPS(g.r(8), g.r(0), g.r(0))
			VMULPS(g.r(9), g.r(0), g.r(0))
			VFMADD213PS(g.r(2), g.r(1), g.r(0))
			g.store(0, d, v, masked)
		}
	})
}

// param returns the address of an argument.
func param(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

func (g vec) firstAbove() {
	x, i, n := arg("x"), arg("i"), arg("n")
	g.spread("v", 8)
	SUBQ(Imm(64), n)
	Label("loop")
	CMPQ(i, n)
	JG(LabelRef("out"))
	at := func(v int) Mem { return Mem{Base: x, Index: i, Scale: 4, Disp: v * g.width() * 4} }
	if g.wide {
		for v := range 4 {
			VCMPPS(Imm(17), at(v), Z8, []Register{K1, K2, K3, K4}[v])
		}
		KORW(K1, K2, K1)
		KORW(K3, K4, K3)
		KORTESTW(K1, K3)
	} else {
		for v := range 8 {
			VCMPPS(Imm(17), at(v), Y8, Y[v])
		}
		for _, h := range []int{4, 2, 1} {
			for v := range h {
				VORPS(Y[v+h], Y[v], Y[v])
			}
		}
		VTESTPS(Y0, Y0)
	}
	JNZ(LabelRef("out"))
	ADDQ(Imm(64), i)
	JMP(LabelRef("loop"))
	Label("out")
	Store(i, ReturnIndex(0))
}

// slotSoftmax keeps α in registers 8 …, a head's exponentials in 4 …
func (g vec) slotSoftmax() {
	alpha, q, n, heads := arg("alpha"), arg("q"), arg("n"), arg("heads")
	stride := GP64()
	MOVQ(n, stride)
	SHLQ(Imm(2), stride)
	g.rest(n)
	g.prepareExp()
	g.clear(8)
	Label("head")
	g.lowest(4)
	g.maxBlock(q, true)
	g.fold(4, 0, largest)
	VBROADCASTSS(X4, g.r(3))
	for v := range g.count() {
		g.load(q, v, true, 4+v)
		VSUBPS(g.r(3), g.r(4+v), g.r(4+v))
		g.exp(4+v, 1, 2)
		g.keep(v, true, 4+v)
	}
	g.foldCopy()
	VMOVSS(number(1), X1)
	VDIVSS(X0, X1, X0)
	VBROADCASTSS(X0, g.r(3))
	for v := range g.count() {
		VFMADD231PS(g.r(3), g.r(4+v), g.r(8+v))
	}
	ADDQ(stride, q)
	DECQ(heads)
	JNZ(LabelRef("head"))
	g.spread("mean", 3)
	for v := range g.count() {
		VMULPS(g.r(3), g.r(8+v), g.r(8+v))
		g.store(8+v, alpha, v, true)
	}
}

// foldCopy sums the block in registers 4 … into X0 and leaves them; registers 0 … 2 are scratch.
func (g vec) foldCopy() {
	if g.wide {
		VADDPS(Z5, Z4, Z0)
		VEXTRACTF64X4(Imm(1), Z0, Y1)
	} else {
		VADDPS(Y6, Y4, Y0)
		VADDPS(Y7, Y5, Y1)
	}
	VADDPS(Y1, Y0, Y0)
	VEXTRACTF128(Imm(1), Y0, X1)
	VADDPS(X1, X0, X0)
	VMOVHLPS(X0, X0, X1)
	VADDPS(X1, X0, X0)
	VMOVSHDUP(X0, X1)
	VADDPS(X1, X0, X0)
}

func (g vec) scores() {
	d, q, keys, ldk, t, n := arg("dst"), arg("q"), arg("keys"), arg("ldk"), arg("t"), arg("n")
	g.spread("s", 8)
	x, y, c := GP64(), GP64(), GP64()
	Label("row")
	MOVQ(q, x)
	MOVQ(keys, y)
	MOVQ(n, c)
	g.clear(4)
	g.blocks("dot", c, []Register{x, y}, func(masked bool) { g.dotBlock(x, y, masked) })
	g.fold(4, 0, sum)
	VMULSS(X8, X4, X4)
	VMOVSS(X4, Mem{Base: d})
	ADDQ(Imm(4), d)
	ADDQ(ldk, keys)
	DECQ(t)
	JNZ(LabelRef("row"))
}
