package main

import "fmt"

// tile describes a micro-kernel of rows × count registers of four columns: a register per sum, then a register
// per row that holds four activations, the rest for weights.
type tile struct {
	rows, count int
	weights     weights
}

// weights is a type of weights.
type weights struct {
	name    string
	step    int  // bytes of a panel in a step
	xstep   int  // activations in a step
	perStep int  // bytes of four columns in a step
	bf      bool // pairs of bfloat16
}

var (
	weightsF32 = weights{"F32", 128, 1, 16, false}
	weightsF16 = weights{"F16", 64, 1, 8, false}
	weightsBF  = weights{"BF", 128, 2, 16, true}
)

const tileParams = "a *byte, lda int, w *byte, wstride int, c *byte, ldc int, k int, resume int, pf int, pfs int"

// floatTiles generates the products in float32. A tile of 6 × 16 has 24 multiply-adds for 4 loads or widenings
// of weights; up to three rows take a whole panel, one row two, for enough independent sums.
func floatTiles() {
	shapes := []tile{{rows: 1, count: 16}, {rows: 1, count: 8}, {rows: 2, count: 8}, {rows: 3, count: 8}, {rows: 4, count: 4}, {rows: 5, count: 4}, {rows: 6, count: 4}}
	for _, w := range []weights{weightsF32, weightsF16, weightsBF} {
		for _, t := range shapes {
			t.weights = w
			t.write(false)
			if w.name != "F32" && t.rows >= 3 {
				t.write(true)
			}
		}
	}
}

func (t tile) sum(row, j int) int { return row*t.count + j }
func (t tile) x(row int) int      { return t.rows*t.count + row }

// temps are the registers for weights.
func (t tile) temps() []int {
	first := t.rows * (t.count + 1)
	return seq(first, 32-first)
}

// write writes the micro-kernel; with keep it also stores the widened weights.
func (t tile) write(keep bool) {
	w := t.weights
	name := fmt.Sprintf("mul%sN%dx%d", w.name, t.rows, t.count)
	params, doc := tileParams, "is a tile of matMul: see tile.go for the arguments."
	if keep {
		name = fmt.Sprintf("mul%sKeepN%dx%d", w.name, t.rows, t.count)
		params, doc = params+", wide *byte", "is a tile of matMul that stores the weights as float32: see tile.go for the arguments."
	}
	text(name, params, "", 0, doc)
	a := []reg{arg("a")}
	lda, wp, c, ldc, k, resume, pf, pfs := arg("lda"), arg("w"), arg("c"), arg("ldc"), arg("k"), arg("resume"), arg("pf"), arg("pfs")
	for i := 1; i < t.rows; i++ {
		a = append(a, gp())
		op("ADD %s, %s, %s", lda, a[i-1], a[i])
	}
	panels := []reg{wp}
	if t.count > 8 {
		panels = append(panels, arg("wstride"))
		op("ADD %s, %s, %s", wp, panels[1], panels[1])
	}
	var wide reg
	if keep {
		wide = arg("wide")
	}
	ahead := fetchers(panels, pf)
	if t.needsMask() {
		op("MOVD $0xffff0000ffff0000, %s", lda)
		op("VDUP %s, V%d.D2", lda, t.mask())
	}

	row := gp()
	op("CBZ %s, zero", resume)
	op("MOVD %s, %s", c, row)
	for i := range t.rows {
		read(row, 0, t.sum(i, 0), t.count)
		op("ADD %s, %s, %s", ldc, row, row)
	}
	op("B sums")
	label("zero")
	clear(0, t.rows*t.count)
	label("sums")

	steps := 4 / w.xstep // four activations of a row are loaded at once
	op("SUBS $%d, %s, %s", steps, k, k)
	op("BLT rest")
	label("loop")
	for i := range t.rows {
		op("VLD1.P 16(%s), [V%d.S4]", a[i], t.x(i))
	}
	for s := range steps {
		t.step(s, panels, wide, keep)
	}
	t.prefetch(ahead, steps)
	t.advance(steps, panels, ahead, pfs, wide, keep)
	op("SUBS $%d, %s, %s", steps, k, k)
	op("BGE loop")
	label("rest")
	op("ADDS $%d, %s, %s", steps, k, k)
	op("BEQ done")
	label("one")
	for i := range t.rows {
		if w.xstep == 2 {
			op("FMOVD.P 8(%s), F%d", a[i], t.x(i))
		} else {
			op("FMOVS.P 4(%s), F%d", a[i], t.x(i))
		}
	}
	t.step(0, panels, wide, keep)
	t.advance(1, panels, ahead, pfs, wide, keep)
	op("SUBS $1, %s, %s", k, k)
	op("BNE one")

	label("done")
	for i := range t.rows {
		store(c, 0, t.sum(i, 0), t.count)
		if i < t.rows-1 {
			op("ADD %s, %s, %s", ldc, c, c)
		}
	}
	op("RET")
}

// needsMask tells whether a register is left for the mask of the odd bfloat16; it is the last one.
func (t tile) needsMask() bool { return t.weights.bf && len(t.temps()) >= 3 }
func (t tile) mask() int       { return 31 }

// advance moves the pointers of the weights and, by pfs a step, those ahead of them.
func (t tile) advance(steps int, panels, ahead []reg, pfs, wide reg, keep bool) {
	for _, p := range panels {
		op("ADD $%d, %s, %s", steps*t.weights.step, p, p)
	}
	moveAhead(steps, ahead, pfs)
	if keep {
		op("ADD $%d, %s, %s", steps*t.weights.xstep*128, wide, wide)
	}
}

// fetchers returns registers that point the distance pf behind the panels.
func fetchers(panels []reg, pf reg) []reg {
	list := make([]reg, len(panels))
	for i, p := range panels {
		list[i] = gp()
		op("ADD %s, %s, %s", p, pf, list[i])
	}
	return list
}

// moveAhead moves the pointers for prefetching by 1, 2 or 4 steps of pfs bytes.
func moveAhead(steps int, ahead []reg, pfs reg) {
	for _, p := range ahead {
		op("ADD %s<<%d, %s, %s", pfs, steps/2, p, p)
	}
}

// prefetch fetches the cache lines that hold the tile's columns of so many steps.
func (t tile) prefetch(ahead []reg, steps int) {
	step := t.weights.step
	for at := 0; at < steps*step; at += 64 {
		if t.count*t.weights.perStep <= 64 && at%step != 0 {
			continue // the line belongs to the other half
		}
		for _, p := range ahead {
			op("PRFM %d(%s), PLDL1KEEP", at, p)
		}
	}
}

// step adds the products of step s of the loop.
func (t tile) step(s int, panels []reg, wide reg, keep bool) {
	w := t.weights
	temps := t.temps()
	if t.needsMask() {
		temps = temps[:len(temps)-1]
	}
	next := 0
	take := func(n int) int { // n registers in a row
		if next+n > len(temps) {
			next = 0
		}
		next += n
		return temps[next-n]
	}
	multiply := func(x, j, v int) { // x: activation of the step
		for i := range t.rows {
			fmlaLane(t.sum(i, j), v, t.x(i), s*w.xstep+x)
		}
	}
	kept := func(x, j, v int) {
		if keep {
			store(wide, (s*w.xstep+x)*128+16*j, v, 1)
		}
	}
	for j := 0; j < t.count; j += 2 {
		p := panels[j/8]
		at := s*w.step + j%8*w.perStep
		switch {
		case w.bf:
			for i := range 2 {
				t.pairs(j+i, p, at+16*i, take, kept, multiply)
			}
		case w.name == "F16":
			v := take(2)
			read(p, at, v, 1)
			fcvtl(v+1, v)
			fcvtl2(v, v)
			for i := range 2 {
				kept(0, j+i, v+1-i)
				multiply(0, j+i, v+1-i)
			}
		default:
			v := take(2)
			read(p, at, v, 2)
			for i := range 2 {
				multiply(0, j+i, v+i)
			}
		}
	}
}

// pairs adds the products of the pairs of four columns, the odd element of each first: the activations are
// widened in that order.
func (t tile) pairs(j int, p reg, at int, take func(int) int, kept, multiply func(x, j, v int)) {
	v := take(2)
	read(p, at, v, 1)
	if t.needsMask() {
		and(v+1, v, t.mask())
	} else {
		ushr(v+1, v, 16)
		shl(v+1, v+1, 16)
	}
	kept(0, j, v+1)
	multiply(0, j, v+1)
	shl(v, v, 16)
	kept(1, j, v)
	multiply(1, j, v)
}
