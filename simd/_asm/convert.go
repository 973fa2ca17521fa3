package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// convert generates the F16C and AVX2 conversions. All take n ≥ 0, a multiple of 8; the Go side does the rest.
func convert() {
	loop := func(name, signature, doc string, from, to int, body func(src, dst Mem, reg int)) {
		text(name, signature, doc)
		d, s, n := arg("dst"), arg("src"), arg("n")
		SUBQ(Imm(32), n)
		JL(LabelRef("eights"))
		Label("loop")
		for i := 0; i < 4; i++ {
			body(Mem{Base: s, Disp: 8 * from * i}, Mem{Base: d, Disp: 8 * to * i}, 3*i)
		}
		ADDQ(I32(32*from), s)
		ADDQ(I32(32*to), d)
		SUBQ(Imm(32), n)
		JGE(LabelRef("loop"))
		Label("eights")
		ADDQ(Imm(32), n)
		JZ(LabelRef("done"))
		Label("eight")
		body(Mem{Base: s}, Mem{Base: d}, 0)
		ADDQ(I32(8*from), s)
		ADDQ(I32(8*to), d)
		SUBQ(Imm(8), n)
		JG(LabelRef("eight"))
		Label("done")
		VZEROUPPER()
		RET()
	}
	loop("f32FromF16AVX2Asm", "func(dst *float32, src *uint16, n int)",
		"f32FromF16AVX2Asm converts n halfs, a multiple of 8: for i := range n { dst[i] = float32(src[i]) }", 2, 4,
		func(src, dst Mem, r int) {
			VCVTPH2PS(src, Y[r])
			VMOVUPS(Y[r], dst)
		})
	loop("f16FromF32AVX2Asm", "func(dst *uint16, src *float32, n int)",
		"f16FromF32AVX2Asm rounds n numbers, a multiple of 8, to half, to nearest even.", 4, 2,
		func(src, dst Mem, r int) {
			VMOVUPS(src, Y[r])
			VCVTPS2PH(Imm(0), Y[r], dst)
		})
	loop("f32FromBF16AVX2Asm", "func(dst *float32, src *uint16, n int)",
		"f32FromBF16AVX2Asm converts n bfloat16 numbers, a multiple of 8.", 2, 4,
		func(src, dst Mem, r int) {
			VPMOVZXWD(src, Y[r])
			VPSLLD(Imm(16), Y[r], Y[r])
			VMOVUPS(Y[r], dst)
		})
	text("widenPairs", "func(dst *float32, src *uint16, n int)",
		"widenPairs converts n bfloat16 numbers, n even, and exchanges the two of each pair.")
	d, p, n := arg("dst"), arg("src"), arg("n")
	SUBQ(Imm(16), n)
	JL(LabelRef("tail"))
	Label("loop")
	for i := range 2 {
		VPMOVZXWD(Mem{Base: p, Disp: 16 * i}, Y[i])
		VPSLLD(Imm(16), Y[i], Y[i])
		VPERMILPS(Imm(0xb1), Y[i], Y[i])
		VMOVUPS(Y[i], Mem{Base: d, Disp: 32 * i})
	}
	ADDQ(Imm(32), p)
	ADDQ(Imm(64), d)
	SUBQ(Imm(16), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(16), n)
	JZ(LabelRef("done"))
	low, high := GP32(), GP32()
	Label("pair")
	MOVWLZX(Mem{Base: p}, low)
	MOVWLZX(Mem{Base: p, Disp: 2}, high)
	SHLL(Imm(16), low)
	SHLL(Imm(16), high)
	MOVL(high, Mem{Base: d})
	MOVL(low, Mem{Base: d, Disp: 4})
	ADDQ(Imm(4), p)
	ADDQ(Imm(8), d)
	SUBQ(Imm(2), n)
	JG(LabelRef("pair"))
	Label("done")
	VZEROUPPER()
	RET()
	toBF16("bf16FromF32AVX2Asm", "bf16FromF32AVX2Asm rounds n numbers, a multiple of 8, to bfloat16, to nearest even, NaN kept and quieted.", false)
	toBF16("roundRowBF16AVX2Asm", "roundRowBF16AVX2Asm is bf16FromF32AVX2Asm with subnormal numbers replaced by zeros of their sign.", true)
	toBF16Z()
}

// toBF16 rounds to bfloat16 by adding 0x7fff and the last kept bit; with flush, subnormal numbers first become
// zeros of their sign.
func toBF16(name, doc string, flush bool) {
	text(name, "func(dst *uint16, src *float32, n int)", doc)
	d, s, n := arg("dst"), arg("src"), arg("n")
	broadcast("bf16One", 1, Y[15])
	broadcast("bf16Half", 0x7fff, Y[14])
	broadcast("bf16Quiet", 0x400000, Y[13])
	broadcast("bf16Exponent", 0x7f800000, Y[12])
	broadcast("bf16Sign", 0x80000000, Y[11])
	VPXOR(Y[10], Y[10], Y[10])
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	VMOVUPS(Mem{Base: s}, Y[0])
	if flush {
		VPAND(Y[12], Y[0], Y[2])
		VPCMPEQD(Y[10], Y[2], Y[2]) // no exponent
		VPAND(Y[11], Y[0], Y[3])
		VBLENDVPS(Y[2], Y[3], Y[0], Y[0])
	}
	VPSRLD(Imm(16), Y[0], Y[1])
	VPAND(Y[15], Y[1], Y[1])
	VPADDD(Y[14], Y[1], Y[1])
	VPADDD(Y[0], Y[1], Y[1])
	VPOR(Y[13], Y[0], Y[2])
	VCMPPS(Imm(3), Y[0], Y[0], Y[3]) // unordered: NaN
	VBLENDVPS(Y[3], Y[2], Y[1], Y[1])
	VPSRLD(Imm(16), Y[1], Y[1])
	VEXTRACTI128(Imm(1), Y[1], X[2])
	VPACKUSDW(X[2], X[1], X[1])
	VMOVDQU(X[1], Mem{Base: d})
	ADDQ(Imm(32), s)
	ADDQ(Imm(16), d)
	SUBQ(Imm(8), n)
	JG(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// toBF16Z rounds with the instruction for it, which takes subnormal numbers for zero.
func toBF16Z() {
	text("roundRowBF16Z", "func(dst *uint16, src *float32, n int)",
		"roundRowBF16Z is roundRowBF16AVX2Asm with VCVTNEPS2BF16, n a multiple of 32, not zero.")
	d, s, n := arg("dst"), arg("src"), arg("n")
	Label("loop")
	for i := range 2 {
		VMOVUPS(Mem{Base: s, Disp: 64 * i}, Z[i])
		evex(2, 0x72, i, 0, i)
		VMOVUPS(Y[i], Mem{Base: d, Disp: 32 * i})
	}
	ADDQ(I32(128), s)
	ADDQ(Imm(64), d)
	SUBQ(Imm(32), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
