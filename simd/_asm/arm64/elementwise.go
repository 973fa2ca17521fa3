package main

// each writes a kernel dst[i] = f(x[i], …): body computes the registers v … v+ways-1 from themselves (x) and, if
// there is a second argument y, from 8+v …; prepare loads what all need. Scratch begins at register 8 (16 with
// y).
func each(name, params, doc string, ways int, prepare func(), body func(v int)) {
	two := len(params) > len(mapParams) && params[:len(addParams)] == addParams
	rows := []*row{{out: true}, {in: true}}
	if two {
		rows = append(rows, &row{in: true})
	}
	text(name, params, "", frameOf(len(rows)), doc)
	usePool()
	rows[0].r, rows[1].r = arg("dst"), arg("x")
	if two {
		rows[2].r = arg("y")
	}
	n := arg("n")
	if prepare != nil {
		prepare()
	}
	blocks("row", n, rows, func(bool) {
		if two {
			read(rows[2].r, 0, 8, quads)
		}
		for v := 0; v < quads; v += ways {
			read(rows[1].r, 16*v, v%8, ways)
			body(v)
			store(rows[0].r, 16*v, v%8, ways)
		}
	})
	op("RET")
}

const (
	mapParams = "dst *float32, x *float32, n int"
	addParams = "dst *float32, x *float32, y *float32"
)

// over runs f for the registers v … v+ways-1.
func over(v, ways int, f func(v int)) {
	for i := range ways {
		f(v + i)
	}
}

// elementwise generates the kernels of vector.go, exp.go and activation.go and the epilogue.
func elementwise() {
	epilogue()
	each("addN", addParams+", n int", "sets dst[i] = x[i] + y[i].", 8, nil,
		func(v int) { over(v, 8, func(v int) { fadd(v, v, 8+v) }) })
	each("scaleN", mapParams+", s float32", "sets dst[i] = s·x[i].", 8,
		func() { scalar("s", 31) },
		func(v int) { over(v, 8, func(v int) { fmulLane(v, v, 31, 0) }) })
	each("subTwoN", mapParams+", a float32, b float32", "sets dst[i] = (x[i] - a) - b.", 8,
		func() { spread("a", 30); spread("b", 31) },
		func(v int) {
			over(v, 8, func(v int) { fsub(v, v, 30) })
			over(v, 8, func(v int) { fsub(v, v, 31) })
		})
	each("reluN", mapParams, "sets dst[i] = max(x[i], 0); NaN and -0 stay.", 8, nil, func(v int) {
		over(v, 8, func(v int) { fcmlt0(8+v, v) })
		over(v, 8, func(v int) { bic(v, v, 8+v) })
	})
	each("expN", mapParams, "sets dst[i] = e^x[i].", 4, func() { expConstants(28) }, func(v int) { exp(seq(v, 4), 8, 28) })
	each("geluN", mapParams, "sets dst[i] = gelu32(x[i]).", 2, func() { expConstants(28) }, gelu)
	each("geluTanhN", mapParams, "sets dst[i] = geluTanh32(x[i]).", 4, geluTanhConstants, func(v int) {
		over(0, 4, func(i int) { fmul(20+i, v+i, v+i) })
		over(0, 4, func(i int) { fmulLane(20+i, 20+i, 31, 0) })
		over(0, 4, func(i int) { mov(24+i%4, v+i) })
		over(0, 4, func(i int) { fmla(24+i, 20+i, v+i) })
		over(0, 4, func(i int) { fmulLane(24+i, 24+i, 31, 1) })
		logistic(v)
	})
	each("swishN", mapParams, "sets dst[i] = x[i] / (1 + e^-x[i]).", 4, func() { expConstants(28) }, func(v int) {
		over(0, 4, func(i int) { fneg(24+i, v+i) })
		logistic(v)
	})
	each("tanhN", mapParams, "sets dst[i] = tanh32(x[i]).", 2, func() { expConstants(28) }, tanh)
	axpy()
}

func geluTanhConstants() {
	expConstants(28)
	lanes32(31, 0.044715, -1.5957691216)
}

// logistic sets the registers v … v+3 to x / (1 + e^u), x in them and u in 24 … 27.
func logistic(v int) {
	exp(seq(24, 4), 8, 28)
	over(0, 4, func(i int) { number(8+i, 1) })
	over(0, 4, func(i int) { fadd(24+i, 24+i, 8+i) })
	over(0, 4, func(i int) { fdiv(v+i, v+i, 24+i) })
}

// gelu is gelu32 of the registers v and v+1.
func gelu(v int) {
	const a, s, low, e, scratch = 8, 10, 12, 14, 16 // scratch: 16 … 21
	pair := func(f func(i int)) { over(0, 2, f) }
	pair(func(i int) { fabs(a+i, v+i) })
	pair(func(i int) { number(16+i, 15) })
	pair(func(i int) { fmin(a+i, a+i, 16+i) })
	pair(func(i int) { fmul(s+i, a+i, a+i) })
	pair(func(i int) { fneg(low+i, s+i) })
	pair(func(i int) { fmla(low+i, a+i, a+i) })
	pair(func(i int) { number(16+i, -0.5) })
	pair(func(i int) { fmul(e+i, s+i, 16+i) })
	pair(func(i int) { fmul(low+i, low+i, 16+i) })
	exp(seq(e, 2), scratch, 28)
	const corrected, t, one, p, q = 16, 18, 20, 22, 24
	pair(func(i int) { mov(corrected+i, e+i) })
	pair(func(i int) { fmla(corrected+i, e+i, low+i) })
	pair(func(i int) { number(one+i, 1) })
	pair(func(i int) { number(p+i, 0.3) })
	pair(func(i int) { mov(t+i, one+i) })
	pair(func(i int) { fmla(t+i, p+i, a+i) })
	pair(func(i int) { fdiv(t+i, one+i, t+i) })
	c := []float32{0.11968672, 0.11957132, 0.110239364, 0.07837214, 0.09620516, -0.079509646, 0.19188389, -0.22828528, 0.112465024, -0.020628707}
	from, to := p, q
	pair(func(i int) { number(from+i, c[9]) })
	for j := 8; j >= 0; j-- {
		pair(func(i int) { number(to+i, c[j]) })
		pair(func(i int) { fmla(to+i, from+i, t+i) })
		from, to = to, from
	}
	pair(func(i int) { fmul(from+i, from+i, t+i) })
	pair(func(i int) { fmul(from+i, from+i, corrected+i) }) // q = 1-Φ(|x|)
	pair(func(i int) { fsub(to+i, one+i, from+i) })
	pair(func(i int) { cmlt0(t+i, v+i) }) // the sign bit
	pair(func(i int) { bsl(t+i, from+i, to+i) })
	pair(func(i int) { fmul(v+i, v+i, t+i) })
}

// tanh is tanh32 of the registers v and v+1.
func tanh(v int) {
	const a, z, p, q, e = 8, 10, 12, 14, 16
	pair := func(f func(i int)) { over(0, 2, f) }
	pair(func(i int) { fabs(a+i, v+i) })
	pair(func(i int) { fmul(z+i, a+i, a+i) })
	c := []float32{-0.33333284, 0.13331491, -0.053743497, 0.020650579, -0.005717037}
	from, to := p, q
	pair(func(i int) { number(from+i, c[4]) })
	for j := 3; j >= 0; j-- {
		pair(func(i int) { number(to+i, c[j]) })
		pair(func(i int) { fmla(to+i, from+i, z+i) })
		from, to = to, from
	}
	pair(func(i int) { fmul(from+i, from+i, z+i) })
	pair(func(i int) { mov(z+i, a+i) })
	pair(func(i int) { fmla(z+i, from+i, a+i) }) // small |x|
	pair(func(i int) { fadd(e+i, a+i, a+i) })
	exp(seq(e, 2), 18, 28)
	pair(func(i int) { number(18+i, 1) })
	pair(func(i int) { number(20+i, 2) })
	pair(func(i int) { fadd(e+i, e+i, 18+i) })
	pair(func(i int) { fdiv(e+i, 20+i, e+i) })
	pair(func(i int) { fsub(e+i, 18+i, e+i) })
	pair(func(i int) { number(20+i, 0.625) })
	pair(func(i int) { fcmgt(20+i, 20+i, a+i) })
	pair(func(i int) { bit(e+i, z+i, 20+i) })
	pair(func(i int) { word32(20+i, 0x7fffffff) })
	pair(func(i int) { bit(v+i, e+i, 20+i) }) // all but the sign
}

func axpy() {
	text("axpyN", mapParams+", a float32", "", frameOf(2), "sets dst[i] = fma(a, x[i], dst[i]).")
	d, x := &row{r: arg("dst"), in: true, out: true}, &row{r: arg("x"), in: true}
	n := arg("n")
	scalar("a", 31)
	blocks("row", n, []*row{d, x}, func(bool) {
		read(d.r, 0, 0, 8)
		read(x.r, 0, 8, 8)
		over(0, 8, func(v int) { fmlaLane(v, 8+v, 31, 0) })
		store(d.r, 0, 0, 8)
	})
	op("RET")
}

// epilogue generates the row pass after a product: bias, a floor (0 for ReLU, -Inf for none), residual.
func epilogue() {
	text("epilogueN", "dst *float32, ldd int, rows int, n int, bias *float32, residual *float32, ldr int, floor float32", "", frameOf(3),
		"sets dst = max(dst + bias, floor) + residual for rows ≥ 1 of n ≥ 1 elements, strides in bytes; without the bias or the residual where that is nil.")
	d, ldd, count, bias, res, ldr := arg("dst"), arg("ldd"), arg("rows"), arg("bias"), arg("residual"), arg("ldr")
	spread("floor", 31)
	n, x, b, y := gp(), &row{r: gp(), in: true, out: true}, &row{r: gp(), in: true}, &row{r: gp(), in: true}
	pass := func(name string, withBias, withResidual bool) {
		label(name)
		rows := []*row{x}
		op("MOVD %s, %s", d, x.r)
		if withBias {
			op("MOVD %s, %s", bias, b.r)
			rows = append(rows, b)
		}
		if withResidual {
			op("MOVD %s, %s", res, y.r)
			rows = append(rows, y)
		}
		load("n", n)
		blocks(name, n, rows, func(bool) {
			read(x.r, 0, 0, 8)
			if withBias {
				read(b.r, 0, 8, 8)
				over(0, 8, func(v int) { fadd(v, v, 8+v) })
			}
			over(0, 8, func(v int) { fcmgt(16+v, 31, v) })
			over(0, 8, func(v int) { bit(v, 31, 16+v) })
			if withResidual {
				read(y.r, 0, 8, 8)
				over(0, 8, func(v int) { fadd(v, v, 8+v) })
			}
			store(x.r, 0, 0, 8)
		})
		op("ADD %s, %s, %s", ldd, d, d)
		op("ADD %s, %s, %s", ldr, res, res)
		op("SUBS $1, %s, %s", count, count)
		op("BNE %s", name)
		op("RET")
	}
	op("CBNZ %s, withResidual", res)
	op("CBNZ %s, bias", bias)
	pass("neither", false, false)
	pass("bias", true, false)
	label("withResidual")
	op("CBNZ %s, all", bias)
	pass("residual", false, true)
	pass("all", true, true)
}
