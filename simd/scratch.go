package simd

import "sync/atomic"

// scratch keeps buffers that are not in use, a few for all goroutines. Unlike a sync.Pool it is never
// emptied, so that a decode step allocates nothing even after a garbage collection.
type scratch[T any] struct{ free [16]atomic.Pointer[T] }

// get returns a buffer of earlier use or a new zero one.
func (s *scratch[T]) get() *T {
	for i := range s.free {
		if p := s.free[i].Load(); p != nil && s.free[i].CompareAndSwap(p, nil) {
			return p
		}
	}
	return new(T)
}

// put gives a buffer back.
func (s *scratch[T]) put(p *T) {
	for i := range s.free {
		if s.free[i].Load() == nil && s.free[i].CompareAndSwap(nil, p) {
			return
		}
	}
}
