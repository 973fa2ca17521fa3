package main

// quantizers generates the rounding of activations for int8.
func quantizers() {
	text("quantizeN", "dst *uint8, x *float32, n int, inv float32", "", 0,
		"sets dst[i] = round(x[i]·inv) + 128, modulo 256, n a multiple of 32, not zero; NaN and what an int32 cannot hold count as 0.")
	usePool()
	d, x, n := arg("dst"), arg("x"), arg("n")
	scalar("inv", 31)
	word32(30, 128)
	number(29, 128)
	number(28, -128)
	label("loop")
	read(x, 0, 0, 8)
	over(0, 8, func(v int) { fmulLane(v, v, 31, 0) })
	over(0, 8, func(v int) { frintn(v, v) })
	over(0, 8, func(v int) { fcmgt(8+v, 29, v) }) // below 128
	over(0, 8, func(v int) { fcmge(16+v, v, 28) })
	over(0, 8, func(v int) { fcvtns(v, v) })
	over(0, 8, func(v int) { and(v, v, 8+v) })
	over(0, 8, func(v int) { and(v, v, 16+v) })
	over(0, 8, func(v int) { add(v, v, 30) })
	over(0, 4, func(v int) { xtn(8+v, 2*v) })
	over(0, 4, func(v int) { xtn2(8+v, 2*v+1) })
	over(0, 2, func(v int) { xtnb(v, 8+2*v) })
	over(0, 2, func(v int) { xtnb2(v, 9+2*v) })
	store(d, 0, 0, 2)
	op("ADD $128, %s, %s", x, x)
	op("ADD $32, %s, %s", d, d)
	op("SUBS $32, %s, %s", n, n)
	op("BGT loop")
	op("RET")
}
