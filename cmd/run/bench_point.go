package main

import (
	"context"
	"time"

	"memsizer/ops"
	"memsizer/runtime"
)

// benchPoint is the speed with one number of threads, beam and batch.
type benchPoint struct {
	Threads int `json:"threads"`
	Beam    int `json:"beam"`
	Batch   int `json:"batch"`
	Passes  int `json:"passes"`
	// TokensPerSecond are target tokens of the best hypotheses (eos counted)
	// by the clock, encoding included; Least and Most those of the slowest
	// and the fastest pass.
	TokensPerSecond float64 `json:"tokens_per_second"`
	Least           float64 `json:"tokens_per_second_least"`
	Most            float64 `json:"tokens_per_second_most"`
	// RowsPerStep is the mean of decoder rows that a thread computed at once.
	RowsPerStep float64 `json:"rows_per_step"`
	// CoresUsed is the processor time by the clock: less than the threads
	// means that they had to wait.
	CoresUsed float64     `json:"cores_used"`
	Encoder   *benchStage `json:"encoder,omitempty"`
	Decoder   *benchStage `json:"decoder"`

	busy int // workers of the last pass
}

// benchStage is the encoder or the decoder by itself.
type benchStage struct {
	// TokensPerSecond counts source or target tokens.
	TokensPerSecond float64 `json:"tokens_per_second"`
	// Seconds of all passes and threads together; Roof is the least that the
	// machine's limits allow for the products, Reached their ratio.
	Seconds float64 `json:"seconds"`
	Roof    float64 `json:"roof_seconds,omitempty"`
	Reached float64 `json:"roof_reached,omitempty"`
	// Best is what the products alone reach, each as fast as its fastest call:
	// where it is far above Reached, the machine was shared or other work than
	// products takes the time.
	Best     float64            `json:"products_roof_at_best,omitempty"`
	Phases   map[string]float64 `json:"phase_seconds"`
	Products []benchProduct     `json:"products"`

	products []ops.ProductTime
}

// benchProduct is the matrix products of one shape.
type benchProduct struct {
	Phase   string  `json:"phase"`
	Rows    int     `json:"rows"`
	Out     int     `json:"out"`
	In      int     `json:"in"`
	DType   string  `json:"dtype"`
	Calls   int64   `json:"calls"`
	Seconds float64 `json:"seconds"`
	GFLOPS  float64 `json:"gflop_per_second"`
	GBPS    float64 `json:"weight_gb_per_second"`
	Reached float64 `json:"roof_reached,omitempty"`
	Best    float64 `json:"roof_reached_at_best,omitempty"` // by the fastest call
}

var dtypeNames = map[ops.DType]string{ops.F32: "f32", ops.F16: "f16", ops.BF16: "bf16", ops.I8: "i8"}

// point measures one point.
func (b *bencher) point(ctx context.Context, threads, beam, batch int) (*benchPoint, error) {
	e, err := b.engine(threads, beam, batch)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	begun := time.Now()
	first, err := b.pass(ctx, e, batch)
	if err != nil {
		return nil, err
	}
	var passes []*pass
	if b.o.passes == 0 && time.Since(begun) >= b.o.time {
		passes = append(passes, first) // too long for a mere warm-up
	} else {
		begun = time.Now()
	}
	for !b.o.enough(len(passes), time.Since(begun)) {
		p, err := b.pass(ctx, e, batch)
		if err != nil {
			return nil, err
		}
		passes = append(passes, p)
	}
	return newBenchPoint(passes, threads, beam, batch), nil
}

// enough reports whether a measurement needs no further pass.
func (o *benchOptions) enough(passes int, spent time.Duration) bool {
	switch {
	case passes == 0:
		return false
	case o.passes > 0:
		return passes >= o.passes
	}
	return spent >= o.time && passes >= 3 || spent >= 4*o.time
}

func newBenchPoint(passes []*pass, threads, beam, batch int) *benchPoint {
	p := &benchPoint{Threads: threads, Beam: beam, Batch: batch, Passes: len(passes)}
	var rates, cores, encode, decode []float64
	var steps, rows int64
	p.Decoder = &benchStage{Phases: map[string]float64{}}
	if passes[0].sources > 0 {
		p.Encoder = &benchStage{Phases: map[string]float64{}}
	}
	for _, x := range passes {
		rates = append(rates, float64(x.tokens)/x.seconds)
		cores = append(cores, x.cpu/x.seconds)
		steps, rows = steps+x.stats.Steps, rows+x.stats.RowSteps
		busy := float64(max(x.profile.Busy, 1))
		p.busy = max(p.busy, x.profile.Busy)
		decode = append(decode, float64(x.tokens)*busy/x.profile.Decoder.Total().Seconds())
		p.Decoder.add(&x.profile.Decoder)
		if p.Encoder != nil {
			encode = append(encode, float64(x.sources)*busy/x.profile.Encoder.Total().Seconds())
			p.Encoder.add(&x.profile.Encoder)
		}
	}
	p.TokensPerSecond, p.CoresUsed = median(rates), median(cores)
	p.Least, p.Most = rates[0], rates[0]
	for _, r := range rates {
		p.Least, p.Most = min(p.Least, r), max(p.Most, r)
	}
	p.RowsPerStep = float64(rows) / float64(max(steps, 1))
	p.Decoder.TokensPerSecond = median(decode)
	if p.Encoder != nil {
		p.Encoder.TokensPerSecond = median(encode)
	}
	return p
}

func (s *benchStage) add(p *runtime.StageProfile) {
	s.Seconds += p.Total().Seconds()
	for i, d := range p.Times {
		s.Phases[ops.Phase(i).String()] += d.Seconds()
	}
next:
	for _, x := range p.Products {
		for i := range s.products {
			if t := &s.products[i]; t.Product == x.Product {
				t.Calls, t.Time, t.Least = t.Calls+x.Calls, t.Time+x.Time, min(t.Least, x.Least)
				continue next
			}
		}
		s.products = append(s.products, x)
	}
}

// finish makes the products' form for JSON; limits may be nil.
func (s *benchStage) finish(l *benchLimits, threads, busy int) {
	best := 0.0
	for _, x := range s.products {
		work := 2 * float64(x.Rows) * float64(x.Out) * float64(x.In) * float64(x.Calls)
		t := x.Time.Seconds()
		p := benchProduct{
			Phase: x.Phase.String(), Rows: x.Rows, Out: x.Out, In: x.In, DType: dtypeNames[x.DType], Calls: x.Calls, Seconds: t,
			GFLOPS: work / t / 1e9, GBPS: float64(x.Bytes) * float64(x.Calls) / t / 1e9,
		}
		if l != nil {
			roof := l.roof([]ops.ProductTime{x}, threads, busy).Seconds()
			least := x.Least.Seconds() * float64(x.Calls)
			p.Reached, p.Best = roof/t, roof/least
			best += least
		}
		s.Products = append(s.Products, p)
	}
	if l == nil {
		return
	}
	if s.Roof = l.roof(s.products, threads, busy).Seconds(); s.Seconds > 0 {
		s.Reached, s.Best = s.Roof/s.Seconds, s.Roof/best
	}
}

// compare computes the parts of the limits that were reached.
func (p *benchPoint) compare(l *benchLimits) {
	for _, s := range []*benchStage{p.Encoder, p.Decoder} {
		if s != nil {
			s.finish(l, p.Threads, p.busy)
		}
	}
}
