package main

// memories generates the reads and the step of a memory [K,D] and the weighted sum of attention.
func memories() {
	weightedSum("weightedSumN", false, "sets dst[i] = s·Σ p[j]·v[j,i] for t ≥ 1 rows of n elements, ldv bytes apart.")
	weightedSum("weightedSumF16N", true, "is weightedSumN of halfs for n a multiple of 32.")
	memoryStep()
}

// weightedSum goes over blocks of columns, outside, and the rows, inside: 64 columns first, then 32, then the
// rest.
func weightedSum(name string, half bool, doc string) {
	typ, bytes, frame := "*float32", 4, 128
	if half {
		typ, bytes, frame = "*uint16", 2, 0
	}
	text(name, "dst *float32, p *float32, v "+typ+", ldv int, t int, n int, s float32", "", frame, doc)
	d, p, v, ldv, t, n := arg("dst"), arg("p"), arg("v"), arg("ldv"), arg("t"), arg("n")
	pp, vp, c := gp(), gp(), gp()
	scalar("s", 31)
	// columns sums over the rows for count registers of columns into the registers from 0 on
	columns := func(name string, count int, fetch func(i int)) {
		clear(0, count)
		op("MOVD %s, %s", p, pp)
		op("MOVD %s, %s", v, vp)
		op("MOVD %s, %s", t, c)
		label(name + "Row")
		op("FMOVS.P 4(%s), F30", pp)
		for i := 0; i < count; i += 8 {
			fetch(i)
			over(0, 8, func(j int) { fmlaLane(i+j, 16+j, 30, 0) })
		}
		op("ADD %s, %s, %s", ldv, vp, vp)
		op("SUBS $1, %s, %s", c, c)
		op("BNE %sRow", name)
		over(0, count, func(i int) { fmulLane(i, i, 31, 0) })
	}
	fetch := func(i int) {
		if !half {
			read(vp, 16*i, 16, 8)
			return
		}
		read(vp, 8*i, 24, 4)
		over(0, 4, func(j int) { fcvtl(16+2*j, 24+j); fcvtl2(17+2*j, 24+j) })
	}
	for _, b := range []struct {
		name  string
		count int
	}{{"many", 16}, {"block", 8}} {
		label(b.name)
		op("CMP $%d, %s", 4*b.count, n)
		op("BLT %sEnd", b.name)
		columns(b.name, b.count, fetch)
		store(d, 0, 0, b.count)
		op("ADD $%d, %s, %s", 16*b.count, d, d)
		op("ADD $%d, %s, %s", 4*bytes*b.count, v, v)
		op("SUB $%d, %s, %s", 4*b.count, n, n)
		op("B %s", b.name)
		label(b.name + "End")
	}
	if !half {
		op("CBZ %s, done", n)
		block := gp()
		op("MOVD $block0-128(SP), %s", block)
		columns("rest", 8, func(int) {
			copyRow("rest", n, vp, block)
			read(block, 0, 16, 8)
		})
		store(block, 0, 0, 8)
		copyRow("result", n, block, d)
		label("done")
	}
	op("RET")
}

// memoryStep goes over blocks of 32 columns, outside, and the slots, inside.
func memoryStep() {
	text("memoryStepN", "y *float32, m *float32, kappa *float32, nu *float32, alpha *float32, k int, n int, s float32", "", frameOf(3),
		"adds κνᵀ to m [k,n] and sets y = s·αᵀm, k ≥ 1.")
	y, nu := &row{r: arg("y"), out: true}, &row{r: arg("nu"), in: true}
	m, kappa, alpha, k, n := arg("m"), arg("kappa"), arg("alpha"), arg("k"), arg("n")
	stride, mp, kp, ap, j := gp(), gp(), gp(), gp(), gp()
	op("LSL $2, %s, %s", n, stride)
	scalar("s", 31)
	blocks("row", n, []*row{y, nu}, func(rest bool) {
		name, slot := "slot", mp
		if rest {
			name, slot = "slotRest", gp()
			op("MOVD $block2-%d(SP), %s", frameOf(3), slot)
		}
		read(nu.r, 0, 0, 8)
		clear(8, 8)
		op("MOVD %s, %s", m, mp)
		op("MOVD %s, %s", kappa, kp)
		op("MOVD %s, %s", alpha, ap)
		op("MOVD %s, %s", k, j)
		label(name)
		op("FMOVS.P 4(%s), F24", kp)
		op("FMOVS.P 4(%s), F25", ap)
		if rest {
			copyRow("slotIn", n, mp, slot)
		}
		read(slot, 0, 16, 8)
		over(0, 8, func(v int) { fmlaLane(16+v, v, 24, 0) })
		over(0, 8, func(v int) { fmlaLane(8+v, 16+v, 25, 0) })
		store(slot, 0, 16, 8)
		if rest {
			copyRow("slotOut", n, slot, mp)
			release(slot)
		}
		op("ADD %s, %s, %s", stride, mp, mp)
		op("SUBS $1, %s, %s", j, j)
		op("BNE %s", name)
		over(8, 8, func(v int) { fmulLane(v, v, 31, 0) })
		store(y.r, 0, 8, 8)
		if !rest {
			op("ADD $128, %s, %s", m, m)
		}
	})
	op("RET")
}
