package runtime

import (
	"context"
	"sync"
)

// budget bounds a sum of bytes.
type budget struct {
	limit int

	mu   sync.Mutex
	used int
	wake chan struct{}
}

func newBudget(limit int) *budget { return &budget{limit: limit, wake: make(chan struct{}, 1)} }

// take waits until n bytes fit, or nothing else is held. It reports false
// when the context ends first. One goroutine takes, another gives.
func (b *budget) take(ctx context.Context, n int) bool {
	for {
		b.mu.Lock()
		ok := b.used == 0 || b.used+n <= b.limit
		if ok {
			b.used += n
		}
		b.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return false
		}
	}
}

// give returns n bytes.
func (b *budget) give(n int) {
	b.mu.Lock()
	b.used -= n
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
