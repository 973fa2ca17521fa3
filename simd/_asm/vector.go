package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vec writes the same kernel with Z registers (AVX-512) or Y registers (AVX2). Rows are worked on in blocks
// of 32 elements, 2 or 4 registers, so that both keep the same 32 lanes; the end of a row is a block with
// masked loads and stores. Registers 14 and 15 (Y) and 31 (Z) belong to the masks, as does K1.
type vec struct {
	wide bool
	// sumOnly: exp may stand for results below 2^-125.5 by that number; see expSumLow of the package.
	sumOnly bool
}

// both writes a kernel in its two widths, with the suffix Z or Y.
func both(name, signature, doc string, body func(g vec)) {
	for _, g := range []vec{{wide: true}, {}} {
		full := name + "Y"
		if g.wide {
			full = name + "Z"
		}
		text(full, signature, full+" "+doc)
		body(g)
		VZEROUPPER()
		RET()
	}
}

func (g vec) r(i int) VecPhysical {
	if g.wide {
		return Z[i]
	}
	return Y[i]
}

// width is the number of float32 in a register, count the registers of a block of 32.
func (g vec) width() int { return 32 / g.count() }

func (g vec) count() int {
	if g.wide {
		return 2
	}
	return 4
}

// at addresses register v of the block at p.
func (g vec) at(p Register, v int) Mem { return Mem{Base: p, Disp: v * g.width() * 4} }

// vector returns a constant of 64 bytes, all 32-bit words the same.
func vector(name string, bits uint32) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(bits))
		}
		constants[name] = m
	}
	return m
}

// number returns a constant vector of a float32.
func number(f float32) Mem {
	bits := math.Float32bits(f)
	return vector(fmt.Sprintf("f%08x", bits), bits)
}

// iota32 returns the numbers 0 … 31 from the v-th register on.
func (g vec) iota32(v int) Mem {
	m, ok := constants["iota32"]
	if !ok {
		m = GLOBL("iota32", RODATA|NOPTR)
		for i := range 32 {
			DATA(4*i, U32(uint32(i)))
		}
		constants["iota32"] = m
	}
	return m.Offset(v * g.width() * 4)
}

// blocks runs body for every 32 of n elements, moving the pointers, and once more, masked, for the rest.
func (g vec) blocks(label string, n Register, pointers []Register, body func(masked bool)) {
	SUBQ(Imm(32), n)
	JL(LabelRef(label + "tail"))
	Label(label + "loop")
	body(false)
	for _, p := range pointers {
		ADDQ(I32(128), p)
	}
	SUBQ(Imm(32), n)
	JGE(LabelRef(label + "loop"))
	Label(label + "tail")
	ADDQ(Imm(32), n)
	JZ(LabelRef(label + "done"))
	g.rest(n)
	body(true)
	Label(label + "done")
}

// rest prepares the masks for n < 32 remaining elements.
func (g vec) rest(n Register) {
	if g.wide {
		VPBROADCASTD(n.(GP).As32(), Z31)
		return
	}
	VMOVD(n.(GP).As32(), X15)
	VPBROADCASTD(X15, Y15)
}

// mask sets K1 or Y14 to the elements of register v that exist.
func (g vec) mask(v int) {
	if g.wide {
		VPCMPGTD(g.iota32(v), Z31, K1)
		return
	}
	VPCMPGTD(g.iota32(v), Y15, Y14)
}

// load reads register v of the block at p; elements that do not exist are zero.
func (g vec) load(p Register, v int, masked bool, to int) {
	switch {
	case !masked:
		VMOVUPS(g.at(p, v), g.r(to))
	case g.wide:
		g.mask(v)
		VMOVUPS_Z(g.at(p, v), K1, Z[to])
	default:
		g.mask(v)
		VMASKMOVPS(g.at(p, v), Y14, Y[to])
	}
}

// store writes register v of the block at p.
func (g vec) store(from int, p Register, v int, masked bool) {
	switch {
	case !masked:
		VMOVUPS(g.r(from), g.at(p, v))
	case g.wide:
		g.mask(v)
		VMOVUPS(Z[from], K1, g.at(p, v))
	default:
		g.mask(v)
		VMASKMOVPS(Y[from], Y14, g.at(p, v))
	}
}

// keep clears the elements of register i that do not exist in register v of a masked block.
func (g vec) keep(v int, masked bool, i int) {
	switch {
	case !masked:
	case g.wide:
		g.mask(v)
		VMOVAPS_Z(Z[i], K1, Z[i])
	default:
		g.mask(v)
		VANDPS(Y14, Y[i], Y[i])
	}
}

// fill replaces the elements of register i that do not exist by those of register by.
func (g vec) fill(v int, masked bool, i, by int) {
	switch {
	case !masked:
	case g.wide:
		g.mask(v)
		VBLENDMPS(Z[i], Z[by], K1, Z[i])
	default:
		g.mask(v)
		VBLENDVPS(Y14, Y[i], Y[by], Y[i])
	}
}

func (g vec) zero(i int) {
	if g.wide {
		VPXORD(Z[i], Z[i], Z[i])
		return
	}
	VXORPS(Y[i], Y[i], Y[i])
}

// and, xor are bitwise with a constant.
func (g vec) and(m Mem, a, to int) {
	if g.wide {
		VPANDD(m, Z[a], Z[to])
		return
	}
	VPAND(m, Y[a], Y[to])
}

func (g vec) xor(m Mem, a, to int) {
	if g.wide {
		VPXORD(m, Z[a], Z[to])
		return
	}
	VPXOR(m, Y[a], Y[to])
}

// spread fills register i with a float32 argument.
func (g vec) spread(name string, i int) {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(c.Addr, g.r(i))
}

// fold reduces the block of accumulators acc, acc+1 … by halves into element 0 of register acc.
func (g vec) fold(acc, t int, op func(a, b, to VecPhysical)) {
	if g.wide {
		op(Z[acc+1], Z[acc], Z[acc])
		VEXTRACTF64X4(Imm(1), Z[acc], Y[t])
	} else {
		op(Y[acc+2], Y[acc], Y[acc])
		op(Y[acc+3], Y[acc+1], Y[acc+1])
		VMOVAPS(Y[acc+1], Y[t])
	}
	op(Y[t], Y[acc], Y[acc])
	VEXTRACTF128(Imm(1), Y[acc], X[t])
	op(X[t], X[acc], X[acc])
	VMOVHLPS(X[acc], X[acc], X[t])
	op(X[t], X[acc], X[acc])
	VMOVSHDUP(X[acc], X[t])
	op(X[t], X[acc], X[acc])
}

func sum(a, b, to VecPhysical)     { VADDPS(a, b, to) }
func largest(a, b, to VecPhysical) { VMAXPS(a, b, to) }

// pick sets to = a where the condition of pickMask holds, else b.
func (g vec) pick(a, b, to int) {
	if g.wide {
		VBLENDMPS(Z[a], Z[b], K2, Z[to])
		return
	}
	VBLENDVPS(Y[13], Y[a], Y[b], Y[to])
}

// whereNegative makes pick's condition the sign bit of register x.
func (g vec) whereNegative(x int) {
	if g.wide {
		VPMOVD2M(Z[x], K2)
		return
	}
	VMOVAPS(Y[x], Y[13])
}

// whereLess makes pick's condition x < constant.
func (g vec) whereLess(x int, c Mem) {
	if g.wide {
		VCMPPS(Imm(17), c, Z[x], K2)
		return
	}
	VCMPPS(Imm(17), c, Y[x], Y[13])
}

// The constants of exp, in the order of exp32: the range, log2(e), -ln(2) in two parts, the polynomial from c6
// down.
var expConstants = []float32{-104, 89, 1.44269504, -0.693145751953125, -1.42860682030941723212e-6,
	0.0013814219, 0.008368899, 0.041668408, 0.1666652, 0.49999994, 1}

// prepareExp keeps the constants of exp in registers 16 … 26 where there are so many.
func (g vec) prepareExp() {
	if !g.wide {
		return
	}
	for i := range expConstants {
		VMOVUPS(number(g.expNumber(i)), Z[16+i])
	}
}

// expNumber is a constant by its index.
func (g vec) expNumber(i int) float32 {
	if i == 0 && g.sumOnly {
		return -87
	}
	return expConstants[i]
}

// expConstant is the place of a constant: Z registers have been prepared.
func (g vec) expConstant(i int) Op {
	if g.wide {
		return Z[16+i]
	}
	return number(g.expNumber(i))
}

// exp replaces register x by its exponential (exp32 of the package); n and p are scratch. prepareExp must have
// been called.
func (g vec) exp(x, n, p int) {
	X, N, P := g.r(x), g.r(n), g.r(p)
	if g.wide {
		VMAXPS(X, Z16, X)
		VMINPS(X, Z17, X)
	} else {
		VMOVUPS(g.expConstant(0), N)
		VMAXPS(X, N, X)
		VMOVUPS(g.expConstant(1), N)
		VMINPS(X, N, X)
	}
	VMULPS(g.expConstant(2), X, N)
	if g.wide {
		VRNDSCALEPS(Imm(0), N, N)
	} else {
		VROUNDPS(Imm(0), N, N)
	}
	VFMADD231PS(g.expConstant(3), N, X)
	VFMADD231PS(g.expConstant(4), N, X)
	VMOVUPS(g.expConstant(5), P)
	for _, c := range []int{6, 7, 8, 9, 10, 10} {
		VFMADD213PS(g.expConstant(c), X, P)
	}
	if g.wide {
		VSCALEFPS(N, P, X)
		return
	}
	VCVTPS2DQ(N, N)
	VPSRAD(Imm(1), N, X)
	VPSUBD(X, N, N)
	bias := vector("exponentBias", 127)
	VPADDD(bias, X, X)
	VPSLLD(Imm(23), X, X)
	VPADDD(bias, N, N)
	VPSLLD(Imm(23), N, N)
	VMULPS(X, P, P)
	VMULPS(N, P, X)
}
