//go:build unix

package runtime

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkTranslate decodes random sentences of 30 tokens to exactly 30
// tokens with the model named by MEMSIZER_BENCH_MODEL (see convert synth),
// for each number of rows and beam.
func BenchmarkTranslate(b *testing.B) {
	path := os.Getenv("MEMSIZER_BENCH_MODEL")
	if path == "" {
		b.Skip("MEMSIZER_BENCH_MODEL names no model")
	}
	m, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	for _, workers := range []int{1, 2} {
		for _, rows := range []int{1, 8, 64} {
			for _, beam := range []int{1, 5} {
				if beam > rows {
					continue
				}
				b.Run("workers="+strconv.Itoa(workers)+"/rows="+strconv.Itoa(rows)+"/beam="+strconv.Itoa(beam), func(b *testing.B) {
					benchTranslate(b, m, rows, beam, workers)
				})
			}
		}
	}
}

func benchTranslate(b *testing.B, m *Model, rows, beam, workers int) {
	const length = 30
	o := DefaultOptions()
	o.Beam, o.MinLen, o.MaxLenB = beam, length-1, length-1
	tr, err := NewTranslator(m, o, Resources{Workers: workers, Rows: rows})
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	sentences := max(rows/beam, 1)
	if rows > 1 {
		sentences *= workers
	}
	r := rand.New(rand.NewPCG(1, 1))
	done := make(chan *job, sentences)
	var before, after unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &before)
	for b.Loop() {
		for range sentences {
			src := make([]int32, length)
			for i := range src {
				src[i] = int32(4 + r.IntN(m.decoder.vocab-4))
			}
			src[length-1] = 2
			if err := tr.submit(&job{ctx: context.Background(), src: src, length: length, done: done}); err != nil {
				b.Fatal(err)
			}
		}
		for range sentences {
			<-done
		}
	}
	unix.Getrusage(unix.RUSAGE_SELF, &after)
	tokens := float64(sentences * length * b.N)
	b.ReportMetric(tokens/b.Elapsed().Seconds(), "tokens/s")
	b.ReportMetric(tokens/(float64(unix.TimevalToNsec(after.Utime)-unix.TimevalToNsec(before.Utime))/1e9), "tokens/cpu-s")
}
