package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// quantizers generates the rounding of activations for int8 and bfloat16.
func quantizers() {
	both("quantize", "func(dst *uint8, x *float32, n int, inv float32)",
		"sets dst[i] = round(x[i]·inv) + 128, modulo 256, n a multiple of 32, not zero.", func(g vec) {
			d, x, n := arg("dst"), arg("x"), arg("n")
			g.spread("inv", 8)
			zero := vector("bytes128", 128)
			Label("loop")
			for v := range g.count() {
				VMULPS(g.at(x, v), g.r(8), g.r(v))
				VCVTPS2DQ(g.r(v), g.r(v))
				VPADDD(zero, g.r(v), g.r(v))
			}
			if g.wide {
				VPMOVDB(Z0, Mem{Base: d})
				VPMOVDB(Z1, Mem{Base: d, Disp: 16})
			} else {
				for v := range 4 {
					VPAND(vector("lowByte", 0xff), Y[v], Y[v])
				}
				VPACKUSDW(Y1, Y0, Y0)
				VPACKUSDW(Y3, Y2, Y2)
				VPACKUSWB(Y2, Y0, Y0)
				VMOVDQU(order(), Y1)
				VPERMD(Y0, Y1, Y0)
				VMOVDQU(Y0, Mem{Base: d})
			}
			ADDQ(Imm(128), x)
			ADDQ(Imm(32), d)
			SUBQ(Imm(32), n)
			JG(LabelRef("loop"))
		})
}

// order is the permutation of double words that undoes two packs within halves.
func order() Mem {
	m := GLOBL("packOrder", RODATA|NOPTR)
	for i, j := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(j))
	}
	return m
}
