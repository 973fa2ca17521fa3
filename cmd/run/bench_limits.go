package main

import (
	"slices"
	"sync"
	"time"

	"memsizer/ops"
	"memsizer/simd"
)

// benchLimit is one limit of the machine: the rate of a loop that does
// nothing else, with a number of threads. The best burst is the limit; a
// median far below it, or a difference between start and end, tells that
// something else ran.
type benchLimit struct {
	Name    string     `json:"name"`
	Unit    string     `json:"unit"`
	Bytes   int64      `json:"bytes,omitempty"` // read, all threads together
	Threads int        `json:"threads"`
	Start   benchBurst `json:"start"`
	End     benchBurst `json:"end"`
}

// benchBurst are the rates of short bursts, in units of 1e9 per second.
type benchBurst struct {
	Best   float64 `json:"best"`
	Median float64 `json:"median"`
}

// rate is the limit: the best of all bursts.
func (l *benchLimit) rate() float64 { return max(l.Start.Best, l.End.Best) }

// Names of the limits.
const (
	limitFMA     = "FMA"
	limitI8      = "int8 dot"
	limitBF16    = "bf16 dot"
	limitL3      = "read L3"
	limitWeights = "read weights"
	limitDRAM    = "read DRAM"
)

// benchLimits measures the limits.
type benchLimits struct {
	threads []int
	memory  []byte
	time    time.Duration // of each measurement
	sizes   map[string]int64
	list    []*benchLimit
	ended   bool
}

// newBenchLimits plans measurements with each number of threads; weights is
// the size of what a decoder step reads.
func newBenchLimits(m *benchMachine, threads []int, weights int64, each time.Duration) *benchLimits {
	l2, l3 := m.L2, m.L3
	if l2 == 0 {
		l2 = 1 << 20
	}
	if l3 == 0 {
		l3 = 32 << 20
	}
	dram := min(4*l3, 2<<30)
	if n := availableMemory(); n > 0 {
		dram = min(dram, n/4)
	}
	b := &benchLimits{threads: threads, time: each, sizes: map[string]int64{
		limitL3: max(min(8*l2, l3/2), 1<<20), limitWeights: max(weights, 1<<16), limitDRAM: max(dram, 1<<20),
	}}
	if weights == 0 {
		delete(b.sizes, limitWeights)
	}
	return b
}

// measure takes all measurements, the first time as the start's, then as the
// end's.
func (b *benchLimits) measure() {
	var most int64
	for _, n := range b.sizes {
		most = max(most, n)
	}
	b.memory = make([]byte, most)
	for i := 0; i < len(b.memory); i += 4096 {
		b.memory[i] = 1 // memory that was never written is not really there
	}
	for _, n := range b.threads {
		b.compute(n, limitFMA, "GFLOP/s", simd.PeakFMA)
		b.compute(n, limitI8, "GOP/s", simd.PeakI8)
		b.compute(n, limitBF16, "GFLOP/s", simd.PeakBF16)
		for _, name := range []string{limitL3, limitWeights, limitDRAM} {
			if size, ok := b.sizes[name]; ok {
				b.read(n, name, size)
			}
		}
	}
	b.memory = nil
	b.ended = true
}

func (b *benchLimits) compute(threads int, name, unit string, f func(int) int) {
	if f(10) == 0 { // the set has no such instruction
		return
	}
	n := 1000
	for begun := time.Now(); ; begun = time.Now() { // as many as take about 1 ms
		f(n)
		if time.Since(begun) > time.Millisecond || n > 1<<30 {
			break
		}
		n *= 2
	}
	b.put(threads, name, unit, 0, bursts(threads, b.time, func(int) int { return f(n) }))
}

func (b *benchLimits) read(threads int, name string, size int64) {
	share := int(size) / threads
	burst := bursts(threads, b.time, func(i int) int {
		done := 0
		for done < 1<<20 { // small sizes several times
			done += max(simd.ReadMemory(b.memory[i*share:(i+1)*share]), 1)
		}
		return done
	})
	b.put(threads, name, "GB/s", size, burst)
}

func (b *benchLimits) put(threads int, name, unit string, bytes int64, burst benchBurst) {
	if l := b.find(name, threads); l != nil {
		l.End = burst
		return
	}
	l := &benchLimit{Name: name, Unit: unit, Bytes: bytes, Threads: threads}
	if b.ended {
		l.End = burst
	} else {
		l.Start = burst
	}
	b.list = append(b.list, l)
}

// bursts runs f in all threads at once, again and again for about d, and
// returns the rates of its work. f takes the number of its thread.
func bursts(threads int, d time.Duration, f func(i int) int) benchBurst {
	work := make([]int, threads)
	burst := func() float64 {
		var wg sync.WaitGroup
		begun := time.Now()
		for i := 1; i < threads; i++ {
			wg.Go(func() { work[i] = f(i) })
		}
		work[0] = f(0)
		wg.Wait()
		seconds := time.Since(begun).Seconds()
		sum := 0
		for _, n := range work {
			sum += n
		}
		return float64(sum) / max(seconds, 1e-9) / 1e9
	}
	burst() // warms up
	var rates []float64
	for begun := time.Now(); len(rates) < 3 || time.Since(begun) < d; {
		rates = append(rates, burst())
	}
	slices.Sort(rates)
	return benchBurst{Best: rates[len(rates)-1], Median: rates[len(rates)/2]}
}

func (b *benchLimits) find(name string, threads int) *benchLimit {
	for _, l := range b.list {
		if l.Name == name && l.Threads == threads {
			return l
		}
	}
	return nil
}

// rate is a limit in 1e9 per second, 0 if there is none.
func (b *benchLimits) rate(name string, threads int) float64 {
	if l := b.find(name, threads); l != nil {
		return l.rate()
	}
	return 0
}

// roof is the least time that the limits allow for products which `busy` of
// the threads computed, each its own: the longer of reading the weights and
// multiplying, summed over the products. It is 0 where a limit is missing.
// Only products count, nothing else that a step does.
func (b *benchLimits) roof(products []ops.ProductTime, threads, busy int) time.Duration {
	share := 1e9 / float64(max(busy, 1))
	read := b.rate(limitWeights, threads) * share
	var sum float64
	for _, p := range products {
		multiply := b.multiply(p.DType, threads) * share
		if read == 0 || multiply == 0 {
			return 0
		}
		work := 2 * float64(p.Rows) * float64(p.Out) * float64(p.In)
		sum += float64(p.Calls) * max(float64(p.Bytes)/read, work/multiply)
	}
	return time.Duration(sum * 1e9)
}

// multiply is the limit of products with weights of an element type.
func (b *benchLimits) multiply(d ops.DType, threads int) float64 {
	switch d {
	case ops.I8:
		return b.rate(limitI8, threads)
	case ops.BF16:
		return max(b.rate(limitBF16, threads), b.rate(limitFMA, threads))
	}
	return b.rate(limitFMA, threads)
}
