package simd

import "testing"

// TestPeakLoops wants the loops to report the work they were asked for, and a read of any length.
func TestPeakLoops(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		if got := PeakFMA(10); got < 10000 {
			t.Errorf("PeakFMA: got %d operations, want at least 10000", got)
		}
		for _, f := range []func(int) int{PeakI8, PeakBF16} {
			if got := f(10); got != 0 && got < 10000 {
				t.Errorf("got %d operations, want none or at least 10000", got)
			}
		}
		for _, n := range []int{0, 1, 1023, 1024, 5000, 1 << 20} {
			if got, want := ReadMemory(make([]byte, n)), n&^1023; got != want {
				t.Errorf("ReadMemory of %d: got %d, want %d", n, got, want)
			}
		}
	})
}
