package ops

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestHalfMemoryIsTheMemoryRounded: reading a memory in halfs differs from
// reading it in float32 by the rounding of its elements only; one with numbers
// beyond a half's range is the same.
func TestHalfMemoryIsTheMemoryRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const s, k, d, heads = 13, 8, 300, 3
	c := NewCPU()
	half, full := NewHalfMemory(2, k, d), NewMemory(2, k, d)
	if half.Slots() != 2 || full.Slots() != 2 {
		t.Errorf("%d and %d slots, want 2", half.Slots(), full.Slots())
	}
	for _, test := range []struct {
		name  string
		gain  float32
		exact bool
	}{{"ordinary", 1, false}, {"huge", 40000, true}, {"ordinary again", 1, false}} {
		t.Run(test.name, func(t *testing.T) {
			q, kv := randomMatrix(r, 2, heads*k), randomMatrix(r, s, k+d)
			n := MemoryNorms{unitNorm(k), unitNorm(d)}
			for i := range n.Value.Weight {
				n.Value.Weight[i] = test.gain
			}
			got, want := NewMatrix(2, d), NewMatrix(2, d)
			c.MemoryBuild(half, 1, kv, n)
			c.MemoryBuild(full, 1, kv, n)
			c.MemoryRead(got, q, half, []int32{1, 1})
			c.MemoryRead(want, q, full, []int32{1, 1})
			largest := 0.0
			for _, v := range full.slot(1) {
				largest = max(largest, math.Abs(float64(v)))
			}
			most := largest / (1 << 11) // α sums to 1
			if test.exact {
				most = 0
			}
			differ := false
			for i := range 2 {
				for j, v := range got.Row(i) {
					diff := math.Abs(float64(v) - float64(want.Row(i)[j]))
					differ = differ || diff > 0
					if !(diff <= most) {
						t.Fatalf("[%d %d] = %v, want %v within %v", i, j, v, want.Row(i)[j], most)
					}
				}
			}
			if !test.exact && !differ {
				t.Error("a memory in halfs reads like one in float32")
			}
		})
	}
}
