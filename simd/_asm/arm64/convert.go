package main

// convert generates the conversions between number types, eight elements at a time.
func convert() {
	conversion("f32FromF16N", "dst *float32, src *uint16", "converts n halfs, a multiple of 8, not zero.", nil, func(d, s reg) {
		read(s, 0, 0, 1)
		fcvtl(1, 0)
		fcvtl2(2, 0)
		store(d, 0, 1, 2)
	})
	conversion("f16FromF32N", "dst *uint16, src *float32", "rounds n numbers, a multiple of 8, not zero, to half, to nearest even.", nil, func(d, s reg) {
		read(s, 0, 0, 2)
		fcvtn(2, 0)
		fcvtn2(2, 1)
		store(d, 0, 2, 1)
	})
	conversion("f32FromBF16N", "dst *float32, src *uint16", "converts n bfloat16 numbers, a multiple of 8, not zero.", nil, func(d, s reg) {
		read(s, 0, 0, 1)
		shll(1, 0)
		shll2(2, 0)
		store(d, 0, 1, 2)
	})
	conversion("widenPairsN", "dst *float32, src *uint16", "is f32FromBF16N with the two of each pair exchanged.", nil, func(d, s reg) {
		read(s, 0, 0, 1)
		shll(1, 0)
		shll2(2, 0)
		over(1, 2, func(v int) { rev64(v, v) })
		store(d, 0, 1, 2)
	})
	constants := func() {
		usePool()
		word32(28, 1)
		word32(29, 0x7fff)
		word32(30, 0x400000)
		word32(27, 0x7f800000)
		word32(26, 0x80000000)
	}
	conversion("bf16FromF32N", "dst *uint16, src *float32", "rounds n numbers, a multiple of 8, not zero, to bfloat16, to nearest even, NaN kept and quieted.", constants, func(d, s reg) {
		toBF16(d, s, false)
	})
	conversion("roundRowBF16N", "dst *uint16, src *float32", "is bf16FromF32N with subnormal numbers replaced by zeros of their sign.", constants, func(d, s reg) {
		toBF16(d, s, true)
	})
}

func conversion(name, params, doc string, prepare func(), body func(d, s reg)) {
	text(name, params+", n int", "", 0, doc)
	d, s, n := arg("dst"), arg("src"), arg("n")
	if prepare != nil {
		prepare()
	}
	// the sizes of eight elements
	to, from := 32, 16
	if params[:len("dst *uint16")] == "dst *uint16" {
		to, from = 16, 32
	}
	label("loop")
	body(d, s)
	op("ADD $%d, %s, %s", to, d, d)
	op("ADD $%d, %s, %s", from, s, s)
	op("SUBS $8, %s, %s", n, n)
	op("BGT loop")
	op("RET")
}

// toBF16 adds half a unit, less one in the last place if the result's last bit is even, and cuts.
func toBF16(d, s reg, flush bool) {
	read(s, 0, 0, 2)
	if flush {
		over(0, 2, func(v int) { and(2+v, v, 27) })
		over(0, 2, func(v int) { cmeq0(2+v, 2+v) }) // no exponent
		over(0, 2, func(v int) { and(4+v, v, 26) })
		over(0, 2, func(v int) { bit(v, 4+v, 2+v) })
	}
	over(0, 2, func(v int) { ushr(2+v, v, 16) })
	over(0, 2, func(v int) { and(2+v, 2+v, 28) })
	over(0, 2, func(v int) { add(2+v, 2+v, 29) })
	over(0, 2, func(v int) { add(2+v, 2+v, v) })
	over(0, 2, func(v int) { orr(4+v, v, 30) })
	over(0, 2, func(v int) { fcmeq(6+v, v, v) }) // not NaN
	over(0, 2, func(v int) { bif(2+v, 4+v, 6+v) })
	shrn16(2, 2)
	shrn16x2(2, 3)
	store(d, 0, 2, 1)
}
