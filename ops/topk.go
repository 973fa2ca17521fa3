package ops

import "math"

// LogSumExp is ln Σ exp(x_i), computed around the largest value; −Inf for a
// row of −Inf.
func LogSumExp(x []float32) float32 {
	top := float32(math.Inf(-1))
	for _, v := range x {
		top = max(top, v)
	}
	if math.IsInf(float64(top), -1) {
		return top
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v - top))
	}
	return top + float32(math.Log(sum))
}

// Candidate is an entry of a row with its value.
type Candidate struct {
	ID    int32
	Value float32
}

// TopK appends the k largest entries of x to dst, largest first, the lower
// index first among equals. Entries that are −Inf or NaN are left out.
func TopK(dst []Candidate, x []float32, k int) []Candidate {
	if k <= 0 {
		return dst
	}
	base := len(dst)
	floor := float32(math.Inf(-1))
	for i, v := range x {
		if !(v > floor) {
			continue
		}
		n := len(dst) - base
		if n < k {
			dst = append(dst, Candidate{})
			n++
		}
		p := base + n - 1
		for p > base && dst[p-1].Value < v {
			dst[p] = dst[p-1]
			p--
		}
		dst[p] = Candidate{int32(i), v}
		if n == k {
			floor = dst[base+k-1].Value
		}
	}
	return dst
}
