package ops

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Phase is a part of a model's work that a [Profile] takes the time of.
type Phase uint8

// The phases. Operators enter theirs by themselves; what is not an operator's
// is entered by the caller with [CPU.Begin]. PhaseOther is the time in none.
const (
	PhaseOther     Phase = iota
	PhaseEmbed           // embeddings, positions and their projections
	PhaseLinear          // matrix products
	PhaseAttention       // memory updates and reads, softmax attention
	PhaseNorm            // layer norms and residual additions by themselves
	PhaseOutput          // scores over the vocabulary, their normaliser, top-k
	PhaseSearch          // what the search does with the candidates
	Phases         int   = iota
)

var phaseNames = [Phases]string{"other", "embed", "linear", "attention", "norm", "output", "search"}

// String is the phase's name in one word.
func (p Phase) String() string { return phaseNames[p] }

// Profile adds up where one CPU's time goes and which products it computes,
// between [CPU.Profile] calls that begin and end it. Reading it does not
// disturb the work.
type Profile struct {
	mu       sync.Mutex
	times    [Phases]time.Duration
	products map[Product]*ProductTime

	// Of the goroutine that works.
	depth int
	phase Phase
	since time.Time
}

// Product is the shape of a matrix product: x [Rows, In] times W [Out, In]
// transposed.
type Product struct {
	Rows, Out, In int
	DType         DType // of the packed weights
	Phase         Phase // that the product belongs to
}

// ProductTime is what was spent on products of one shape.
type ProductTime struct {
	Product
	Bytes int           // of the packed weights
	Calls int64         // products computed
	Time  time.Duration // of all calls together
	Least time.Duration // of the fastest call
}

// Profile makes the CPU add its time to p from now on, or to nothing if p is
// nil. It must not be called inside a phase.
func (c *CPU) Profile(p *Profile) {
	if c.profile == p {
		return
	}
	if c.profile != nil {
		c.profile.enter(PhaseOther)
	}
	c.profile = p
	if p != nil {
		p.since = time.Now()
	}
}

// Begin enters a phase until the End that belongs to it. Of nested phases the
// outermost counts. Without a profile both cost nothing.
func (c *CPU) Begin(p Phase) {
	if c.profile != nil {
		c.profile.begin(p)
	}
}

// End leaves the phase that the last Begin entered.
func (c *CPU) End() {
	if c.profile != nil {
		c.profile.end()
	}
}

func (p *Profile) begin(phase Phase) {
	if p.depth++; p.depth == 1 {
		p.enter(phase)
	}
}

func (p *Profile) end() {
	if p.depth--; p.depth == 0 {
		p.enter(PhaseOther)
	}
}

// enter ends the current phase.
func (p *Profile) enter(phase Phase) {
	now := time.Now()
	p.mu.Lock()
	p.times[p.phase] += now.Sub(p.since)
	p.mu.Unlock()
	p.phase, p.since = phase, now
}

// product counts a product that began at start.
func (p *Profile) product(key Product, bytes int, start time.Time) {
	d := time.Since(start)
	key.Phase = p.phase
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.products[key]
	if t == nil {
		if p.products == nil {
			p.products = map[Product]*ProductTime{}
		}
		t = &ProductTime{Product: key, Bytes: bytes}
		p.products[key] = t
	}
	if t.Calls == 0 || d < t.Least {
		t.Least = d
	}
	t.Calls++
	t.Time += d
}

// Times is the time spent in each phase so far; their sum is the time between
// the calls that began and ended the profile.
func (p *Profile) Times() [Phases]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times
}

// Products are the products computed so far, by shape, the one that took most
// time first.
func (p *Profile) Products() []ProductTime {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []ProductTime
	for _, t := range p.products {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b ProductTime) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Out, b.Out), cmp.Compare(a.In, b.In), cmp.Compare(a.Rows, b.Rows))
	})
	return all
}

// Reset forgets what was counted; what is under way counts afterwards.
func (p *Profile) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times = [Phases]time.Duration{}
	clear(p.products)
}
