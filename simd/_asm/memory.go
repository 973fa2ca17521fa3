package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// memories generates the reads and the step of a memory [K,D] and the weighted sum of attention.
func memories() {
	both("weightedSum", "func(dst *float32, p *float32, v *float32, ldv int, t int, n int, s float32)",
		"sets dst[i] = s·Σ p[j]·v[j,i] for t ≥ 1 rows of n elements, ldv bytes apart.", func(g vec) { g.weightedSum(false) })
	both("weightedSumF16", "func(dst *float32, p *float32, v *uint16, ldv int, t int, n int, s float32)",
		"is weightedSum of halfs for n a multiple of 32.", func(g vec) { g.weightedSum(true) })
	both("weightedRows", "func(dst *float32, p *float32, v *float32, ldv int, t int, n int, s float32)",
		"is weightedSum for long rows: four rows at a time, read in order.", func(g vec) { g.weightedRows(false) })
	both("weightedRowsF16", "func(dst *float32, p *float32, v *uint16, ldv int, t int, n int, s float32)",
		"is weightedRows of halfs for n a multiple of 32.", func(g vec) { g.weightedRows(true) })
	both("memoryStep", "func(y *float32, m *float32, kappa *float32, nu *float32, alpha *float32, k int, n int, s float32)",
		"adds κνᵀ to m [k,n] and sets y = s·αᵀm, k ≥ 1.", vec.memoryStep)
}

// weightedSum goes over blocks of columns, outside, and the rows, inside: many registers of columns first,
// prefetching the next columns, then 32 at a time, then the rest masked.
func (g vec) weightedSum(half bool) {
	d, p, v, ldv, t, n := arg("dst"), arg("p"), arg("v"), arg("ldv"), arg("t"), arg("n")
	bytes := 4 * g.width()
	if half {
		bytes = 2 * g.width()
	}
	many := 8
	if g.wide {
		many = 16
	}
	pp, vp, c := GP64(), GP64(), GP64()
	columns := func(label string, count int, masked, prefetch bool) {
		for i := range count {
			g.zero(i)
		}
		MOVQ(p, pp)
		MOVQ(v, vp)
		MOVQ(t, c)
		Label(label + "row")
		w, x := g.r(count), g.r(count+1)
		VBROADCASTSS(Mem{Base: pp}, w)
		for i := range count {
			m := Mem{Base: vp, Disp: i * bytes}
			switch {
			case masked:
				g.load(vp, i, true, count+1)
				VFMADD231PS(x, w, g.r(i))
			case half:
				VCVTPH2PS(m, x)
				VFMADD231PS(x, w, g.r(i))
			default:
				VFMADD231PS(m, w, g.r(i))
			}
			if prefetch && i*bytes%64 == 0 {
				PREFETCHT0(Mem{Base: vp, Disp: (count + i) * bytes})
			}
		}
		ADDQ(Imm(4), pp)
		ADDQ(ldv, vp)
		DECQ(c)
		JNZ(LabelRef(label + "row"))
		g.spread("s", count)
		for i := range count {
			VMULPS(w, g.r(i), g.r(i))
			g.store(i, d, i, masked)
		}
		ADDQ(I32(int32(count*g.width()*4)), d)
		ADDQ(I32(int32(count*bytes)), v)
	}
	for _, b := range []struct {
		label string
		count int
	}{{"many", many}, {"block", g.count()}} {
		width := count32(b.count * g.width())
		Label(b.label)
		CMPQ(n, width)
		JL(LabelRef(b.label + "end"))
		columns(b.label, b.count, false, b.label == "many")
		SUBQ(width, n)
		JMP(LabelRef(b.label))
		Label(b.label + "end")
	}
	if !half {
		TESTQ(n, n)
		JZ(LabelRef("done"))
		g.rest(n)
		columns("rest", g.count(), true, false)
		Label("done")
	}
}

// weightedRows adds four rows at a time to dst, from the start to the end of the rows, and prefetches the four
// after them. Register 8 clears dst in the first pass, 9 is the factor, s in the last pass, else 1.
func (g vec) weightedRows(half bool) {
	d, p, v, ldv, t, n := arg("dst"), arg("p"), arg("v"), arg("ldv"), arg("t"), arg("n")
	bytes := 4 * g.width()
	if half {
		bytes = 2 * g.width()
	}
	ldv3, dp, vp, next, c := GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: ldv, Index: ldv, Scale: 2}, ldv3)
	g.zero(8)
	rows := panelPointers{vp, ldv, ldv3}
	ahead := panelPointers{next, ldv, ldv3}
	pass := func(label string, count int) {
		Label(label)
		for j := range count {
			VBROADCASTSS(Mem{Base: p, Disp: 4 * j}, g.r(4+j))
		}
		MOVQ(d, dp)
		MOVQ(v, vp)
		LEAQ(Mem{Base: v, Index: ldv, Scale: 4}, next)
		MOVQ(n, c)
		block := func(masked bool) {
			for i := range g.count() {
				g.load(dp, i, masked, 0)
				g.andRegister(8, 0)
				for j := range count {
					m := rows.mem(j, i*bytes)
					switch {
					case half:
						VCVTPH2PS(m, g.r(1))
						VFMADD231PS(g.r(1), g.r(4+j), g.r(0))
					case !masked:
						VFMADD231PS(m, g.r(4+j), g.r(0))
					case g.wide:
						VMOVUPS_Z(m, K1, Z[1])
						VFMADD231PS(g.r(1), g.r(4+j), g.r(0))
					default:
						VMASKMOVPS(m, Y14, Y[1])
						VFMADD231PS(g.r(1), g.r(4+j), g.r(0))
					}
					if count == 4 && !masked && i*bytes%64 == 0 {
						PREFETCHT0(ahead.mem(j, i*bytes))
					}
				}
				VMULPS(g.r(9), g.r(0), g.r(0))
				g.store(0, dp, i, masked)
			}
			ADDQ(I32(int32(g.count()*bytes)), vp)
			ADDQ(I32(int32(g.count()*bytes)), next)
		}
		g.blocks(label, c, []Register{dp}, block)
		JMP(LabelRef("after"))
	}
	Label("pass")
	VBROADCASTSS(number(1), g.r(9))
	CMPQ(t, Imm(4))
	JG(LabelRef("four"))
	g.spread("s", 9)
	CMPQ(t, Imm(3))
	JG(LabelRef("four"))
	JE(LabelRef("three"))
	CMPQ(t, Imm(2))
	JE(LabelRef("two"))
	pass("one", 1)
	pass("two", 2)
	pass("three", 3)
	pass("four", 4)
	Label("after")
	VMOVUPS(vector("allBits", 0xffffffff), g.r(8))
	ADDQ(Imm(16), p)
	LEAQ(Mem{Base: v, Index: ldv, Scale: 4}, v)
	SUBQ(Imm(4), t)
	JG(LabelRef("pass"))
}

// andRegister sets register to to its bits that are also in register a.
func (g vec) andRegister(a, to int) {
	if g.wide {
		VPANDD(Z[a], Z[to], Z[to])
		return
	}
	VPAND(Y[a], Y[to], Y[to])
}

func count32(n int) Op { return I32(int32(n)) }

// memoryStep goes over blocks of 32 columns, outside, and the slots, inside.
func (g vec) memoryStep() {
	y, m, kappa, nu, alpha, k, n := arg("y"), arg("m"), arg("kappa"), arg("nu"), arg("alpha"), arg("k"), arg("n")
	stride, mp, j := GP64(), GP64(), GP64()
	MOVQ(n, stride)
	SHLQ(Imm(2), stride)
	g.spread("s", 12)
	body := func(masked bool) {
		label := "slot"
		if masked {
			label = "slotRest"
		}
		for v := range g.count() {
			g.load(nu, v, masked, 4+v)
			g.zero(8 + v)
		}
		MOVQ(m, mp)
		XORQ(j, j)
		Label(label)
		VBROADCASTSS(Mem{Base: kappa, Index: j, Scale: 4}, g.r(0))
		VBROADCASTSS(Mem{Base: alpha, Index: j, Scale: 4}, g.r(1))
		for v := range g.count() {
			g.load(mp, v, masked, 2)
			VFMADD231PS(g.r(4+v), g.r(0), g.r(2))
			g.store(2, mp, v, masked)
			VFMADD231PS(g.r(2), g.r(1), g.r(8+v))
		}
		ADDQ(stride, mp)
		INCQ(j)
		CMPQ(j, k)
		JL(LabelRef(label))
		for v := range g.count() {
			VMULPS(g.r(12), g.r(8+v), g.r(8+v))
			g.store(8+v, y, v, masked)
		}
	}
	g.blocks("", n, []Register{y, m, nu}, body)
}
