package main

import "fmt"

// Rows are worked on in blocks of 32 elements, eight registers of four, so that they keep the same 32 lanes
// as the other instruction sets. The end of a row is a block of its own in the frame of the function: what
// exists is copied there and back, and sums take only that (masks).

const quads = 8

// row is a pointer that moves along a row; in and out tell whether the block is read and written.
type row struct {
	r       reg
	in, out bool
}

// blocks runs body for every 32 of n elements, moving the pointers, and once more for the rest, with n then
// the number of elements that exist and the pointers into the frame. It changes n.
func blocks(name string, n reg, rows []*row, body func(rest bool)) {
	op("SUBS $32, %s, %s", n, n)
	op("BLT %sTail", name)
	label(name + "Loop")
	body(false)
	for _, p := range rows {
		op("ADD $128, %s, %s", p.r, p.r)
	}
	op("SUBS $32, %s, %s", n, n)
	op("BGE %sLoop", name)
	label(name + "Tail")
	op("ADDS $32, %s, %s", n, n)
	op("BEQ %sDone", name)
	real := make([]reg, len(rows))
	for i, p := range rows {
		frame := gp()
		op("MOVD $block%d-%d(SP), %s", i, 128*(i+1), frame)
		if p.in {
			copyRow(fmt.Sprintf("%sIn%d", name, i), n, p.r, frame)
		}
		real[i], p.r = p.r, frame
	}
	body(true)
	for i, p := range rows {
		if p.out {
			copyRow(fmt.Sprintf("%sOut%d", name, i), n, p.r, real[i])
		}
		release(p.r)
		p.r = real[i]
	}
	label(name + "Done")
}

// frameOf is the size of the frame for blocks with so many pointers.
func frameOf(rows int) int { return 128 * rows }

// copyRow copies n > 0 words, leaving the pointers as they are.
func copyRow(name string, n, from, to reg) {
	s, d, c, a, b := gp(), gp(), gp(), gp(), gp()
	op("MOVD %s, %s", from, s)
	op("MOVD %s, %s", to, d)
	op("SUBS $4, %s, %s", n, c)
	op("BLT %sWords", name)
	label(name + "Quads")
	op("LDP.P 16(%s), (%s, %s)", s, a, b)
	op("STP.P (%s, %s), 16(%s)", a, b, d)
	op("SUBS $4, %s, %s", c, c)
	op("BGE %sQuads", name)
	label(name + "Words")
	op("ADDS $4, %s, %s", c, c)
	op("BEQ %sEnd", name)
	label(name + "Word")
	op("MOVWU.P 4(%s), %s", s, a)
	op("MOVW.P %s, 4(%s)", a, d)
	op("SUBS $1, %s, %s", c, c)
	op("BNE %sWord", name)
	label(name + "End")
	release(s, d, c, a, b)
}

// maskRow returns a register that points to the masks of n < 32 elements for keepOnly.
func maskRow(n reg) reg {
	masked = true
	m, t := gp(), gp()
	op("MOVD $masks<>+128(SB), %s", m)
	op("LSL $2, %s, %s", n, t)
	op("SUB %s, %s, %s", t, m, m)
	release(t)
	return m
}

// accumulate runs f, which changes register acc; in a rest only for the elements of quad v that exist.
// t and t+1 are scratch.
func accumulate(acc, v int, rest bool, masks reg, t int, f func()) {
	if !rest {
		f()
		return
	}
	mov(t, acc)
	op("FMOVQ %d(%s), F%d", 16*v, masks, t+1)
	f()
	bif(acc, t, t+1)
}

// read loads count registers from p on, write stores them, count even or 1.
func read(p reg, disp, v, count int) {
	if count == 1 {
		op("FMOVQ %d(%s), F%d", disp, p, v)
		return
	}
	for i := 0; i < count; i += 2 {
		op("FLDPQ %d(%s), (F%d, F%d)", disp+16*i, p, v+i, v+i+1)
	}
}

func store(p reg, disp, v, count int) {
	if count == 1 {
		op("FMOVQ F%d, %d(%s)", v, disp, p)
		return
	}
	for i := 0; i < count; i += 2 {
		op("FSTPQ (F%d, F%d), %d(%s)", v+i, v+i+1, disp+16*i, p)
	}
}

func clear(v, count int) {
	for i := range count {
		zero(v + i)
	}
}

// fold reduces count accumulators, of which the missing ones are neutral, by halves into element 0 of
// register acc; t is scratch.
func fold(acc, count, t int, f func(d, n, m int)) {
	for h := count / 2; h > 0; h /= 2 {
		for i := range h {
			f(acc+i, acc+i, acc+i+h)
		}
	}
	for _, s := range []int{8, 4} {
		ext(t, acc, acc, s)
		f(acc, acc, t)
	}
}

// largest keeps in d = n the larger of n and m, n where m is NaN.
func largest(mask int) func(d, n, m int) {
	return func(d, n, m int) {
		fcmgt(mask, m, n)
		bit(d, m, mask)
	}
}

// expConstants puts what exp multiplies with and compares with into registers v, v+1 and v+2.
func expConstants(v int) { expConstantsFrom(v, -104) }

// expConstantsFrom is expConstants for numbers from low on; smaller ones give the result of low.
func expConstantsFrom(v int, low float32) {
	lanes32(v, 1.44269504, -0.693145751953125, -1.42860682030941723212e-6)
	number(v+1, low)
	number(v+2, 89)
}

// exp replaces the registers x by their exponentials (exp32 of the package); the registers from t on, three
// for each, are scratch, c those of expConstants. Working on several hides the latency of the chain.
func exp(x []int, t, c int) {
	k := len(x)
	n := func(i int) int { return t + i }
	p := func(i int) int { return t + k + i }
	q := func(i int) int { return t + 2*k + i }
	all := func(f func(i int)) {
		for i := range x {
			f(i)
		}
	}
	all(func(i int) { fmax(x[i], x[i], c+1) })
	all(func(i int) { fmin(x[i], x[i], c+2) })
	all(func(i int) { fmulLane(n(i), x[i], c, 0) })
	all(func(i int) { frintn(n(i), n(i)) })
	all(func(i int) { fmlaLane(x[i], n(i), c, 1) })
	all(func(i int) { fmlaLane(x[i], n(i), c, 2) })
	all(func(i int) { fcvtns(n(i), n(i)) })
	all(func(i int) { number(p(i), 0.0013814219) })
	a, b := p, q
	for _, coefficient := range []float32{0.008368899, 0.041668408, 0.1666652, 0.49999994, 1, 1} {
		all(func(i int) { number(b(i), coefficient) })
		all(func(i int) { fmla(b(i), a(i), x[i]) })
		a, b = b, a
	}
	all(func(i int) { sshr(x[i], n(i), 1) })
	all(func(i int) { sub(n(i), n(i), x[i]) })
	all(func(i int) { word32(b(i), 127) })
	all(func(i int) { add(x[i], x[i], b(i)) })
	all(func(i int) { add(n(i), n(i), b(i)) })
	all(func(i int) { shl(x[i], x[i], 23) })
	all(func(i int) { shl(n(i), n(i), 23) })
	all(func(i int) { fmul(a(i), a(i), x[i]) })
	all(func(i int) { fmul(x[i], a(i), n(i)) })
}

// lanes32 fills a register with up to four different numbers.
func lanes32(v int, numbers ...float32) {
	op("FMOVQ %d(%s), F%d", mixedConstant(numbers), pool, v)
}

// seq returns count registers from v on.
func seq(v, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = v + i
	}
	return list
}
