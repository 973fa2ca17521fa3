package ops

import (
	"math/rand/v2"
	goruntime "runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCollectionDoesNotWaitForProducts: stopping all goroutines, as a garbage
// collection does twice, takes a small part of the time of a long product.
// Assembly cannot be interrupted; were a product one call of it, or a loop
// without a place to stop, every collection would wait for the whole of it.
// The median counts, because on a busy machine some stops wait for the system.
func TestCollectionDoesNotWaitForProducts(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(4))
	r := rand.New(rand.NewPCG(21, 22))
	const out, in, long, most = 2048, 2048, 200 * time.Millisecond, 0.020
	l := NewLinear([]*Weights{randomWeights(r, F16, out, in)}, nil)
	rows := 4
	for took := time.Duration(0); took < long; rows *= 2 { // a product that takes long here
		c, x, y := NewCPU(), NewMatrix(2*rows, in), NewMatrix(2*rows, out)
		start := time.Now()
		c.Linear(y, l, x)
		took = time.Since(start)
	}
	p := NewPool(1)
	defer p.Close()
	var stop atomic.Bool
	var products atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			c, x, y := NewCPU(), NewMatrix(rows, in), NewMatrix(rows, out)
			p.Use(c)
			for !stop.Load() {
				c.Linear(y, l, x)
				products.Add(1)
			}
			p.Release(c)
		})
	}
	before := stops()
	for range 20 {
		time.Sleep(time.Millisecond)
		goruntime.GC()
	}
	after := stops()
	stop.Store(true)
	wg.Wait()
	total, slow := uint64(0), uint64(0)
	for i, n := range after.Counts {
		n -= before.Counts[i]
		total += n
		if after.Buckets[i] > most {
			slow += n
		}
	}
	t.Logf("%d of %d stops beside products of %d rows took more than %v s", slow, total, rows, most)
	if total < 20 {
		t.Fatalf("%d stops were measured, want at least 20", total)
	}
	if 2*slow > total {
		t.Errorf("%d of %d stops took more than %v s, want less than half", slow, total, most)
	}
}

// stops are the times that it took to stop all goroutines so far, in seconds.
func stops() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(s)
	h := *s[0].Value.Float64Histogram()
	h.Counts = slices.Clone(h.Counts)
	return &h
}
