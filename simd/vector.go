package simd

import "math"

// Add sets dst[i] = a[i] + b[i]. dst may be a or b. It panics if the lengths differ; so do all functions
// of vectors here.
func Add(dst, a, b []float32) {
	checkSame("Add", len(dst), len(a), len(b))
	active.add(dst, a, b)
}

// Scale sets dst[i] = s·x[i]. dst may be x.
func Scale(dst, x []float32, s float32) {
	checkSame("Scale", len(dst), len(x), len(x))
	active.scale(dst, x, s)
}

// AXPY adds a multiple: dst[i] = fma(a, x[i], dst[i]). dst may be x.
func AXPY(dst []float32, a float32, x []float32) {
	checkSame("AXPY", len(dst), len(x), len(x))
	active.axpy(dst, a, x)
}

// Dot returns Σ x[i]·y[i], in 32 lanes of fused multiply-adds, folded by halves.
func Dot(x, y []float32) float32 {
	checkSame("Dot", len(x), len(y), len(y))
	return active.dot(x, y)
}

// Max returns the largest element, -Inf for none. NaN elements are passed over; which sign a largest zero
// has is not defined.
func Max(x []float32) float32 { return active.max(x) }

// MaxAbs returns the largest |x[i]|, NaN if any element is NaN, 0 for none.
func MaxAbs(x []float32) float32 { return active.maxAbs(x) }

func maxAbsGeneric(x []float32) float32 {
	peak := uint32(0) // as bits: a NaN is larger than Inf
	for _, v := range x {
		peak = max(peak, math.Float32bits(v)&0x7fffffff)
	}
	return math.Float32frombits(peak)
}

func checkSame(name string, a, b, c int) {
	if a != b || a != c {
		panic("simd: " + name + ": lengths differ")
	}
}

func addGeneric(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func scaleGeneric(dst, x []float32, s float32) {
	for i := range dst {
		dst[i] = s * x[i]
	}
}

func axpyGeneric(dst []float32, a float32, x []float32) {
	for i := range dst {
		dst[i] = fma32(a, x[i], dst[i])
	}
}

func dotGeneric(x, y []float32) float32 {
	var l [lanes]float32
	for i := range x {
		l[i%lanes] = fma32(x[i], y[i], l[i%lanes])
	}
	return foldSum(&l)
}

func maxGeneric(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		if v > m {
			m = v
		}
	}
	return m
}
