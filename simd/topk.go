package simd

// TopK finds the len(values) largest elements of x, the largest first and equal ones by ascending index;
// it sets values and indices and returns how many it found: min(len(values), elements that are not NaN and
// not -Inf). It panics if indices is shorter than values or x has more than 2^31-1 elements.
func TopK(values []float32, indices []int32, x []float32) int {
	if len(indices) < len(values) {
		panic("simd: TopK: indices is shorter than values")
	}
	if len(x) > 1<<31-1 {
		panic("simd: TopK: too many elements")
	}
	k := len(values)
	found := 0
	if k == 0 {
		return 0
	}
	below := negInf // no element up to here is a candidate
	for i := 0; i < len(x); {
		i = active.firstAbove(x, i, below)
		end := min(i+topKBlock, len(x))
		for ; i < end; i++ {
			v := x[i]
			if !(v > below) {
				continue
			}
			if found < k {
				found++
			}
			at := found - 1
			for at > 0 && values[at-1] < v {
				values[at], indices[at] = values[at-1], indices[at-1]
				at--
			}
			values[at], indices[at] = v, int32(i)
			if found == k {
				below = values[k-1]
			}
		}
	}
	return found
}

// topKBlock is the number of elements firstAbove decides about at once.
const topKBlock = 64

// firstAboveGeneric returns the first position i, i+64, i+128 … from which one of the next 64 elements is
// greater than v; len(x) if there is none.
func firstAboveGeneric(x []float32, i int, v float32) int {
	for ; i < len(x); i += topKBlock {
		for _, e := range x[i:min(i+topKBlock, len(x))] {
			if e > v {
				return i
			}
		}
	}
	return len(x)
}
