package main

// peak generates the loops that measure the machine: 24 independent chains of a multiply-add, so that no
// latency shows, and reading of memory.
func peak() {
	chains := func(name, doc string, f func(v int)) {
		text(name, "n int", "", 0, doc)
		n := arg("n")
		clear(0, 32)
		label("loop")
		over(0, 24, f)
		op("SUBS $1, %s, %s", n, n)
		op("BGT loop")
		op("RET")
	}
	chains("peakFMAN", "does n turns of 24 multiply-adds of 4 elements.", func(v int) { fmlaLane(v, 24+v%4, 28+v%4, v%4) })
	chains("peakI8D", "does n turns of 24 integer dot products of 16 bytes (FEAT_DotProd).", func(v int) { sdotLane(v, 24+v%4, 28+v%4, v%4) })

	text("readN", "p *byte, stride int, n int", "", 0, "loads n bytes, a multiple of 256, not zero, of each of four streams, stride bytes apart.")
	p, stride, n := arg("p"), arg("stride"), arg("n")
	streams := []reg{p, gp(), gp(), gp()}
	for i, s := range streams[1:] {
		op("ADD %s, %s, %s", stride, streams[i], s)
	}
	label("loop")
	for i := 0; i < 256; i += 64 {
		for _, s := range streams {
			read(s, i, 0, 4)
		}
	}
	for _, s := range streams {
		op("ADD $256, %s, %s", s, s)
	}
	op("SUBS $256, %s, %s", n, n)
	op("BGT loop")
	op("RET")
}
