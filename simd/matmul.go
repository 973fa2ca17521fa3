package simd

// Activation is what an Epilogue applies between bias and residual.
type Activation uint8

// The activations: none, max(x,0), and the functions GELU, GELUTanh, Tanh and Swish of this package.
const (
	ActNone Activation = iota
	ActReLU
	ActGELU
	ActGELUTanh
	ActTanh
	ActSwish
)

// Epilogue is what a product does with each finished sum:
//
//	dst[r,c] = act(sum + Bias[c]) + Residual[r,c]
//
// each step rounded to float32. Bias has n elements or is nil; Residual is [m, LdResidual] or nil and must
// not overlap dst.
type Epilogue struct {
	Bias       []float32
	Activation Activation
	Residual   []float32
	LdResidual int
}

// MaxI8Columns is the largest k of MatMulI8: beyond it the sums would not fit in 32 bits.
const MaxI8Columns = 1 << 17

// MatMulF32 computes columns [32·p0, min(32·p1, n)) of dst = x·wᵀ, then the epilogue e (nil: none):
//
//	dst[r,c] = Σ_{i=0}^{k-1} x[r,i]·w[c,i]
//
// The sum starts at zero and takes i ascending, one fused multiply-add in float32 per step, for every
// element: a row has the same bits whatever m, the other rows, and the split into panels; instruction
// sets agree bit for bit on finite values.
//
// dst [m, ldd], x [m, ldx], w packed by PackF32 from [n,k]. Only the m × columns elements of dst are
// written. dst must not overlap x or w. It panics if a slice or stride is too short, or the panels are
// not within 0 ≤ p0 ≤ p1 ≤ Panels(n).
func MatMulF32(dst []float32, ldd int, x []float32, ldx, m int, w []float32, n, k, p0, p1 int, e *Epilogue) {
	checkMatMul("MatMulF32", len(dst), ldd, m, n, k, p0, p1, holds(len(x), ldx, m, k), len(w) == PackedLen(n, k), e)
	if m > 0 && p0 < p1 {
		active.matMulF32(dst, ldd, x, ldx, m, w, n, k, p0, p1, e)
	}
}

// MatMulF16 is MatMulF32 with half weights packed by PackF16: each weight is widened exactly and
// everything else is as there.
func MatMulF16(dst []float32, ldd int, x []float32, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	checkMatMul("MatMulF16", len(dst), ldd, m, n, k, p0, p1, holds(len(x), ldx, m, k), len(w) == PackedLen(n, k), e)
	if m > 0 && p0 < p1 {
		active.matMulF16(dst, ldd, x, ldx, m, w, n, k, p0, p1, e)
	}
}

// MatMulBF16 is the product of activations rounded by RoundRowsBF16 with weights packed by PackBF16. The
// products are exact in float32; a sum takes the pairs of columns ascending, in a pair the odd column
// first, one fused multiply-add each:
//
//	sum = fma(x[2i], w[2i], fma(x[2i+1], w[2i+1], sum))
//
// Sets with a bfloat16 instruction take sums below 2^-126 for zero, and their processor may round inside
// a pair otherwise than so (Intel's documents state this order); all stay within k·2^-24·Σ|x·w| + k·2^-126
// of the exact sum.
//
// x [m, ldx] with rows of k rounded up to 2. Otherwise as MatMulF32.
func MatMulBF16(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue) {
	checkMatMul("MatMulBF16", len(dst), ldd, m, n, k, p0, p1, holds(len(x), ldx, m, (k+1)&^1), len(w) == PackedLenBF16(n, k), e)
	if m > 0 && p0 < p1 {
		active.matMulBF16(dst, ldd, x, ldx, m, w, n, k, p0, p1, e)
	}
}

// MatMulI8 is the product of activations quantised by QuantizeRows with int8 weights packed by PackI8:
//
//	acc = comp[c] + Σ_i x[r,i]·w[c,i] = Σ_i (x[r,i]-128)·w[c,i]     (32-bit integers, exact)
//	dst[r,c] = (float32(acc)·xscale[r])·scale[c]                    (each step rounded)
//
// then the epilogue. All instruction sets give the same bits.
//
// x [m, ldx] with rows of k rounded up to 4, xscale [m], scale and comp [Panels(n)·32]. It panics for
// k > MaxI8Columns; otherwise as MatMulF32.
func MatMulI8(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue) {
	checkMatMul("MatMulI8", len(dst), ldd, m, n, k, p0, p1, holds(len(x), ldx, m, (k+3)&^3), len(w) == PackedLenI8(n, k), e)
	if len(xscale) < m || len(scale) < Panels(n)*Panel || len(comp) < Panels(n)*Panel {
		panic("simd: MatMulI8: scales or comp too short")
	}
	if k > MaxI8Columns {
		panic("simd: MatMulI8: too many columns")
	}
	if m > 0 && p0 < p1 {
		active.matMulI8(dst, ldd, x, ldx, xscale, m, w, scale, comp, n, k, p0, p1, e)
	}
}

func checkMatMul(name string, dst, ldd, m, n, k, p0, p1 int, x, w bool, e *Epilogue) {
	switch {
	case n < 1 || k < 1 || m < 0:
		panic("simd: " + name + ": no rows or no columns")
	case p0 < 0 || p0 > p1 || p1 > Panels(n):
		panic("simd: " + name + ": panels out of range")
	case !holds(dst, ldd, m, min(p1*Panel, n)):
		panic("simd: " + name + ": dst or its stride is too short")
	case !x:
		panic("simd: " + name + ": x or its stride is too short")
	case !w:
		panic("simd: " + name + ": length of w")
	case e == nil:
	case e.Bias != nil && len(e.Bias) != n:
		panic("simd: " + name + ": length of the bias")
	case e.Activation > ActSwish:
		panic("simd: " + name + ": unknown activation")
	case e.Residual != nil && !holds(len(e.Residual), e.LdResidual, m, min(p1*Panel, n)):
		panic("simd: " + name + ": the residual or its stride is too short")
	}
}

// apply applies the epilogue to columns [c0,c1) of rows [r0,r1) of dst.
func (e *Epilogue) apply(dst []float32, ldd, r0, r1, c0, c1 int) {
	if e == nil || r0 == r1 || e.Bias == nil && e.Residual == nil && e.Activation == ActNone {
		return
	}
	if e.Activation <= ActReLU {
		active.epilogue(e, dst, ldd, r0, r1, c0, c1)
		return
	}
	act := [...]func(dst, x []float32){ActGELU: active.gelu, ActGELUTanh: active.geluTanh, ActTanh: active.tanh, ActSwish: active.swish}[e.Activation]
	for r := r0; r < r1; r++ {
		row := dst[r*ldd+c0 : r*ldd+c1]
		if e.Bias != nil {
			active.add(row, row, e.Bias[c0:c1])
		}
		act(row, row)
		if e.Residual != nil {
			active.add(row, row, e.Residual[r*e.LdResidual+c0:r*e.LdResidual+c1])
		}
	}
}

// epilogueGeneric is apply for no activation and ReLU.
func epilogueGeneric(e *Epilogue, dst []float32, ldd, r0, r1, c0, c1 int) {
	for r := r0; r < r1; r++ {
		row := dst[r*ldd+c0 : r*ldd+c1]
		if e.Bias != nil {
			addGeneric(row, row, e.Bias[c0:c1])
		}
		if e.Activation == ActReLU {
			reluGeneric(row, row)
		}
		if e.Residual != nil {
			addGeneric(row, row, e.Residual[r*e.LdResidual+c0:r*e.LdResidual+c1])
		}
	}
}
