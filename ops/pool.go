package ops

import (
	goruntime "runtime"
	"sync/atomic"
	"time"
)

// Pool lets idle cores help one CPU with its operators: the columns of a
// product are cut into tiles that the caller and the helpers take in turn. A
// fork costs less than a microsecond while the helpers spin; after a while
// without work they sleep. A helper that does not come in time finds its
// tiles done; when one was late in the middle of a tile, the pool rests and
// the caller works alone. One caller uses a Pool at a time.
type Pool struct {
	helpers []*helper
	task    task
	tiles   int64

	_     [64]byte
	epoch atomic.Uint32 // a change calls the helpers
	_     [64]byte
	next  atomic.Int64 // the next tile
	_     [64]byte
	// inside is the number of helpers at work, plus closed while there is no
	// work to join.
	inside atomic.Int64
	_      [64]byte
	stop   atomic.Bool
	rest   time.Time // the pool is not used before
	// owner is the CPU that may use the pool.
	owner atomic.Pointer[CPU]
}

// task is work cut into tiles; distinct tiles may run at the same time.
type task interface{ tile(i int) }

type helper struct {
	parked atomic.Bool
	wake   chan struct{}
	_      [64]byte
}

const (
	closed    = 1 << 32
	spinFor   = 100 * time.Microsecond // a helper without work sleeps after this
	lateAfter = 200 * time.Microsecond // waiting longer for a helper rests the pool
	restFor   = 20 * time.Millisecond
)

// NewPool starts n helpers. It returns nil, which is a pool without helpers,
// for n < 1.
func NewPool(n int) *Pool {
	if n < 1 {
		return nil
	}
	p := &Pool{helpers: make([]*helper, n)}
	p.inside.Store(closed)
	for i := range p.helpers {
		h := &helper{wake: make(chan struct{}, 1)}
		p.helpers[i] = h
		go p.help(h)
	}
	return p
}

// Close stops the helpers. No operator may be using the pool.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.stop.Store(true)
	p.call()
}

// Use makes c the only user of the pool; it fails while another CPU uses it.
// Release gives it back.
func (p *Pool) Use(c *CPU) bool {
	if p == nil || !p.owner.CompareAndSwap(nil, c) {
		return false
	}
	c.pool = p
	return true
}

// Release ends the use that began with Use.
func (p *Pool) Release(c *CPU) {
	if p != nil && p.owner.CompareAndSwap(c, nil) {
		c.pool = nil
	}
}

func (p *Pool) call() {
	p.epoch.Add(1)
	for _, h := range p.helpers {
		if h.parked.CompareAndSwap(true, false) {
			h.wake <- struct{}{}
		}
	}
}

// run does all tiles of t, with the helpers if they come.
func (p *Pool) run(t task, tiles int) {
	if p == nil || tiles < 2 || p.resting() {
		for i := range tiles {
			t.tile(i)
		}
		return
	}
	p.task, p.tiles = t, int64(tiles)
	p.next.Store(0)
	p.inside.Add(-closed)
	p.call()
	p.work()
	p.join()
}

func (p *Pool) resting() bool {
	if p.rest.IsZero() {
		return false
	}
	if time.Now().Before(p.rest) {
		return true
	}
	p.rest = time.Time{}
	return false
}

func (p *Pool) work() {
	for {
		i := p.next.Add(1) - 1
		if i >= p.tiles {
			return
		}
		p.task.tile(int(i))
	}
}

// join closes the work and waits for the helpers inside.
func (p *Pool) join() {
	if p.inside.Add(closed) == closed {
		return
	}
	for i := 0; ; i++ {
		if p.inside.Load() == closed {
			return
		}
		pause()
		if i == 4096 {
			break
		}
	}
	start := time.Now()
	for p.inside.Load() != closed {
		goruntime.Gosched()
	}
	if time.Since(start) > lateAfter {
		p.rest = time.Now().Add(restFor)
	}
}

// help is a helper's life.
func (p *Pool) help(h *helper) {
	seen := uint32(0)
	for {
		seen = p.await(h, seen)
		if p.stop.Load() {
			return
		}
		if p.inside.Add(1) < closed {
			p.work()
		}
		p.inside.Add(-1)
	}
}

// await returns the epoch that follows seen: spinning first, then asleep.
func (p *Pool) await(h *helper, seen uint32) uint32 {
	start := time.Now()
	for i := 1; ; i++ {
		if e := p.epoch.Load(); e != seen {
			return e
		}
		pause()
		if i%256 != 0 || time.Since(start) < spinFor {
			continue
		}
		h.parked.Store(true)
		if e := p.epoch.Load(); e != seen && h.parked.CompareAndSwap(true, false) {
			return e
		}
		<-h.wake
		start = time.Now()
	}
}

// pause spends a few nanoseconds; not inlined, so that a spinning goroutine
// can be stopped for a garbage collection.
//
//go:noinline
func pause() {
	for range 8 {
	}
}
