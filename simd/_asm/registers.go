package main

import (
	"github.com/mmcloughlin/avo/ir"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Z, Y and X are the vector registers by number.
var (
	Z = []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
		Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}
	Y = []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	X = []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15}
)

// raw emits the bytes of an instruction that the Go assembler does not know.
func raw(code ...byte) {
	for _, b := range code {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}})
	}
}

// evex emits a 512-bit EVEX instruction of the 0F38 map with three register operands, W0:
// opcode op, mandatory prefix pp (0 none, 1 66, 2 F3, 3 F2), dst, first source v, second source rm.
func evex(pp, op byte, dst, v, rm int) {
	p1 := byte(^dst>>3&1)<<7 | byte(^rm>>4&1)<<6 | byte(^rm>>3&1)<<5 | byte(^dst>>4&1)<<4 | 2
	p2 := byte(^v&15)<<3 | 4 | pp
	p3 := byte(2<<5) | byte(^v>>4&1)<<3
	raw(0x62, p1, p2, p3, op, 0xC0|byte(dst&7)<<3|byte(rm&7))
}

// vex emits a 256-bit VEX instruction of the 0F38 map with three register operands, W0.
func vex(pp, op byte, dst, v, rm int) {
	p1 := byte(^dst>>3&1)<<7 | 1<<6 | byte(^rm>>3&1)<<5 | 2
	p2 := byte(^v&15)<<3 | 1<<2 | pp
	raw(0xC4, p1, p2, op, 0xC0|byte(dst&7)<<3|byte(rm&7))
}

// vdpbf16ps is dst += v·rm over pairs of bfloat16 (AVX-512 BF16).
func vdpbf16ps(dst, v, rm int) { evex(2, 0x52, dst, v, rm) }

// vpdpbusdVEX is dst += v·rm over four unsigned by signed bytes (AVX-VNNI, VEX form).
func vpdpbusdVEX(dst, v, rm int) { vex(1, 0x50, dst, v, rm) }

// arg loads a parameter into a new 64-bit register.
func arg(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// text starts a function without stack frame whose pointers do not escape.
func text(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc)
	Pragma("noescape")
}

// broadcast fills a vector register with a 32-bit constant of the given name.
func broadcast(name string, bits uint32, to VecPhysical) {
	VPBROADCASTD(constant(name, bits), to)
}

// constants are those already in the part being generated.
var constants = map[string]Mem{}

// constant returns the read-only 32-bit constant of the given name.
func constant(name string, bits uint32) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		DATA(0, U32(bits))
		constants[name] = m
	}
	return m
}
