package ops

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

type countTask struct {
	counts []atomic.Int32
	spin   int
}

func (t *countTask) tile(i int) {
	t.counts[i].Add(1)
	for range t.spin {
		pause()
	}
}

func TestPoolRunsEveryTileOnce(t *testing.T) {
	for _, helpers := range []int{0, 1, 3} {
		p := NewPool(helpers)
		for round := range 3000 {
			task := &countTask{counts: make([]atomic.Int32, round%17), spin: round % 50}
			p.run(task, len(task.counts))
			for i := range task.counts {
				if got := task.counts[i].Load(); got != 1 {
					t.Fatalf("%d helpers, round %d: tile %d ran %d times, want 1", helpers, round, i, got)
				}
			}
			if round%1000 == 999 {
				time.Sleep(2 * spinFor) // the helpers fall asleep
			}
		}
		p.Close()
	}
}

func TestPoolHasOneUser(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	a, b := NewCPU(), NewCPU()
	if !p.Use(a) {
		t.Fatal("an idle pool refused its first user")
	}
	if p.Use(b) {
		t.Fatal("a second user got the pool")
	}
	p.Release(a)
	if !p.Use(b) {
		t.Fatal("the pool was not given back")
	}
}

func TestLinearIsTheSameWithHelpers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][3]int{{1, 1000, 300}, {5, 129, 64}, {40, 512, 33}} {
		rows, out, in := shape[0], shape[1], shape[2]
		w := &Weights{DType: F16, Rows: out, Cols: in, Data: make([]byte, 2*out*in)}
		for i := range w.Data {
			w.Data[i] = byte(r.IntN(60)) // halfs of moderate size, never NaN
		}
		l := NewLinear([]*Weights{w}, nil)
		x := NewMatrix(rows, in)
		for i := range x.Data {
			x.Data[i] = r.Float32()
		}
		alone, helped := NewMatrix(rows, out), NewMatrix(rows, out)
		c := NewCPU()
		c.Linear(alone, l, x)
		p := NewPool(3)
		if !p.Use(c) {
			t.Fatal("pool is in use")
		}
		c.Linear(helped, l, x)
		p.Close()
		for i := range rows {
			for j, got := range helped.Row(i) {
				if want := alone.Row(i)[j]; got != want {
					t.Fatalf("%v: [%d %d] = %v with helpers, %v without", shape, i, j, got, want)
				}
			}
		}
	}
}
