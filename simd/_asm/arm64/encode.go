package main

import "fmt"

// word writes an instruction as its code.
func word(w uint32, format string, args ...any) {
	op("WORD $0x%08x // %s", w, fmt.Sprintf(format, args...))
}

// three writes an instruction d = n ∘ m (or d ∘= n, m) on four words.
func three(name string, base uint32, d, n, m int) {
	word(base|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.4s, v%d.4s, v%d.4s", name, d, n, m)
}

// two writes an instruction d = ∘n with the given arrangements of elements.
func two(name string, base uint32, d, n int, to, from string) {
	word(base|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s", name, d, to, n, from)
}

// bits writes a bitwise instruction.
func bits(name string, base uint32, d, n, m int) {
	word(base|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.16b, v%d.16b, v%d.16b", name, d, n, m)
}

// Arithmetic on four float32. fmla is d += n·m, rounded once; fmls d -= n·m.
func fadd(d, n, m int) { three("fadd", 0x4E20D400, d, n, m) }
func fsub(d, n, m int) { three("fsub", 0x4EA0D400, d, n, m) }
func fmul(d, n, m int) { three("fmul", 0x6E20DC00, d, n, m) }
func fdiv(d, n, m int) { three("fdiv", 0x6E20FC00, d, n, m) }
func fmla(d, n, m int) { three("fmla", 0x4E20CC00, d, n, m) }
func fmls(d, n, m int) { three("fmls", 0x4EA0CC00, d, n, m) }
func fmax(d, n, m int) { three("fmax", 0x4E20F400, d, n, m) } // NaN if one is
func fmin(d, n, m int) { three("fmin", 0x4EA0F400, d, n, m) }
func fabs(d, n int)    { two("fabs", 0x4EA0F800, d, n, "4s", "4s") }
func fneg(d, n int)    { two("fneg", 0x6EA0F800, d, n, "4s", "4s") }
func fsqrt(d, n int)   { two("fsqrt", 0x6EA1F800, d, n, "4s", "4s") }
func frintn(d, n int)  { two("frintn", 0x4E218800, d, n, "4s", "4s") }
func fcvtns(d, n int)  { two("fcvtns", 0x4E21A800, d, n, "4s", "4s") } // to int32, NaN to 0
func scvtf(d, n int)   { two("scvtf", 0x4E21D800, d, n, "4s", "4s") }

// lane writes an instruction whose last operand is an element of a register.
func lane(name string, base uint32, d, n, m, i int) {
	word(base|uint32(i&1)<<21|uint32(i>>1)<<11|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.4s, v%d.4s, v%d.s[%d]", name, d, n, m, i)
}
func fmlaLane(d, n, m, i int) { lane("fmla", 0x4F801000, d, n, m, i) }
func fmulLane(d, n, m, i int) { lane("fmul", 0x4F809000, d, n, m, i) }

// Comparisons give all ones or zeros. The operand order is that of the text: fcmgt is n > m.
func fcmgt(d, n, m int) { three("fcmgt", 0x6EA0E400, d, n, m) }
func fcmge(d, n, m int) { three("fcmge", 0x6E20E400, d, n, m) }
func fcmeq(d, n, m int) { three("fcmeq", 0x4E20E400, d, n, m) }
func fcmlt0(d, n int) {
	word(0x4EA0E800|uint32(n)<<5|uint32(d), "fcmlt v%d.4s, v%d.4s, #0.0", d, n)
}
func cmlt0(d, n int) { word(0x4EA0A800|uint32(n)<<5|uint32(d), "cmlt v%d.4s, v%d.4s, #0", d, n) }
func cmeq0(d, n int) { word(0x4EA09800|uint32(n)<<5|uint32(d), "cmeq v%d.4s, v%d.4s, #0", d, n) }

// Bits. bit copies the bits of n that m selects, bif those it does not, bsl replaces the mask d by n or m.
func and(d, n, m int) { bits("and", 0x4E201C00, d, n, m) }
func bic(d, n, m int) { bits("bic", 0x4E601C00, d, n, m) }
func orr(d, n, m int) { bits("orr", 0x4EA01C00, d, n, m) }
func eor(d, n, m int) { bits("eor", 0x6E201C00, d, n, m) }
func bit(d, n, m int) { bits("bit", 0x6EA01C00, d, n, m) }
func bif(d, n, m int) { bits("bif", 0x6EE01C00, d, n, m) }
func bsl(d, n, m int) { bits("bsl", 0x6E601C00, d, n, m) }
func mov(d, n int) {
	word(0x4EA01C00|uint32(n)<<16|uint32(n)<<5|uint32(d), "mov v%d.16b, v%d.16b", d, n)
}
func zero(d int) { word(0x4F000400|uint32(d), "movi v%d.4s, #0x0", d) }

// Integers.
func add(d, n, m int)  { three("add", 0x4EA08400, d, n, m) }
func sub(d, n, m int)  { three("sub", 0x6EA08400, d, n, m) }
func umax(d, n, m int) { three("umax", 0x6EA06400, d, n, m) }
func addp(d, n, m int) { three("addp", 0x4EA0BC00, d, n, m) }
func shl(d, n, s int) {
	word(0x4F005400|uint32(32+s)<<16|uint32(n)<<5|uint32(d), "shl v%d.4s, v%d.4s, #%d", d, n, s)
}
func sshr(d, n, s int) {
	word(0x4F000400|uint32(64-s)<<16|uint32(n)<<5|uint32(d), "sshr v%d.4s, v%d.4s, #%d", d, n, s)
}
func ushr(d, n, s int) {
	word(0x6F000400|uint32(64-s)<<16|uint32(n)<<5|uint32(d), "ushr v%d.4s, v%d.4s, #%d", d, n, s)
}

// Widening and narrowing; the functions with 2 read or write the upper half.
func fcvtl(d, n int)  { two("fcvtl", 0x0E217800, d, n, "4s", "4h") }
func fcvtl2(d, n int) { two("fcvtl2", 0x4E217800, d, n, "4s", "8h") }
func fcvtn(d, n int)  { two("fcvtn", 0x0E216800, d, n, "4h", "4s") }
func fcvtn2(d, n int) { two("fcvtn2", 0x4E216800, d, n, "8h", "4s") }
func xtn(d, n int)    { two("xtn", 0x0E612800, d, n, "4h", "4s") }
func xtn2(d, n int)   { two("xtn2", 0x4E612800, d, n, "8h", "4s") }
func xtnb(d, n int)   { two("xtn", 0x0E212800, d, n, "8b", "8h") }
func xtnb2(d, n int)  { two("xtn2", 0x4E212800, d, n, "16b", "8h") }
func shll(d, n int) {
	word(0x2E613800|uint32(n)<<5|uint32(d), "shll v%d.4s, v%d.4h, #16", d, n)
}
func shll2(d, n int) {
	word(0x6E613800|uint32(n)<<5|uint32(d), "shll2 v%d.4s, v%d.8h, #16", d, n)
}
func shrn16(d, n int) {
	word(0x0F108400|uint32(n)<<5|uint32(d), "shrn v%d.4h, v%d.4s, #16", d, n)
}
func shrn16x2(d, n int) {
	word(0x4F108400|uint32(n)<<5|uint32(d), "shrn2 v%d.8h, v%d.4s, #16", d, n)
}

// Products of bytes: eight at once into 16 bits, pairs of those added to 32, and FEAT_DotProd's sums of four
// by element i of m.
func smull(d, n, m int) {
	word(0x0E20C000|uint32(m)<<16|uint32(n)<<5|uint32(d), "smull v%d.8h, v%d.8b, v%d.8b", d, n, m)
}
func smull2(d, n, m int) {
	word(0x4E20C000|uint32(m)<<16|uint32(n)<<5|uint32(d), "smull2 v%d.8h, v%d.16b, v%d.16b", d, n, m)
}
func sadalp(d, n int) { two("sadalp", 0x4E606800, d, n, "4s", "8h") }
func sdotLane(d, n, m, i int) {
	word(0x4F80E000|uint32(i&1)<<21|uint32(i>>1)<<11|uint32(m)<<16|uint32(n)<<5|uint32(d), "sdot v%d.4s, v%d.16b, v%d.4b[%d]", d, n, m, i)
}

// Moves. dup spreads element i, rev64 exchanges the words of each pair, ext rotates by bytes.
func dup(d, n, i int) {
	word(0x4E040400|uint32(i)<<19|uint32(n)<<5|uint32(d), "dup v%d.4s, v%d.s[%d]", d, n, i)
}
func rev64(d, n int) { two("rev64", 0x4EA00800, d, n, "4s", "4s") }
func ext(d, n, m, s int) {
	word(0x6E000000|uint32(m)<<16|uint32(s)<<11|uint32(n)<<5|uint32(d), "ext v%d.16b, v%d.16b, v%d.16b, #%d", d, n, m, s)
}
