package simd

import "math"

var negInf = float32(math.Inf(-1))

// MemoryUpdate adds a rank-one matrix to the memory M [K,D]: M[j,i] = fma(kappa[j], nu[i], M[j,i]) with
// K = len(kappa), D = len(nu) (M += κ νᵀ; Zhang & Cai 2022, arXiv:2203.12644). It panics if len(m) ≠ K·D.
func MemoryUpdate(m, kappa, nu []float32) {
	if len(m) != len(kappa)*len(nu) {
		panic("simd: MemoryUpdate: length of the memory")
	}
	d := len(nu)
	for j, a := range kappa {
		active.axpy(m[j*d:j*d+d], a, nu)
	}
}

// MemoryRead sets y = s·αᵀM: y[i] = s·Σ_j alpha[j]·M[j,i], j ascending, one fused multiply-add each, from
// zero. M is [K,D] with K = len(alpha), D = len(y). It panics if len(m) ≠ K·D.
func MemoryRead(y, m, alpha []float32, s float32) {
	if len(m) != len(alpha)*len(y) {
		panic("simd: MemoryRead: length of the memory")
	}
	active.weightedSum(y, alpha, m, len(y), s)
}

// MemoryReadF16 is MemoryRead from a memory of halfs, each widened exactly.
func MemoryReadF16(y []float32, m []uint16, alpha []float32, s float32) {
	if len(m) != len(alpha)*len(y) {
		panic("simd: MemoryReadF16: length of the memory")
	}
	active.weightedSumF16(y, alpha, m, len(y), s)
}

// MemoryStep is MemoryUpdate followed by MemoryRead in one pass over the memory; the same bits.
func MemoryStep(y, m, kappa, nu, alpha []float32, s float32) {
	if len(m) != len(kappa)*len(nu) || len(alpha) != len(kappa) || len(y) != len(nu) {
		panic("simd: MemoryStep: lengths")
	}
	active.memoryStep(y, m, kappa, nu, alpha, s)
}

// WeightedSum sets dst[i] = s·Σ_t p[t]·v[t·ldv+i], t ascending, one fused multiply-add each, from zero:
// the values of softmax attention, T = len(p) rows of len(dst) numbers. With keys stored as columns,
// v = Kᵀ [H, ldv], it also gives the scores of T positions for a query p [H]. It panics if v is too short.
func WeightedSum(dst, p, v []float32, ldv int, s float32) {
	if !holds(len(v), ldv, len(p), len(dst)) {
		panic("simd: WeightedSum: v or its stride is too short")
	}
	active.weightedSum(dst, p, v, ldv, s)
}

// Scores sets dst[t] = Dot(q, keys[t·ldk : t·ldk+len(q)])·s: the scores of softmax attention for
// T = len(dst) rows of keys. It panics if keys is too short.
func Scores(dst, q, keys []float32, ldk int, s float32) {
	if !holds(len(keys), ldk, len(dst), len(q)) {
		panic("simd: Scores: keys or its stride is too short")
	}
	active.scores(dst, q, keys, ldk, s)
}

func weightedSumGeneric(dst, p, v []float32, ldv int, s float32) {
	clear(dst)
	for t, a := range p {
		axpyGeneric(dst, a, v[t*ldv:t*ldv+len(dst)])
	}
	scaleGeneric(dst, dst, s)
}

func weightedSumF16Generic(dst, p []float32, v []uint16, ldv int, s float32) {
	var w [1]float32
	for i := range dst {
		sum := float32(0)
		for t, a := range p {
			f32FromF16Generic(w[:], v[t*ldv+i:t*ldv+i+1])
			sum = fma32(a, w[0], sum)
		}
		dst[i] = sum * s
	}
}

func memoryStepGeneric(y, m, kappa, nu, alpha []float32, s float32) {
	d := len(nu)
	for j, a := range kappa {
		axpyGeneric(m[j*d:j*d+d], a, nu)
	}
	weightedSumGeneric(y, alpha, m, d, s)
}

func scoresGeneric(dst, q, keys []float32, ldk int, s float32) {
	for t := range dst {
		dst[t] = dotGeneric(q, keys[t*ldk:t*ldk+len(q)]) * s
	}
}
