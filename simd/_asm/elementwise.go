package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// each writes a kernel dst[i] = f(x[i], …): body computes register 0 from registers 0 (x) and 1 (second), for
// which the arguments named in more are loaded.
func each(name, signature, doc string, more []string, prepare func(g vec), body func(g vec)) {
	both(name, signature, doc, func(g vec) {
		d, x := arg("dst"), arg("x")
		pointers := []Register{d, x}
		for _, m := range more {
			pointers = append(pointers, arg(m))
		}
		n := arg("n")
		if prepare != nil {
			prepare(g)
		}
		g.blocks("", n, pointers, func(masked bool) {
			for v := range g.count() {
				for i := range more {
					g.load(pointers[2+i], v, masked, 1+i)
				}
				g.load(x, v, masked, 0)
				body(g)
				g.store(0, d, v, masked)
			}
		})
	})
}

const mapSignature = "func(dst *float32, x *float32, n int)"

// elementwise generates the kernels of vector.go, exp.go and activation.go.
func elementwise() {
	epilogues()
	each("add", "func(dst *float32, x *float32, y *float32, n int)", "sets dst[i] = x[i] + y[i].", []string{"y"}, nil,
		func(g vec) { VADDPS(g.r(1), g.r(0), g.r(0)) })
	each("scale", "func(dst *float32, x *float32, n int, s float32)", "sets dst[i] = s·x[i].", nil,
		func(g vec) { g.spread("s", 8) },
		func(g vec) { VMULPS(g.r(8), g.r(0), g.r(0)) })
	each("subTwo", "func(dst *float32, x *float32, n int, a float32, b float32)", "sets dst[i] = (x[i] - a) - b.", nil,
		func(g vec) { g.spread("a", 8); g.spread("b", 9) },
		func(g vec) {
			VSUBPS(g.r(8), g.r(0), g.r(0))
			VSUBPS(g.r(9), g.r(0), g.r(0))
		})
	each("relu", mapSignature, "sets dst[i] = max(x[i], 0).", nil,
		func(g vec) { g.zero(8) },
		func(g vec) { VMAXPS(g.r(0), g.r(8), g.r(0)) })
	each("exp", mapSignature, "sets dst[i] = e^x[i].", nil, vec.prepareExp, func(g vec) { g.exp(0, 1, 2) })
	each("gelu", mapSignature, "sets dst[i] = gelu32(x[i]).", nil, vec.prepareExp, vec.gelu)
	each("geluTanh", mapSignature, "sets dst[i] = geluTanh32(x[i]).", nil, vec.prepareExp, func(g vec) {
		VMULPS(g.r(0), g.r(0), g.r(3))
		VMULPS(number(0.044715), g.r(3), g.r(3))
		VFMADD213PS(g.r(0), g.r(0), g.r(3))
		VMULPS(number(-1.5957691216), g.r(3), g.r(3))
		g.logistic()
	})
	each("swish", mapSignature, "sets dst[i] = x[i] / (1 + e^-x[i]).", nil, vec.prepareExp, func(g vec) {
		g.xor(vector("signBit", 0x80000000), 0, 3)
		g.logistic()
	})
	each("tanh", mapSignature, "sets dst[i] = tanh32(x[i]).", nil, vec.prepareExp, vec.tanh)
	both("axpy", "func(dst *float32, x *float32, n int, a float32)", "sets dst[i] = fma(a, x[i], dst[i]).", func(g vec) {
		d, x, n := arg("dst"), arg("x"), arg("n")
		g.spread("a", 8)
		g.blocks("", n, []Register{d, x}, func(masked bool) {
			for v := range g.count() {
				g.load(d, v, masked, 0)
				g.load(x, v, masked, 1)
				VFMADD231PS(g.r(1), g.r(8), g.r(0))
				g.store(0, d, v, masked)
			}
		})
	})
}

// epilogues generates the row pass after a product: bias, a floor (0 for ReLU, -Inf for none), residual.
func epilogues() {
	both("epilogue", "func(dst *float32, ldd int, rows int, n int, bias *float32, residual *float32, ldr int, floor float32)",
		"sets dst = max(dst + bias, floor) + residual for rows ≥ 1 of n ≥ 1 elements, strides in bytes; without the bias or the residual where that is nil.",
		func(g vec) {
			d, ldd, rows, bias, res, ldr := arg("dst"), arg("ldd"), arg("rows"), arg("bias"), arg("residual"), arg("ldr")
			g.spread("floor", 8)
			n, x, b, y := GP64(), GP64(), GP64(), GP64()
			pass := func(label string, withBias, withResidual bool) {
				Label(label)
				MOVQ(d, x)
				MOVQ(bias, b)
				MOVQ(res, y)
				Load(Param("n"), n)
				g.blocks(label, n, []Register{x, b, y}, func(masked bool) {
					for v := range g.count() {
						g.load(x, v, masked, 0)
						if withBias {
							g.load(b, v, masked, 1)
							VADDPS(g.r(1), g.r(0), g.r(0))
						}
						VMAXPS(g.r(0), g.r(8), g.r(0))
						if withResidual {
							g.load(y, v, masked, 1)
							VADDPS(g.r(1), g.r(0), g.r(0))
						}
						g.store(0, x, v, masked)
					}
				})
				ADDQ(ldd, d)
				ADDQ(ldr, res)
				DECQ(rows)
				JNZ(LabelRef(label))
				JMP(LabelRef("end"))
			}
			TESTQ(res, res)
			JNZ(LabelRef("residual"))
			TESTQ(bias, bias)
			JNZ(LabelRef("bias"))
			pass("neither", false, false)
			pass("bias", true, false)
			Label("residual")
			TESTQ(bias, bias)
			JNZ(LabelRef("both"))
			pass("only", false, true)
			pass("both", true, true)
			Label("end")
		})
}

// logistic sets register 0 to x / (1 + e^u) with x in register 0 and u in 3.
func (g vec) logistic() {
	g.exp(3, 1, 2)
	VADDPS(number(1), g.r(3), g.r(3))
	VDIVPS(g.r(3), g.r(0), g.r(0))
}

// gelu is gelu32 of register 0.
func (g vec) gelu() {
	x, a, s, low, e, t, p := g.r(0), g.r(3), g.r(4), g.r(5), g.r(6), g.r(7), g.r(8)
	g.and(vector("absolute", 0x7fffffff), 0, 3)
	VMOVUPS(number(15), s)
	VMINPS(a, s, a)
	VMULPS(a, a, s)
	VMOVAPS(a, low)
	VFMSUB213PS(s, a, low)
	VMULPS(number(-0.5), s, e)
	g.exp(6, 1, 2)
	VMULPS(number(-0.5), low, low)
	VFMADD213PS(e, e, low) // e corrected
	VMOVUPS(number(0.3), t)
	VFMADD213PS(number(1), a, t)
	VMOVUPS(number(1), s)
	VDIVPS(t, s, t)
	c := []float32{0.11968672, 0.11957132, 0.110239364, 0.07837214, 0.09620516, -0.079509646, 0.19188389, -0.22828528, 0.112465024, -0.020628707}
	VMOVUPS(number(c[9]), p)
	for j := 8; j >= 0; j-- {
		VFMADD213PS(number(c[j]), t, p)
	}
	VMULPS(t, p, p)
	VMULPS(low, p, p) // q = 1-Φ(|x|)
	VSUBPS(p, s, s)   // 1-q
	g.whereNegative(0)
	g.pick(8, 4, 8)
	VMULPS(p, x, x)
}

// tanh is tanh32 of register 0.
func (g vec) tanh() {
	a, z, p, e := g.r(3), g.r(4), g.r(5), g.r(6)
	g.and(vector("absolute", 0x7fffffff), 0, 3)
	VMULPS(a, a, z)
	c := []float32{-0.33333284, 0.13331491, -0.053743497, 0.020650579, -0.005717037}
	VMOVUPS(number(c[4]), p)
	for j := 3; j >= 0; j-- {
		VFMADD213PS(number(c[j]), z, p)
	}
	VMULPS(z, p, p)
	VFMADD213PS(a, a, p) // small |x|
	VADDPS(a, a, e)
	g.exp(6, 1, 2)
	VADDPS(number(1), e, e)
	VMOVUPS(number(2), g.r(7))
	VDIVPS(e, g.r(7), e)
	VMOVUPS(number(1), g.r(7))
	VSUBPS(e, g.r(7), e)
	g.whereLess(3, number(0.625))
	g.pick(5, 6, 5)
	g.and(vector("absolute", 0x7fffffff), 5, 5)
	g.and(vector("signBit", 0x80000000), 0, 0)
	if g.wide {
		VPORD(Z[5], Z[0], Z[0])
	} else {
		VPOR(Y[5], Y[0], Y[0])
	}
}
