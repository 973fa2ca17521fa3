package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peak generates the loops that measure what the processor can do: independent chains of one instruction,
// and a read of memory that does nothing else.
func peak() {
	loop := func(name, doc string, wide bool, chains int, op func(i, a, b int)) {
		text(name, "func(n int)", doc)
		n := arg("n")
		t := tile{wide: wide}
		for i := range t.registers() {
			if wide {
				VPXORD(Z[i], Z[i], Z[i])
			} else {
				VPXOR(Y[i], Y[i], Y[i])
			}
		}
		Label("loop")
		for range 2 {
			for i := range chains {
				op(i, chains, chains+1)
			}
		}
		DECQ(n)
		JNZ(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
	loop("peakFMAZ", "peakFMAZ runs n·48 fused multiply-adds of 16 float32.", true, 24, func(i, a, b int) { VFMADD231PS(Z[a], Z[b], Z[i]) })
	loop("peakFMAY", "peakFMAY runs n·24 fused multiply-adds of 8 float32.", false, 12, func(i, a, b int) { VFMADD231PS(Y[a], Y[b], Y[i]) })
	loop("peakI8Z", "peakI8Z runs n·48 VPDPBUSD of 64 bytes.", true, 24, func(i, a, b int) { VPDPBUSD(Z[a], Z[b], Z[i]) })
	loop("peakI8Y", "peakI8Y runs n·24 VPDPBUSD (VEX) of 32 bytes.", false, 12, func(i, a, b int) { vpdpbusdVEX(i, b, a) })
	loop("peakBF16Z", "peakBF16Z runs n·48 VDPBF16PS of 32 pairs.", true, 24, func(i, a, b int) { vdpbf16ps(i, b, a) })
	for _, wide := range []bool{true, false} {
		t := tile{wide: wide}
		name, bytes := "readY", 32
		if wide {
			name, bytes = "readZ", 64
		}
		text(name, "func(p *byte, stride int, n int)", name+" loads n bytes, a multiple of 256 and not zero, from each of four places stride bytes apart and prefetches ahead.")
		p, stride, n := arg("p"), arg("stride"), arg("n")
		stride3 := GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
		at := panelPointers{p, stride, stride3}
		Label("loop")
		for i := 0; i < 256; i += bytes {
			for s := range 4 {
				if i%64 == 0 {
					PREFETCHT0(at.mem(s, i+4096))
				}
				VMOVUPS(at.mem(s, i), t.r(s))
			}
		}
		ADDQ(I32(256), p)
		SUBQ(I32(256), n)
		JG(LabelRef("loop"))
		VZEROUPPER()
		RET()
	}
}
