//go:build !purego && (amd64 || arm64)

package simd

import "math"

// vectorKernels are the assembly functions for vectors and rows of one register width.
type vectorKernels struct {
	add                                    func(dst, x, y *float32, n int)
	relu, exp, gelu, geluTanh, tanh, swish func(dst, x *float32, n int)
	scale, axpy                            func(dst, x *float32, n int, s float32)
	subTwo                                 func(dst, x *float32, n int, a, b float32)
	dot                                    func(x, y *float32, n int) float32
	max                                    func(x *float32, n int) float32
	epilogue                               func(dst *float32, ldd, rows, n int, bias, residual *float32, ldr int, floor float32)
	maxBits                                func(x *float32, n int) uint32
	expSum                                 func(x *float32, n int, m float32) float32
	expSumTo                               func(dst, x *float32, n int, m float32) float32
	layerNorm                              func(dst, x, gamma, beta *float32, n int, count, eps float32)
	firstAbove                             func(x *float32, i, n int, v float32) int
	slotSoftmax                            func(alpha, q *float32, n, heads int, mean float32)
	scores                                 func(dst, q, keys *float32, ldk, t, n int, s float32)
	weightedSum                            func(dst, p, v *float32, ldv, t, n int, s float32)
	weightedSumF16                         func(dst, p *float32, v *uint16, ldv, t, n int, s float32)
	weightedRows                           func(dst, p, v *float32, ldv, t, n int, s float32)
	weightedRowsF16                        func(dst, p *float32, v *uint16, ldv, t, n int, s float32)
	memoryStep                             func(y, m, kappa, nu, alpha *float32, k, n int, s float32)
	quantize                               func(dst *uint8, x *float32, n int, inv float32)
}

// use puts the kernels into a table. The closures check for empty slices, which have no first element, and
// are the Go functions around the assembly that let the garbage collector stop a goroutine.
func (v *vectorKernels) use(k *kernels) {
	k.add = func(dst, a, b []float32) {
		if len(dst) > 0 {
			v.add(&dst[0], &a[0], &b[0], len(dst))
		}
	}
	k.relu, k.exp, k.gelu = v.each(v.relu), v.each(v.exp), v.each(v.gelu)
	k.geluTanh, k.tanh, k.swish = v.each(v.geluTanh), v.each(v.tanh), v.each(v.swish)
	k.scale = func(dst, x []float32, s float32) {
		if len(dst) > 0 {
			v.scale(&dst[0], &x[0], len(dst), s)
		}
	}
	k.axpy = func(dst []float32, a float32, x []float32) {
		if len(dst) > 0 {
			v.axpy(&dst[0], &x[0], len(dst), a)
		}
	}
	k.subTwo = func(dst, x []float32, a, b float32) {
		if len(dst) > 0 {
			v.subTwo(&dst[0], &x[0], len(dst), a, b)
		}
	}
	k.dot = func(x, y []float32) float32 {
		if len(x) == 0 {
			return 0
		}
		return v.dot(&x[0], &y[0], len(x))
	}
	k.max = func(x []float32) float32 {
		if len(x) == 0 {
			return negInf
		}
		return v.max(&x[0], len(x))
	}
	k.maxAbs = func(x []float32) float32 {
		if len(x) == 0 {
			return 0
		}
		return math.Float32frombits(v.maxBits(&x[0], len(x)))
	}
	k.layerNorm = func(dst, x, gamma, beta []float32, eps float32) {
		v.layerNorm(&dst[0], &x[0], &gamma[0], &beta[0], len(dst), float32(len(dst)), eps)
	}
	k.expSum = func(dst, x []float32, m float32) float32 {
		switch {
		case len(x) == 0:
			return 0
		case len(dst) == 0:
			return v.expSum(&x[0], len(x), m)
		}
		return v.expSumTo(&dst[0], &x[0], len(x), m)
	}
	k.firstAbove = func(x []float32, i int, t float32) int {
		if i < len(x) {
			i = v.firstAbove(&x[0], i, len(x), t)
		}
		return firstAboveGeneric(x, i, t)
	}
	k.quantizeRow = v.quantizeRow
	k.epilogue = v.epilogueTile
	k.slotSoftmax = v.slotSoftmaxRow
	v.useMemory(k)
}

// each is the Go function around a kernel of one vector.
func (v *vectorKernels) each(f func(dst, x *float32, n int)) func(dst, x []float32) {
	return func(dst, x []float32) {
		if len(dst) > 0 {
			f(&dst[0], &x[0], len(dst))
		}
	}
}

// longRow is the number of columns from which a weighted sum reads its rows in order, keeping dst in the
// first cache; shorter rows fit into registers.
const longRow = 257

func (v *vectorKernels) useMemory(k *kernels) {
	k.weightedSum = func(dst, p, m []float32, ldv int, s float32) {
		switch {
		case len(dst) == 0:
		case len(p) == 0:
			weightedSumGeneric(dst, p, m, ldv, s)
		case len(dst) >= longRow:
			v.weightedRows(&dst[0], &p[0], &m[0], 4*ldv, len(p), len(dst), s)
		default:
			v.weightedSum(&dst[0], &p[0], &m[0], 4*ldv, len(p), len(dst), s)
		}
	}
	k.weightedSumF16 = func(dst, p []float32, m []uint16, ldv int, s float32) {
		n := len(dst) &^ 31
		if len(p) == 0 {
			n = 0
		}
		switch {
		case n >= longRow:
			v.weightedRowsF16(&dst[0], &p[0], &m[0], 2*ldv, len(p), n, s)
		case n > 0:
			v.weightedSumF16(&dst[0], &p[0], &m[0], 2*ldv, len(p), n, s)
		}
		if n < len(dst) {
			weightedSumF16Generic(dst[n:], p, m[min(n, len(m)):], ldv, s)
		}
	}
	k.memoryStep = func(y, m, kappa, nu, alpha []float32, s float32) {
		if len(y) == 0 || len(kappa) == 0 {
			memoryStepGeneric(y, m, kappa, nu, alpha, s)
			return
		}
		v.memoryStep(&y[0], &m[0], &kappa[0], &nu[0], &alpha[0], len(kappa), len(nu), s)
	}
	k.scores = func(dst, q, keys []float32, ldk int, s float32) {
		if len(dst) == 0 || len(q) == 0 {
			scoresGeneric(dst, q, keys, ldk, s)
			return
		}
		v.scores(&dst[0], &q[0], &keys[0], 4*ldk, len(dst), len(q), s)
	}
}

func (v *vectorKernels) epilogueTile(e *Epilogue, dst []float32, ldd, r0, r1, c0, c1 int) {
	var bias, residual *float32
	if e.Bias != nil {
		bias = &e.Bias[c0]
	}
	if e.Residual != nil {
		residual = &e.Residual[r0*e.LdResidual+c0]
	}
	floor := negInf
	if e.Activation == ActReLU {
		floor = 0
	}
	v.epilogue(&dst[r0*ldd+c0], 4*ldd, r1-r0, c1-c0, bias, residual, 4*e.LdResidual, floor)
}

func (v *vectorKernels) quantizeRow(dst []uint8, x []float32) float32 {
	a := math.Float32frombits(v.maxBits(&x[0], len(x)))
	inv := 127 / a
	n := len(x) &^ 31
	if n > 0 {
		v.quantize(&dst[0], &x[0], n, inv)
	}
	quantizeBy(dst[n:], x[n:], inv)
	return a / 127
}

// slotSoftmaxRow keeps up to 32 slots in registers; more go through the row kernels.
func (v *vectorKernels) slotSoftmaxRow(alpha, q []float32, heads int) {
	n := len(alpha)
	if n <= 32 {
		v.slotSoftmax(&alpha[0], &q[0], n, heads, 1/float32(heads))
		return
	}
	clear(alpha)
	terms := slotScratch.get()
	if len(*terms) < n {
		*terms = make([]float32, n)
	}
	for h := range heads {
		row := &q[h*n]
		sum := v.expSumTo(&(*terms)[0], row, n, v.max(row, n))
		v.axpy(&alpha[0], &(*terms)[0], n, 1/sum)
	}
	slotScratch.put(terms)
	v.scale(&alpha[0], &alpha[0], n, 1/float32(heads))
}

// slotScratch holds the terms of one head's softmax.
var slotScratch scratch[[]float32]
