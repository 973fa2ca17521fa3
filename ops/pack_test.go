package ops

import (
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestStackedPartsAreTheParts: the product of a stacked layer is the products
// of its parts side by side, however the rows were shared out for packing;
// every row is reported done once.
func TestStackedPartsAreTheParts(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(3))
	r := rand.New(rand.NewPCG(11, 12))
	const in = 700
	for _, dtype := range []DType{F32, F16, BF16, I8} {
		t.Run(fmt.Sprint(dtype), func(t *testing.T) {
			x := randomMatrix(r, 3, in)
			c := NewCPU()
			var parts []*Weights
			var want [][]float32
			var mu sync.Mutex
			done := map[string]int{}
			for i, rows := range []int{70, 3, 2500, 61} {
				w := randomWeights(r, dtype, rows, in)
				w.Done = func(lo, hi int) {
					mu.Lock()
					defer mu.Unlock()
					for j := lo; j < hi; j++ {
						done[fmt.Sprint(i, " ", j)]++
					}
				}
				parts = append(parts, w)
				y := NewMatrix(x.Rows, rows)
				c.Linear(y, NewLinear([]*Weights{w}, nil), x)
				for j := range y.Rows {
					want = append(want, slices.Clone(y.Row(j)))
				}
			}
			l := NewLinear(parts, nil)
			y := NewMatrix(x.Rows, l.Out)
			c.Linear(y, l, x)
			for j := range x.Rows {
				row := slices.Concat(want[j], want[3+j], want[6+j], want[9+j])
				if !slices.Equal(y.Row(j), row) {
					t.Errorf("row %d of the stacked product differs", j)
				}
			}
			if len(done) != l.Out {
				t.Errorf("%d rows done, want %d", len(done), l.Out)
			}
			for row, n := range done {
				if n != 2 { // packed alone and stacked
					t.Errorf("row %s was done %d times, want 2", row, n)
				}
			}
		})
	}
}

// TestMixedPartsAreWidened: parts of different types make a float32 layer.
func TestMixedPartsAreWidened(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const in = 50
	a, b := randomWeights(r, F16, 40, in), randomWeights(r, I8, 30, in)
	x, got, want := randomMatrix(r, 2, in), NewMatrix(2, 70), NewMatrix(2, 70)
	c := NewCPU()
	c.Linear(got, NewLinear([]*Weights{a, b}, nil), x)
	wide := &Weights{Rows: 70, Cols: in, Data: make([]byte, 4*70*in)}
	copy(wide.floats(), append(a.Floats(), b.Floats()...))
	c.Linear(want, NewLinear([]*Weights{wide}, nil), x)
	for i := range 2 {
		if !slices.Equal(got.Row(i), want.Row(i)) {
			t.Errorf("row %d differs", i)
		}
	}
}

// TestLargeWeightsGoBack: weights outside the heap are given back when their
// layer is collected, and not before.
func TestLargeWeightsGoBack(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	w := randomWeights(r, F16, 1100, 1000) // more than a huge page
	x, y := randomMatrix(r, 1, 1000), NewMatrix(1, 1100)
	c := NewCPU()
	var first []float32
	for range 12 { // 50 MB of addresses in all
		c.Linear(y, NewLinear([]*Weights{w}, nil), x)
		if first == nil {
			first = slices.Clone(y.Row(0))
		}
		if !slices.Equal(y.Row(0), first) {
			t.Fatal("results differ")
		}
		goruntime.GC()
	}
	for range 1000 { // cleanups run some time after a collection
		if mapped.Load() < 20<<20 {
			return
		}
		goruntime.GC()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d bytes are mapped for weights, want them given back", mapped.Load())
}
