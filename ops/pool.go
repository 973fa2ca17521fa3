package ops

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	"memsizer/simd"
)

// Pool lets idle cores help one CPU with its products: the columns are cut
// into tiles, which the caller and the helpers take in turn. A fork costs
// less than a microsecond while the helpers spin; after a while without work
// they sleep.
//
// The caller never depends on a helper. A helper computes into memory of its
// own and the caller copies what is finished; a tile that a helper has taken
// but does not finish in time, because the system gave its core to somebody
// else, is computed by the caller too, and what the helper finds later is
// thrown away. A helper that was late, or that does not come at all, is left
// alone for a while. So a product takes hardly longer with helpers than
// without them, however busy the machine is.
//
// One CPU uses a Pool at a time.
type Pool struct {
	helpers []*helper
	works   []work // one more than helpers, so that one is always free
	wg      sync.WaitGroup
	stop    atomic.Bool
	owner   atomic.Pointer[CPU] // the CPU that may use the pool

	// Of the owner.
	rest  time.Time     // the pool is not used before
	pause time.Duration // the next rest
	idle  int           // products in a row that no helper came for
	good  int           // products in a row without a late helper

	_     [64]byte
	epoch atomic.Uint64 // calls<<8 | index of the work; a change calls the helpers
	_     [64]byte
}

// work is a product that helpers may join.
type work struct {
	product product
	tiles   int64

	_    [64]byte
	next atomic.Int64 // the next tile to take
	_    [64]byte
	// inside is the number of helpers that look at the product, plus closed
	// while there is nothing to join.
	inside atomic.Int64
	_      [64]byte
	done   [maxTiles]atomic.Uint32 // 0, or 1 + the helper that has finished the tile
}

type helper struct {
	index  int
	memory []float32           // for the tiles of the current work
	used   int                 // of memory
	tiles  [maxTiles][]float32 // those it has finished
	e      simd.Epilogue       // of a tile
	parked atomic.Bool         // waits for wake
	wake   chan struct{}       // ends the wait
	_      [64]byte
}

const (
	closed    = 1 << 32
	maxTiles  = 256
	spinFor   = 100 * time.Microsecond // a helper without work sleeps after this
	spinAlone = 20 * time.Microsecond  // and lets others run after this
	graceful  = 20 * time.Microsecond  // a helper may take this much longer for a tile than the caller
	maxWait   = 200 * time.Microsecond // but not more than this in all
	patience  = 16                     // products that no helper comes for before the pool rests
	minRest   = time.Millisecond
	maxRest   = 16 * time.Millisecond // a late helper costs maxWait and a little: one or two percent of this
)

// NewPool starts n helpers, but no more than there are cores for beside the
// caller's. It returns nil, which is a pool without helpers, if that is none.
func NewPool(n int) *Pool {
	n = min(n, maxHelpers, goruntime.GOMAXPROCS(0)-1)
	if n < 1 {
		return nil
	}
	p := newPool(n)
	p.wg.Add(len(p.helpers))
	for _, h := range p.helpers {
		go p.help(h)
	}
	return p
}

// newPool makes helpers that do nothing yet.
func newPool(n int) *Pool {
	p := &Pool{helpers: make([]*helper, n), works: make([]work, n+1), pause: minRest}
	for i := range p.works {
		p.works[i].inside.Store(closed)
	}
	for i := range p.helpers {
		p.helpers[i] = &helper{index: i, wake: make(chan struct{}, 1)}
	}
	return p
}

// maxHelpers keeps the index of a work in a byte; more cores than that do not
// make one product faster.
const maxHelpers = 64

// Close stops the helpers and waits for them. No operator may be using the
// pool.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.stop.Store(true)
	p.call(0)
	p.wg.Wait()
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
	if p != nil && c.pool == p {
		c.pool = nil
		p.owner.CompareAndSwap(c, nil)
	}
}

func (p *Pool) call(work int) {
	p.epoch.Store((p.epoch.Load()>>8+1)<<8 | uint64(work))
	for _, h := range p.helpers {
		if h.parked.CompareAndSwap(true, false) {
			h.wake <- struct{}{}
		}
	}
}

// run computes a product of several tiles, with the helpers if they come.
func (p *Pool) run(t *product) {
	t.cut(len(p.helpers) + 1)
	tiles := t.tiles()
	i := -1
	if tiles > 1 && !p.resting() {
		i = p.free()
	}
	if i < 0 {
		t.whole()
		return
	}
	w := &p.works[i]
	w.product, w.tiles = *t, int64(tiles)
	w.next.Store(0)
	for j := range tiles {
		w.done[j].Store(0)
	}
	w.inside.Add(-closed)
	p.call(i)
	start := time.Now()
	mine := 0
	for {
		j := w.next.Add(1) - 1
		if j >= w.tiles {
			break
		}
		t.tile(int(j))
		w.done[j].Store(caller)
		mine++
	}
	w.inside.Add(closed)
	p.collect(w, mine, time.Since(start))
}

// caller marks a tile in done as the caller's.
const caller = 1 << 31

// free is the index of a work that no helper looks at. Each looks at one at
// most, so there is one; −1 if it was missed because a helper moved.
func (p *Pool) free() int {
	for i := range p.works {
		if p.works[i].inside.Load() == closed {
			return i
		}
	}
	return -1
}

// collect copies the helpers' tiles and computes those that they do not
// finish. The caller took the time spent for its own tiles.
func (p *Pool) collect(w *work, mine int, spent time.Duration) {
	t := &w.product
	wait := graceful
	if mine > 0 {
		wait += min(spent/time.Duration(mine), maxWait)
	}
	var start time.Time
	helped, late := false, false
	for j := range int(w.tiles) {
		by := w.done[j].Load()
		for spins := 0; by == 0 && !late; spins++ {
			if spins == 0 && start.IsZero() {
				start = time.Now()
			}
			pause()
			over := spins%16 == 15 && time.Since(start) > wait
			by = w.done[j].Load()
			late = over && by == 0
		}
		switch {
		case by == 0:
			t.tile(j)
		case by != caller:
			t.put(j, p.helpers[by-1].tiles[j])
			helped = true
		}
	}
	p.judge(helped, late)
}

// judge decides after a product whether the helpers are worth calling.
func (p *Pool) judge(helped, late bool) {
	switch {
	case late:
		p.good = 0
	case helped:
		p.idle = 0
		if p.good++; p.good >= patience {
			p.pause, p.good = minRest, 0
		}
		return
	default:
		if p.idle++; p.idle < patience {
			return
		}
	}
	p.idle = 0
	p.rest = time.Now().Add(p.pause)
	p.pause = min(2*p.pause, maxRest)
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

// help is a helper's life.
func (p *Pool) help(h *helper) {
	defer p.wg.Done()
	seen := uint64(0)
	for {
		seen = p.await(h, seen)
		if p.stop.Load() {
			return
		}
		w := &p.works[seen&0xff]
		if w.inside.Add(1) < closed {
			h.join(w)
		}
		w.inside.Add(-1)
	}
}

// join computes tiles of w until all are taken.
func (h *helper) join(w *work) {
	h.used = 0
	for {
		j := w.next.Add(1) - 1
		if j >= w.tiles {
			return
		}
		h.compute(w, int(j))
	}
}

// compute computes tile i of w for the caller to copy.
func (h *helper) compute(w *work, i int) {
	n := w.product.size(i)
	if len(h.memory) < h.used+n {
		h.memory, h.used = make([]float32, max(n, 2*len(h.memory))), 0
	}
	h.tiles[i] = h.memory[h.used : h.used+n]
	w.product.aside(i, h.tiles[i], &h.e)
	h.used += n
	w.done[i].Store(uint32(h.index + 1))
}

// await returns the epoch that follows seen: spinning first, letting others
// run between looks after a while, then asleep.
func (p *Pool) await(h *helper, seen uint64) uint64 {
	start := time.Now()
	for i := 1; ; i++ {
		if e := p.epoch.Load(); e != seen {
			return e
		}
		pause()
		if i%64 != 0 {
			continue
		}
		idle := time.Since(start)
		switch {
		case idle < spinAlone:
		case idle < spinFor:
			yield()
		default:
			h.parked.Store(true)
			if e := p.epoch.Load(); e != seen && h.parked.CompareAndSwap(true, false) {
				return e
			}
			<-h.wake
			start = time.Now()
		}
	}
}

// yield lets other goroutines and other processes have the core.
func yield() {
	goruntime.Gosched()
	yieldCore()
}

// pause spends a few nanoseconds; not inlined, so that a spinning goroutine
// can be stopped for a garbage collection.
//
//go:noinline
func pause() {
	for range 8 {
	}
}
