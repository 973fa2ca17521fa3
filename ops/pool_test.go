package ops

import (
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"testing"
	"time"

	"memsizer/simd"
)

// randomWeights are weights of moderate size, never NaN.
func randomWeights(r *rand.Rand, dtype DType, rows, cols int) *Weights {
	w := &Weights{DType: dtype, Rows: rows, Cols: cols}
	size := map[DType]int{F32: 4, F16: 2, BF16: 2, I8: 1}[dtype]
	w.Data = make([]byte, size*rows*cols)
	values := make([]float32, rows*cols)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	switch dtype {
	case F32:
		copy(w.floats(), values)
	case F16:
		simd.F16FromF32(w.halfs(), values)
	case BF16:
		simd.BF16FromF32(w.halfs(), values)
	case I8:
		w.Scales = make([]float32, rows)
		for i := range rows {
			w.Scales[i] = simd.QuantizeI8(w.bytes()[i*cols:(i+1)*cols], values[i*cols:(i+1)*cols])
		}
	}
	return w
}

// linearCase is a product with its result, computed alone.
type linearCase struct {
	name            string
	l               *Linear
	x, residual, y  Matrix
	activation, add bool
}

func (t *linearCase) compute(c *CPU, dst Matrix) {
	switch {
	case t.add:
		c.LinearAdd(dst, t.l, t.x, t.residual)
	case t.activation:
		c.LinearActivation(dst, t.l, t.x, simd.ActGELU)
	default:
		c.Linear(dst, t.l, t.x)
	}
}

func linearCases(r *rand.Rand) []*linearCase {
	var all []*linearCase
	for i, shape := range [][3]int{{1, 1000, 300}, {2, 1024, 512}, {3, 777, 256}, {5, 1029, 64}, {17, 1024, 256}, {40, 512, 33}} {
		for _, dtype := range []DType{F32, F16, BF16, I8} {
			rows, out, in := shape[0], shape[1], shape[2]
			bias := make([]float32, out)
			for j := range bias {
				bias[j] = r.Float32()
			}
			t := &linearCase{
				name: fmt.Sprint(shape, " dtype ", dtype),
				l:    NewLinear([]*Weights{randomWeights(r, dtype, out, in)}, bias),
				x:    randomMatrix(r, rows, in), residual: randomMatrix(r, rows, out), y: NewMatrix(rows, out),
				activation: i%3 == 0, add: i%3 == 1,
			}
			t.compute(NewCPU(), t.y)
			all = append(all, t)
		}
	}
	return all
}

func (t *linearCase) check(tb testing.TB, got Matrix) {
	tb.Helper()
	for i := range got.Rows {
		if !slices.Equal(got.Row(i), t.y.Row(i)) {
			tb.Fatalf("%s: row %d differs from the one computed alone", t.name, i)
		}
	}
}

func TestProductsAreTheSameWithHelpers(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(4))
	cases := linearCases(rand.New(rand.NewPCG(1, 2)))
	for _, helpers := range []int{1, 3} {
		t.Run(fmt.Sprint(helpers), func(t *testing.T) {
			p := NewPool(helpers)
			defer p.Close()
			c := NewCPU()
			if !p.Use(c) {
				t.Fatal("pool is in use")
			}
			defer p.Release(c)
			for round := range 8 {
				for _, l := range cases {
					got := NewMatrix(l.y.Rows, l.y.Cols)
					l.compute(c, got)
					l.check(t, got)
				}
				if round%4 == 3 {
					time.Sleep(2 * spinFor) // the helpers fall asleep
				}
				p.rest, p.pause = time.Time{}, minRest // and are called again
			}
		})
	}
}

// TestCallerDoesNotWaitForHelpers: helpers that take a tile and do not come
// back until the end of the test make no difference to the results; what they
// compute then goes nowhere.
func TestCallerDoesNotWaitForHelpers(t *testing.T) {
	cases := linearCases(rand.New(rand.NewPCG(3, 4)))
	const helpers = 2
	p := newPool(helpers)
	c := NewCPU()
	p.Use(c)
	resume := make(chan bool)
	finished := make(chan bool)
	for i := range helpers {
		go func() {
			w := &p.works[i]
			for w.inside.Add(1) >= closed {
				w.inside.Add(-1)
				time.Sleep(time.Microsecond)
			}
			j := w.next.Add(1) - 1
			<-resume
			if j < w.tiles {
				p.helpers[i].compute(w, int(j))
			}
			w.inside.Add(-1)
			finished <- true
		}()
	}
	stuck := 0
	for range 200 {
		for _, l := range cases {
			got := NewMatrix(l.y.Rows, l.y.Cols)
			p.rest = time.Time{}
			l.compute(c, got)
			l.check(t, got)
		}
		if stuck = int(p.works[0].inside.Load()&(closed-1) + p.works[1].inside.Load()&(closed-1)); stuck == helpers {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if stuck < helpers {
		t.Errorf("%d helpers got stuck in a product, want %d", stuck, helpers)
	}
	for _, l := range cases { // the helpers' results arrive while the third work is in use
		got := NewMatrix(l.y.Rows, l.y.Cols)
		p.rest = time.Time{}
		l.compute(c, got)
		l.check(t, got)
	}
	close(resume)
	for range helpers {
		<-finished
	}
}

func TestPoolHasNoMoreHelpersThanCores(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(3))
	for _, test := range []struct{ ask, want int }{{-1, 0}, {0, 0}, {1, 1}, {2, 2}, {3, 2}, {1000, 2}} {
		p := NewPool(test.ask)
		got := 0
		if p != nil {
			got = len(p.helpers)
		}
		if got != test.want {
			t.Errorf("a pool of %d has %d helpers on 3 cores, want %d", test.ask, got, test.want)
		}
		p.Close()
	}
}

func TestPoolHasOneUser(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(2))
	p := NewPool(1)
	defer p.Close()
	a, b := NewCPU(), NewCPU()
	if !p.Use(a) {
		t.Fatal("an idle pool refused its first user")
	}
	if p.Use(b) {
		t.Fatal("a second user got the pool")
	}
	p.Release(b)
	if p.Use(b) {
		t.Fatal("a release by somebody else freed the pool")
	}
	p.Release(a)
	if !p.Use(b) {
		t.Fatal("the pool was not given back")
	}
}

// TestPoolRestsWithoutHelpers: a pool whose helpers do not come is soon not
// tried any more.
func TestPoolRestsWithoutHelpers(t *testing.T) {
	p := newPool(1)
	c := NewCPU()
	p.Use(c)
	l := linearCases(rand.New(rand.NewPCG(5, 6)))[0]
	got := NewMatrix(l.y.Rows, l.y.Cols)
	for range patience {
		l.compute(c, got)
	}
	if p.rest.IsZero() {
		t.Fatalf("the pool does not rest after %d products without help", patience)
	}
	calls := p.epoch.Load()
	p.rest = time.Now().Add(time.Hour)
	l.compute(c, got)
	if p.epoch.Load() != calls {
		t.Error("a resting pool was called")
	}
}

func TestSharedProductAllocatesNothing(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(2))
	p := NewPool(1)
	defer p.Close()
	c := NewCPU()
	p.Use(c)
	defer p.Release(c)
	l := linearCases(rand.New(rand.NewPCG(7, 8)))[1]
	got := NewMatrix(l.y.Rows, l.y.Cols)
	for range 100 { // the helper has room for all tiles
		l.compute(c, got)
	}
	if n := testing.AllocsPerRun(100, func() { l.compute(c, got) }); n > 0 {
		t.Errorf("a shared product allocates %v times", n)
	}
}
