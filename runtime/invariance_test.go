package runtime

import (
	"context"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
)

const bundled = "../testdata/multi30k-en-de/"

func openBundled(t testing.TB) *Model {
	t.Helper()
	m, err := Open(bundled + "model.msz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func bundledLines(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile(bundled + "test_2016_flickr.en")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(data), "\n"), "\n")
}

// enough returns the size of a test: all on amd64, where tests run natively, and fewer in short tests and on the
// architectures that are tested under emulation, which takes a hundred times as long.
func enough(all, emulated int) int {
	if goruntime.GOARCH != "amd64" || testing.Short() {
		return emulated
	}
	return all
}

// TestResultsDoNotDependOnTheBatch: every hypothesis of a sentence has the
// same tokens and the same bits of every score alone, among any neighbours, in
// any order, with any number of rows and workers.
func TestResultsDoNotDependOnTheBatch(t *testing.T) {
	m := openBundled(t)
	lines := bundledLines(t)[:enough(40, 3)]
	o := DefaultOptions()
	o.NBest, o.MaxLenA, o.MaxLenB = 5, 1.2, 10
	translate := func(r Resources, lines []string) []Translation {
		tr, err := NewTranslator(m, o, r)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		out, err := tr.Translate(context.Background(), lines)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var alone []Translation
	for _, l := range lines {
		alone = append(alone, translate(Resources{Workers: 1, Rows: 5}, []string{l})...)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for name, r := range map[string]Resources{
		"1 worker":              {Workers: 1, Rows: 320},
		"2 workers":             {Workers: 2, Rows: 64},
		"8 workers":             {Workers: 8, Rows: 15},
		"a sentence at a time":  {Workers: 1, Rows: 5},
		"2 workers, few tokens": {Workers: 2, Rows: 40, BatchTokens: 20},
	} {
		t.Run(name, func(t *testing.T) {
			order := rng.Perm(len(lines))
			shuffled := make([]string, len(lines))
			for i, j := range order {
				shuffled[i] = lines[j]
			}
			for i, got := range translate(r, shuffled) {
				want := alone[order[i]]
				if len(got.Hypotheses) != len(want.Hypotheses) || len(got.Hypotheses) == 0 {
					t.Fatalf("%q: %d hypotheses, want %d", got.Source, len(got.Hypotheses), len(want.Hypotheses))
				}
				for k, h := range got.Hypotheses {
					w := want.Hypotheses[k]
					if !slices.Equal(h.Tokens, w.Tokens) || !slices.Equal(h.TokenScores, w.TokenScores) || h.Score != w.Score {
						t.Fatalf("%q hypothesis %d: %v %v, alone %v %v", got.Source, k, h.Tokens, h.TokenScores, w.Tokens, w.TokenScores)
					}
				}
			}
		})
	}
}

// TestForcedPassEqualsSteps: scores of a given target have the same bits
// computed position by position and together.
func TestForcedPassEqualsSteps(t *testing.T) {
	m := openBundled(t)
	src, _ := m.Text().EncodeSource(bundledLines(t)[1])
	src = append(src, 2)
	prev := []int32{2}
	for i := range int32(150) { // more than one chunk of a forced pass
		prev = append(prev, 4+i*7%2000)
	}
	var want [][]float32
	if err := m.Logits(src, prev, true, nil, func(_ int, row []float32) { want = append(want, slices.Clone(row)) }); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := m.Logits(src, prev, false, nil, func(i int, row []float32) {
		n++
		if !slices.Equal(row, want[i]) {
			t.Errorf("position %d differs", i)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if n != len(prev) {
		t.Errorf("%d positions, want %d", n, len(prev))
	}
}

// TestStepAllocatesNothing: after the first steps, a decoder step with its
// output layer and search takes no memory from the heap.
func TestStepAllocatesNothing(t *testing.T) {
	m := openBundled(t)
	o := DefaultOptions()
	o.MinLen, o.MaxLenB = 190, 200 // no hypothesis ends while we look
	e := &engine{m: m, o: o, jobs: make(chan *job, 8)}
	w := newWorker(m, &o, 40)
	w.engine = e
	e.workers = []*worker{w}
	done := make(chan *job, 8)
	for _, l := range bundledLines(t)[:8] {
		src, _ := m.Text().EncodeSource(l)
		src = append(src, 2)
		e.jobs <- &job{ctx: context.Background(), src: src, length: len(src), done: done}
	}
	for range 3 {
		w.collect(e.jobs)
		w.encode()
		w.admit()
	}
	for range 150 { // token lists grow to their size
		w.step()
	}
	if n := testing.AllocsPerRun(20, w.step); n > 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

func TestContinuationIsTheBeamOfOne(t *testing.T) {
	// A language model's greedy continuation by steps and by the search
	// engine are the same; a translation model has none.
	m := openBundled(t)
	for _, err := range m.Continue(context.Background(), 0, nil, DefaultOptions()) {
		if err == nil {
			t.Fatal("a translation model continued a prompt")
		}
	}
	if _, err := NewGenerator(m, DefaultOptions(), Resources{}); err == nil {
		t.Fatal("a translation model became a generator")
	}
}

func TestCancelledContextStops(t *testing.T) {
	m := openBundled(t)
	tr, err := NewTranslator(m, DefaultOptions(), Resources{Workers: 2, Rows: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	endless := func(yield func(string) bool) {
		for yield("A man sleeps.") {
		}
	}
	for _, err := range tr.Stream(ctx, endless) {
		if n++; n == 5 {
			cancel()
		}
		if err != nil {
			if err != context.Canceled {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
			break
		}
		if n > 5000 {
			t.Fatal("a cancelled stream goes on")
		}
	}
	// the translator still works for others
	out, err := tr.Translate(context.Background(), []string{"A man sleeps."})
	if err != nil || len(out) != 1 || out[0].Text() == "" {
		t.Errorf("after a cancelled stream: %v, %v", out, err)
	}
	tr.Close()
	if _, err := tr.Translate(context.Background(), []string{"A man sleeps."}); err != ErrClosed {
		t.Errorf("error %v after Close, want %v", err, ErrClosed)
	}
}
