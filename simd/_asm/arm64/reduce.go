package main

import "fmt"

const negativeInf = 0xff800000

// reductions generates the kernels that go over a row and keep 32 lanes.
func reductions() {
	text("dotN", "x *float32, y *float32, n int", "float32", frameOf(2), "returns Σ x[i]·y[i].")
	x, y, n := &row{r: arg("x"), in: true}, &row{r: arg("y"), in: true}, arg("n")
	dotRow("row", x, y, n)
	result(16)

	text("maxN", "x *float32, n int", "float32", frameOf(1), "returns the largest element, -Inf for none.")
	usePool()
	x, n = &row{r: arg("x"), in: true}, arg("n")
	over(16, 8, func(v int) { word32(v, negativeInf) })
	blocks("row", n, []*row{x}, func(rest bool) { maxBlock(x.r, n, rest) })
	fold(16, 8, 0, largest(1))
	result(16)

	text("maxBitsN", "x *float32, n int", "uint32", frameOf(1), "returns the largest |x[i]| as bits, which puts NaN above Inf.")
	x, n = &row{r: arg("x"), in: true}, arg("n")
	clear(16, 8)
	sums("row", n, []*row{x}, func(v int) { fabs(v, v); umax(16+v, 16+v, v) })
	fold(16, 8, 0, umax)
	result(16)

	expSums()
	layerNorm()
	firstAbove()
	slotSoftmax()
	scores()
}

// result returns element 0 of register v.
func result(v int) {
	op("FMOVS F%d, ret+%d(FP)", v, function.result)
	op("RET")
}

// sums runs blocks over rows to be read, the first of them loaded into the registers 0 … 7: f adds the
// element of register v to the accumulators 16+v, with the registers 24 … as scratch.
func sums(name string, n reg, rows []*row, f func(v int)) {
	blocks(name, n, rows, func(rest bool) {
		var m reg
		if rest {
			m = maskRow(n)
		}
		for i, r := range rows {
			if r.in {
				read(r.r, 0, 8*i, 8)
			}
		}
		over(0, 8, func(v int) { accumulate(16+v, v, rest, m, 24, func() { f(v) }) })
		if rest {
			release(m)
		}
	})
}

// dotRow leaves the sum of products in element 0 of register 16.
func dotRow(name string, x, y *row, n reg) {
	clear(16, 8)
	sums(name, n, []*row{x, y}, func(v int) { fmla(16+v, v, 8+v) })
	fold(16, 8, 0, fadd)
}

// maxBlock takes the larger ones of the block into the accumulators 16 … 23.
func maxBlock(x, n reg, rest bool) {
	read(x, 0, 0, 8)
	if rest {
		m := maskRow(n)
		over(0, 8, func(v int) {
			op("FMOVQ %d(%s), F24", 16*v, m)
			fcmgt(8+v, v, 16+v)
			and(8+v, 8+v, 24)
		})
		release(m)
	} else {
		over(0, 8, func(v int) { fcmgt(8+v, v, 16+v) })
	}
	over(0, 8, func(v int) { bit(16+v, v, 8+v) })
}

func expSums() {
	for _, keep := range []bool{false, true} {
		name, params, doc := "expSumN", "x *float32, n int, m float32", "returns Σ e^(x[i]-m)."
		rows := []*row{{in: true}}
		if keep {
			name, params, doc = "expSumToN", "dst *float32, "+params, "sets dst[i] = e^(x[i]-m) and returns the sum."
			rows = append(rows, &row{out: true})
		}
		text(name, params, "float32", frameOf(len(rows)), doc)
		usePool()
		rows[0].r = arg("x")
		if keep {
			rows[1].r = arg("dst")
		}
		n := arg("n")
		spread("m", 31)
		if keep {
			expConstants(28)
		} else {
			expConstantsFrom(28, -87) // expSumLow of the package
		}
		clear(16, 8)
		blocks("row", n, rows, func(rest bool) {
			var m reg
			if rest {
				m = maskRow(n)
			}
			for v := 0; v < 8; v += 4 {
				read(rows[0].r, 16*v, 24, 4)
				over(24, 4, func(v int) { fsub(v, v, 31) })
				exp(seq(24, 4), 0, 28)
				if keep {
					store(rows[1].r, 16*v, 24, 4)
				}
				over(0, 4, func(i int) {
					accumulate(16+v+i, v+i, rest, m, 0, func() { fadd(16+v+i, 16+v+i, 24+i) })
				})
			}
			if rest {
				release(m)
			}
		})
		fold(16, 8, 0, fadd)
		result(16)
	}
}

func layerNorm() {
	text("layerNormN", "dst *float32, x *float32, gamma *float32, beta *float32, n int, count float32, eps float32", "", frameOf(4),
		"is layerNormGeneric with count = n.")
	usePool()
	d, x, gamma, beta := &row{r: arg("dst"), out: true}, &row{r: arg("x"), in: true}, &row{r: arg("gamma"), in: true}, &row{r: arg("beta"), in: true}
	n, p, c := arg("n"), &row{r: gp(), in: true}, gp()
	op("MOVD %s, %s", x.r, p.r)
	op("MOVD %s, %s", n, c)
	clear(16, 8)
	sums("mean", c, []*row{p}, func(v int) { fadd(16+v, 16+v, v) })
	fold(16, 8, 0, fadd)
	spread("count", 30)
	dup(31, 16, 0)
	fdiv(31, 31, 30) // mean
	op("MOVD %s, %s", x.r, p.r)
	op("MOVD %s, %s", n, c)
	clear(16, 8)
	sums("variance", c, []*row{p}, func(v int) { fsub(v, v, 31); fmla(16+v, v, v) })
	fold(16, 8, 0, fadd)
	dup(16, 16, 0)
	fdiv(16, 16, 30)
	spread("eps", 30)
	fadd(16, 16, 30)
	fsqrt(16, 16)
	number(30, 1)
	fdiv(30, 30, 16) // 1/√(variance+eps)
	blocks("norm", n, []*row{d, x, gamma, beta}, func(bool) {
		read(x.r, 0, 0, 8)
		over(0, 8, func(v int) { fsub(v, v, 31) })
		read(gamma.r, 0, 8, 8)
		over(0, 8, func(v int) { fmul(v, v, 30) })
		read(beta.r, 0, 16, 8)
		over(0, 8, func(v int) { fmla(16+v, v, 8+v) })
		store(d.r, 0, 16, 8)
	})
	op("RET")
}

func firstAbove() {
	text("firstAboveN", "x *float32, i int, n int, v float32", "int", 0,
		"returns the first of i, i+64 … from which one of 64 elements is greater than v; at the latest the first of which fewer than 64 are left.")
	x, i, n := arg("x"), arg("i"), arg("n")
	p, a, b := gp(), gp(), gp()
	spread("v", 31)
	op("SUB $64, %s, %s", n, n)
	op("ADD %s<<2, %s, %s", i, x, p)
	label("loop")
	op("CMP %s, %s", n, i)
	op("BGT out")
	for h := 0; h < 16; h += 8 {
		read(p, 16*h, h, 8)
		over(h, 8, func(v int) { fcmgt(v, v, 31) })
	}
	for h := 8; h > 0; h /= 2 {
		over(0, h, func(v int) { orr(v, v, v+h) })
	}
	op("VMOV V0.D[0], %s", a)
	op("VMOV V0.D[1], %s", b)
	op("ORR %s, %s, %s", b, a, a)
	op("CBNZ %s, out", a)
	op("ADD $256, %s, %s", p, p)
	op("ADD $64, %s, %s", i, i)
	op("B loop")
	label("out")
	op("MOVD %s, ret+%d(FP)", i, function.result)
	op("RET")
}

// slotSoftmax keeps α in registers 8 … 15, a head's exponentials in 0 … 7. There is a loop for each number of
// slots that fills registers, and one for the others with all eight, copying each head's scores.
func slotSoftmax() {
	text("slotSoftmaxN", "alpha *float32, q *float32, n int, heads int, mean float32", "", frameOf(1),
		"is slotSoftmaxGeneric for 0 < n ≤ 32 slots with mean = 1/heads.")
	usePool()
	alpha, q, n, heads := arg("alpha"), arg("q"), arg("n"), arg("heads")
	stride := gp()
	op("LSL $2, %s, %s", n, stride)
	expConstants(28)
	clear(8, 8)
	for _, count := range []int{1, 2, 4, 8} {
		op("CMP $%d, %s", 4*count, n)
		op("BEQ heads%d", count)
	}
	frame, m := gp(), maskRow(n)
	op("MOVD $block0-128(SP), %s", frame)
	head := func(name string, from reg, count int, rest bool) {
		slotHead(from, m, count, rest)
		op("ADD %s, %s, %s", stride, q, q)
		op("SUBS $1, %s, %s", heads, heads)
		op("BNE %s", name)
		scalar("mean", 31)
		over(8, count, func(v int) { fmulLane(v, v, 31, 0) })
	}
	label("heads")
	copyRow("scores", n, q, frame)
	head("heads", frame, 8, true)
	store(frame, 0, 8, 8)
	copyRow("result", n, frame, alpha)
	op("RET")
	for _, count := range []int{1, 2, 4, 8} {
		name := fmt.Sprintf("heads%d", count)
		label(name)
		head(name, q, count, false)
		store(alpha, 0, 8, count)
		op("RET")
	}
}

// slotHead adds the softmax of one head in count registers to α.
func slotHead(from, masks reg, count int, rest bool) {
	read(from, 0, 0, count)
	over(0, count, func(v int) {
		word32(16+v, negativeInf)
		fcmgt(24, v, 16+v)
		if rest {
			op("FMOVQ %d(%s), F25", 16*v, masks)
			and(24, 24, 25)
		}
		bit(16+v, v, 24)
	})
	fold(16, count, 24, largest(25))
	dup(16, 16, 0)
	over(0, count, func(v int) { fsub(v, v, 16) })
	ways := min(count, 2)
	for v := 0; v < count; v += ways {
		exp(seq(v, ways), 17, 28)
	}
	if rest {
		over(0, count, func(v int) {
			op("FMOVQ %d(%s), F24", 16*v, masks)
			and(v, v, 24)
		})
	}
	if half := count / 2; half > 0 {
		over(0, half, func(v int) { fadd(16+v, v, v+half) })
		fold(16, half, 24, fadd)
	} else {
		mov(16, 0)
		fold(16, 1, 24, fadd)
	}
	dup(16, 16, 0)
	number(17, 1)
	fdiv(17, 17, 16)
	over(0, count, func(v int) { fmla(8+v, v, 17) })
}

// scores runs dotRow for each key.
func scores() {
	text("scoresN", "dst *float32, q *float32, keys *float32, ldk int, t int, n int, s float32", "", frameOf(2),
		"sets dst[i] = s·Σ q·keys[i] for t rows of n elements, ldk bytes apart.")
	d, q, keys, ldk, t := arg("dst"), arg("q"), arg("keys"), arg("ldk"), arg("t")
	x, y, n := &row{r: gp(), in: true}, &row{r: gp(), in: true}, gp()
	label("key")
	op("MOVD %s, %s", q, x.r)
	op("MOVD %s, %s", keys, y.r)
	load("n", n)
	dotRow("row", x, y, n)
	scalar("s", 31)
	fmulLane(16, 16, 31, 0)
	op("FMOVS.P F16, 4(%s)", d)
	op("ADD %s, %s, %s", ldk, keys, keys)
	op("SUBS $1, %s, %s", t, t)
	op("BNE key")
	op("RET")
}
