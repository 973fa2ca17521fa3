package ops

import "memsizer/simd"

// LogSumExp is ln Σ exp(x_i), computed around the largest value; −Inf for a
// row of −Inf.
func LogSumExp(x []float32) float32 { return simd.LogSumExp(x) }

// Candidate is an entry of a row with its value.
type Candidate struct {
	ID    int32
	Value float32
}

// TopK holds the result of a selection: the largest entries of a row.
type TopK struct {
	values  []float32
	indices []int32
}

// Of selects the k largest entries of x, largest first, the lower index first
// among equals; entries that are −Inf or NaN are left out. The slices are
// valid until the next call.
func (t *TopK) Of(x []float32, k int) (values []float32, indices []int32) {
	k = min(k, len(x))
	v, i := growTo(&t.values, k), growTo(&t.indices, k)
	n := simd.TopK(v, i, x)
	return v[:n], i[:n]
}
