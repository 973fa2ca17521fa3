package ops

import (
	"testing"
	"time"
)

// halfWeights are random-looking half weights of moderate size.
func halfWeights(rows, cols int) *Weights {
	w := &Weights{DType: F16, Rows: rows, Cols: cols, Data: make([]byte, 2*rows*cols)}
	for i := range w.Data {
		w.Data[i] = byte(i * 7 % 60)
	}
	return w
}

// TestProfileCountsOutermostPhases wants every operator's time under its
// phase, the products by shape, and nothing lost between the phases.
func TestProfileCountsOutermostPhases(t *testing.T) {
	l := NewLinear([]*Weights{halfWeights(96, 64)}, nil)
	x, y := NewMatrix(3, 64), NewMatrix(3, 96)
	c := NewCPU()
	var p Profile
	start := time.Now()
	c.Profile(&p)
	c.Linear(y, l, x)
	c.Begin(PhaseOutput)
	c.Linear(y, l, x) // counts as output
	c.End()
	c.Add(x, x, x)
	c.Linear(y.Head(1), l, x.Head(1))
	c.Profile(nil)
	all := time.Since(start)
	c.Linear(y, l, x) // not counted

	times := p.Times()
	var sum time.Duration
	for _, d := range times {
		sum += d
	}
	if sum <= 0 || sum > all {
		t.Errorf("phases sum up to %v, want more than 0 and at most %v", sum, all)
	}
	for _, phase := range []Phase{PhaseLinear, PhaseOutput, PhaseNorm} {
		if times[phase] <= 0 {
			t.Errorf("phase %v took %v, want more than 0", phase, times[phase])
		}
	}
	for _, phase := range []Phase{PhaseEmbed, PhaseAttention, PhaseSearch} {
		if times[phase] != 0 {
			t.Errorf("phase %v took %v, want 0", phase, times[phase])
		}
	}
	want := map[Product]bool{
		{3, 96, 64, F16, PhaseLinear}: true, {3, 96, 64, F16, PhaseOutput}: true, {1, 96, 64, F16, PhaseLinear}: true,
	}
	got := p.Products()
	if len(got) != len(want) {
		t.Fatalf("got %d shapes, want %d", len(got), len(want))
	}
	for _, g := range got {
		if !want[g.Product] || g.Calls != 1 || g.Bytes != 2*96*64 || g.Time <= 0 {
			t.Errorf("got %+v, want one of %v, once, %d bytes", g, want, 2*96*64)
		}
	}
	p.Reset()
	if p.Times() != ([Phases]time.Duration{}) || len(p.Products()) != 0 {
		t.Error("Reset left something")
	}
}

func TestPhasesAllocateNothing(t *testing.T) {
	l := NewLinear([]*Weights{halfWeights(96, 64)}, nil)
	x, y := NewMatrix(3, 64), NewMatrix(3, 96)
	for _, test := range []struct {
		name    string
		profile *Profile
	}{{"off", nil}, {"on", &Profile{}}} {
		t.Run(test.name, func(t *testing.T) {
			c := NewCPU()
			c.Profile(test.profile)
			got := testing.AllocsPerRun(20, func() {
				c.Linear(y, l, x)
				c.Add(x, x, x)
			})
			if got != 0 {
				t.Errorf("got %v allocations, want 0", got)
			}
		})
	}
}
