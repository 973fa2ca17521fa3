package simd

import "math"

// Softmax sets dst[i] = e^(x[i]-max) · (1/Σ e^(x-max)); the sum in 32 lanes folded by halves. A row
// of which all are -Inf, or with +Inf or NaN in it, gives NaN. dst may be x. It panics if the lengths differ.
func Softmax(dst, x []float32) {
	checkSame("Softmax", len(dst), len(x), len(x))
	if len(x) == 0 {
		return
	}
	sum := active.expSum(dst, x, active.max(x))
	active.scale(dst, dst, 1/sum)
}

// LogSumExp returns max + ln Σ e^(x-max), -Inf for none.
func LogSumExp(x []float32) float32 {
	if len(x) == 0 {
		return float32(math.Inf(-1))
	}
	m := active.max(x)
	return m + log32(active.expSum(nil, x, m))
}

// LogSoftmax sets dst[i] = (x[i] - max) - ln Σ e^(x-max) (natural log). dst may be x. It panics if the
// lengths differ.
func LogSoftmax(dst, x []float32) {
	checkSame("LogSoftmax", len(dst), len(x), len(x))
	if len(x) == 0 {
		return
	}
	m := active.max(x)
	active.subTwo(dst, x, m, log32(active.expSum(nil, x, m)))
}

// LogNormalizer returns max(x) and ln Σ e^(x-max), so that LogSoftmax of single elements can be had
// without writing the row: (x[i] - peak) - log. It panics if x is empty.
func LogNormalizer(x []float32) (peak, log float32) {
	if len(x) == 0 {
		panic("simd: LogNormalizer: empty row")
	}
	peak = active.max(x)
	return peak, log32(active.expSum(nil, x, peak))
}

// SlotSoftmax averages the heads' softmax over the slots (α of MemSizer, Zhang & Cai 2022,
// arXiv:2203.12644): with q [heads, K], K = len(alpha),
//
//	alpha[j] = (1/heads)·Σ_h softmax(q[h])[j]
//
// each softmax as in Softmax, the heads added ascending with one fused multiply-add e^(q-max)·(1/sum).
// It panics if len(q) ≠ heads·len(alpha) or there are no heads.
func SlotSoftmax(alpha, q []float32, heads int) {
	if heads < 1 || len(q) != heads*len(alpha) {
		panic("simd: SlotSoftmax: length of q")
	}
	if len(alpha) > 0 {
		active.slotSoftmax(alpha, q, heads)
	}
}

func log32(x float32) float32 { return float32(math.Log(float64(x))) }

// expSumLow is where the terms of a sum without dst stop getting smaller: m being the largest, the sum is 1 or
// more, so that they do not count. Subnormal ones would make the row ten times slower.
const expSumLow = -87

// expSumGeneric returns Σ e^(x-m) and, unless dst is empty, stores the terms.
func expSumGeneric(dst, x []float32, m float32) float32 {
	var l [lanes]float32
	for i, v := range x {
		d := v - m
		if len(dst) == 0 && d < expSumLow {
			d = expSumLow
		}
		e := exp32(d)
		if len(dst) > 0 {
			dst[i] = e
		}
		l[i%lanes] += e
	}
	return foldSum(&l)
}

// subTwoGeneric sets dst = (x - a) - b.
func subTwoGeneric(dst, x []float32, a, b float32) {
	for i, v := range x {
		dst[i] = (v - a) - b
	}
}

func slotSoftmaxGeneric(alpha, q []float32, heads int) {
	n := len(alpha)
	clear(alpha)
	for h := range heads {
		row := q[h*n : h*n+n]
		m := maxGeneric(row)
		r := 1 / expSumGeneric(nil, row, m)
		for j, v := range row {
			alpha[j] = fma32(exp32(v-m), r, alpha[j])
		}
	}
	scaleGeneric(alpha, alpha, 1/float32(heads))
}
