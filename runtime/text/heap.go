package text

// keyHeap is a heap of numbers, the smallest first.
type keyHeap []uint64

func (h *keyHeap) push(v uint64) {
	s := append(*h, v)
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s[parent] <= v {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = v
	*h = s
}

// pop removes the smallest number of a heap that is not empty.
func (h *keyHeap) pop() uint64 {
	s := *h
	top, last := s[0], len(s)-1
	v := s[last]
	s = s[:last]
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s[child+1] < s[child] {
			child++
		}
		if v <= s[child] {
			break
		}
		s[i] = s[child]
		i = child
	}
	if last > 0 {
		s[i] = v
	}
	*h = s
	return top
}
