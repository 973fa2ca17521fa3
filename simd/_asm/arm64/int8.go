package main

import "fmt"

// The activations are unsigned with zero point 128; with their highest bit flipped they are the signed
// differences from it, so that the sums start at zero and comp is not read.

const tileI8Params = "a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, comp *byte, sw *byte, sa *byte, pf int, pfs int, klast int, pflast int"

// int8Tiles generates the products of bytes: with FEAT_DotProd (D), where an instruction adds four products to
// each of four sums, and without (N), where products of 16 bits are added in pairs to two sums of 32 bits for
// each column, which cannot overflow.
func int8Tiles() {
	for _, s := range [][2]int{{1, 16}, {1, 8}, {2, 8}, {3, 8}, {4, 4}, {5, 4}, {6, 4}} {
		t := tileI8{rows: s[0], count: s[1], sums: 1}
		t.write(fmt.Sprintf("mulI8D%dx%d", s[0], s[1]))
	}
	for _, s := range [][2]int{{1, 8}, {2, 4}} {
		t := tileI8{rows: s[0], count: s[1], sums: 2}
		t.write(fmt.Sprintf("mulI8N%dx%d", s[0], s[1]))
	}
}

// tileI8 is a tile of rows × count registers of four columns, each with so many sums (registers).
type tileI8 struct{ rows, count, sums int }

func (t tileI8) sum(row, j int) int { return (row*t.count + j) * t.sums }
func (t tileI8) x(row int) int      { return t.rows*t.count*t.sums + row }
func (t tileI8) temp(i int) int     { return t.rows*(t.count*t.sums+1) + i }

func (t tileI8) write(name string) {
	text(name, tileI8Params, "", 0, "is a tile of matMulI8: see tilei8.go for the arguments. comp is not used.")
	usePool()
	a := []reg{arg("a")}
	lda, w, k, pf, pfs := arg("lda"), arg("w"), arg("k"), arg("pf"), arg("pfs")
	for i := 1; i < t.rows; i++ {
		a = append(a, gp())
		op("ADD %s, %s, %s", lda, a[i-1], a[i])
	}
	panels := []reg{w}
	if t.count > 8 {
		panels = append(panels, arg("wstride"))
		op("ADD %s, %s, %s", w, panels[1], panels[1])
	}
	ahead := fetchers(panels, pf)
	var last reg
	if len(panels) > 1 {
		last = arg("klast")
	}
	clear(0, t.rows*t.count*t.sums)

	const steps = 4 // 16 activations of a row are loaded at once
	advance := func(n int) {
		for _, p := range panels {
			op("ADD $%d, %s, %s", n*128, p, p)
		}
		moveAhead(n, ahead, pfs)
	}
	if len(panels) > 1 {
		label("again")
	}
	op("SUBS $%d, %s, %s", steps, k, k)
	op("BLT rest")
	label("loop")
	for i := range t.rows {
		op("VLD1.P 16(%s), [V%d.B16]", a[i], t.x(i))
	}
	t.signed()
	for s := range steps {
		t.step(s, panels)
	}
	for at := 0; at < steps*128; at += 64 {
		if t.count > 4 || at%128 == 0 {
			for _, p := range ahead {
				op("PRFM %d(%s), PLDL1KEEP", at, p)
			}
		}
	}
	advance(steps)
	op("SUBS $%d, %s, %s", steps, k, k)
	op("BGE loop")
	label("rest")
	op("ADDS $%d, %s, %s", steps, k, k)
	op("BEQ done")
	label("one")
	for i := range t.rows {
		op("FMOVS.P 4(%s), F%d", a[i], t.x(i))
	}
	t.signed()
	t.step(0, panels)
	advance(1)
	op("SUBS $1, %s, %s", k, k)
	op("BNE one")
	label("done")
	if len(panels) > 1 { // the last steps, with another distance to fetch
		op("CBZ %s, results", last)
		op("MOVD %s, %s", last, k)
		op("MOVD ZR, %s", last)
		load("pflast", pf)
		for i, p := range ahead {
			op("ADD %s, %s, %s", panels[i], pf, p)
		}
		op("B again")
		label("results")
	}
	t.results()
	op("RET")
}

// signed flips the highest bits of the activations.
func (t tileI8) signed() {
	word32(t.temp(0), 0x80808080)
	for i := range t.rows {
		eor(t.x(i), t.x(i), t.temp(0))
	}
}

// step adds the products of step s of the loop.
func (t tileI8) step(s int, panels []reg) {
	if t.sums == 2 {
		t.stepWiden(s, panels[0])
		return
	}
	free := 32 - t.temp(0)
	next := 0
	for j := 0; j < t.count; j += 2 {
		if next+2 > free {
			next = 0
		}
		v := t.temp(next)
		next += 2
		read(panels[j/8], s*128+j%8*16, v, 2)
		for i := range 2 {
			for r := range t.rows {
				sdotLane(t.sum(r, j+i), v+i, t.x(r), s)
			}
		}
	}
}

// stepWiden is step without dot products.
func (t tileI8) stepWiden(s int, p reg) {
	// temps: the step's four activations of each row, spread; weights; products
	spread := func(r int) int { return t.temp(r) }
	w, products := t.temp(t.rows), t.temp(t.rows+2)
	for r := range t.rows {
		dup(spread(r), t.x(r), s)
	}
	for j := 0; j < t.count; j += 2 {
		read(p, s*128+j*16, w, 2)
		for i := range 2 {
			for r := range t.rows {
				smull(products+2*r, w+i, spread(r))
				smull2(products+2*r+1, w+i, spread(r))
			}
			for r := range t.rows {
				sadalp(t.sum(r, j+i), products+2*r)
				sadalp(t.sum(r, j+i)+1, products+2*r+1)
			}
		}
	}
}

// results stores (float32(sum)·sa)·sw.
func (t tileI8) results() {
	c, ldc, sw, sa := arg("c"), arg("ldc"), arg("sw"), arg("sa")
	scale, x := t.temp(0), t.x(0)
	for r := range t.rows {
		op("FMOVS.P 4(%s), F%d", sa, x)
		for j := range t.count {
			v := t.sum(r, j)
			if t.sums == 2 {
				addp(v, v, v+1)
			}
			scvtf(v, v)
			fmulLane(v, v, x, 0)
			read(sw, 16*j, scale, 1)
			fmul(v, v, scale)
			store(c, 16*j, v, 1)
		}
		if r < t.rows-1 {
			op("ADD %s, %s, %s", ldc, c, c)
		}
	}
}
