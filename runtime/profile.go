package runtime

import (
	"time"

	"memsizer/ops"
)

// Profile is where the workers of a translator or generator spent their time,
// if their [Resources] asked for it. What the text pipeline takes, in other
// goroutines, is not part of it.
type Profile struct {
	// Busy is the number of workers that did something.
	Busy             int
	Encoder, Decoder StageProfile
}

// StageProfile is the time of all workers together in one stage. Encoding
// includes what cross-attention computes once per source.
type StageProfile struct {
	Times [ops.Phases]time.Duration // by phase
	// Products are the matrix products by shape, those of each worker apart.
	Products []ops.ProductTime
}

// Total is the time in all phases.
func (s *StageProfile) Total() time.Duration {
	var sum time.Duration
	for _, d := range s.Times {
		sum += d
	}
	return sum
}

func (s *StageProfile) add(p *ops.Profile) {
	for i, d := range p.Times() {
		s.Times[i] += d
	}
	s.Products = append(s.Products, p.Products()...)
}

// Profile may be called at any time, from any goroutine; it is zero without
// [Resources].Profile.
func (e *engine) Profile() Profile {
	var p Profile
	for _, w := range e.workers {
		if w.profile == nil {
			continue
		}
		before := p.Encoder.Total() + p.Decoder.Total()
		p.Encoder.add(&w.profile.encode)
		p.Decoder.add(&w.profile.decode)
		if p.Encoder.Total()+p.Decoder.Total() > before {
			p.Busy++
		}
	}
	return p
}

// ResetProfile forgets what was counted; what is under way counts afterwards.
func (e *engine) ResetProfile() {
	for _, w := range e.workers {
		if w.profile != nil {
			w.profile.encode.Reset()
			w.profile.decode.Reset()
		}
	}
}

// workerProfile is one worker's; nil when nobody asked.
type workerProfile struct{ encode, decode ops.Profile }

func (p *workerProfile) encoding(c *ops.CPU) {
	if p != nil {
		c.Profile(&p.encode)
	}
}

func (p *workerProfile) decoding(c *ops.CPU) {
	if p != nil {
		c.Profile(&p.decode)
	}
}

func (p *workerProfile) stop(c *ops.CPU) {
	if p != nil {
		c.Profile(nil)
	}
}
