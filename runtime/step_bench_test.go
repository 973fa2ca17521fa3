//go:build linux

package runtime

import (
	"context"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"memsizer/ops"
)

// BenchmarkStep measures decoder steps with their output layer and search, and
// BenchmarkEncode the encoding of sentences of 30 tokens, on one core, with
// the model named by MEMSIZER_BENCH_MODEL. The figures are CPU time of the
// thread, the median and the least of all steps, so that they mean something
// on a busy machine too.
func BenchmarkStep(b *testing.B) {
	m := openBenchModel(b)
	for _, c := range []struct{ rows, beam int }{{1, 1}, {5, 5}, {8, 1}, {64, 1}, {160, 5}} {
		b.Run("rows="+strconv.Itoa(c.rows)+"/beam="+strconv.Itoa(c.beam), func(b *testing.B) {
			w := newBenchWorker(m, c.rows, c.beam)
			for range 3 {
				w.collect(w.engine.jobs)
				w.encode()
				w.admit()
				w.step()
			}
			measure(b, c.rows, w.step)
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	m := openBenchModel(b)
	for _, n := range []int{1, 8, 32} {
		b.Run("sentences="+strconv.Itoa(n), func(b *testing.B) {
			w := newBenchWorker(m, n, 1)
			w.collect(w.engine.jobs)
			group := w.group
			measure(b, n*benchLength, func() {
				w.group = group
				w.encode()
			})
		})
	}
}

// BenchmarkShared decodes alternately alone and with a helper and reports the
// median wall time of a step both ways.
func BenchmarkShared(b *testing.B) {
	m := openBenchModel(b)
	for _, c := range []struct{ rows, beam int }{{1, 1}, {5, 5}, {64, 1}} {
		b.Run("rows="+strconv.Itoa(c.rows)+"/beam="+strconv.Itoa(c.beam), func(b *testing.B) {
			w := newBenchWorker(m, c.rows, c.beam)
			pool := ops.NewPool(1)
			defer pool.Close()
			for range 3 {
				w.collect(w.engine.jobs)
				w.encode()
				w.admit()
				w.step()
			}
			var alone, helped []float64
			for b.Loop() {
				for range 4 {
					start := time.Now()
					w.step()
					alone = append(alone, time.Since(start).Seconds())
				}
				pool.Use(w.c)
				for range 4 {
					start := time.Now()
					w.step()
					helped = append(helped, time.Since(start).Seconds())
				}
				pool.Release(w.c)
			}
			slices.Sort(alone)
			slices.Sort(helped)
			n := len(alone)
			b.ReportMetric(alone[n/2]*1e3, "alone-ms")
			b.ReportMetric(helped[n/2]*1e3, "helped-ms")
			b.ReportMetric(alone[n/2]/helped[n/2], "median-ratio")
			b.ReportMetric(alone[n/10]/helped[n/10], "best-ratio")
			b.ReportMetric(mean(alone)/mean(helped), "mean-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkCollection forces garbage collections while one worker decodes 4096
// tokens and reports how long they take, median and longest.
func BenchmarkCollection(b *testing.B) {
	m := openBenchModel(b)
	for b.Loop() {
		w := newBenchWorker(m, 64, 1)
		w.collect(w.engine.jobs)
		w.encode()
		done := make(chan bool)
		go func() {
			for range 4096 / 64 {
				w.admit()
				w.step()
			}
			close(done)
		}()
		var times []float64
		for over := false; !over; {
			start := time.Now()
			goruntime.GC()
			times = append(times, time.Since(start).Seconds())
			select {
			case <-done:
				over = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2]*1e3, "median-ms")
		b.ReportMetric(times[len(times)-1]*1e3, "longest-ms")
		b.ReportMetric(float64(len(times)), "collections")
		b.ReportMetric(0, "ns/op")
	}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

const benchLength = 30

func openBenchModel(b *testing.B) *Model {
	path := os.Getenv("MEMSIZER_BENCH_MODEL")
	if path == "" {
		b.Skip("MEMSIZER_BENCH_MODEL names no model")
	}
	m, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	return m
}

// newBenchWorker has jobs for all of its rows waiting; they do not end while
// a benchmark lasts.
func newBenchWorker(m *Model, rows, beam int) *worker {
	o := DefaultOptions()
	o.Beam, o.MinLen, o.MaxLenB = beam, 1000, 1000
	n := max(rows/beam, 1)
	e := &engine{m: m, o: o, jobs: make(chan *job, n)}
	w := newWorker(m, &e.o, rows)
	w.engine, w.batchTokens = e, 1<<20
	e.workers = []*worker{w}
	r := rand.New(rand.NewPCG(1, 1))
	for range n {
		src := make([]int32, benchLength)
		for i := range src {
			src[i] = int32(4 + r.IntN(m.decoder.vocab-4))
		}
		src[benchLength-1] = 2
		e.jobs <- &job{ctx: context.Background(), src: src, length: benchLength, done: make(chan *job, n)}
	}
	return w
}

// measure reports the CPU time of f, which handles n tokens.
func measure(b *testing.B, n int, f func()) {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	var times []float64
	for b.Loop() {
		start := threadTime()
		f()
		times = append(times, threadTime()-start)
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2]*1e3, "median-cpu-ms")
	b.ReportMetric(times[0]*1e3, "least-cpu-ms")
	b.ReportMetric(float64(n)/times[0], "tokens/least-cpu-s")
	b.ReportMetric(0, "ns/op")
}

// threadTime is the CPU time of this thread in seconds.
func threadTime() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return float64(t.Nano()) / 1e9
}
