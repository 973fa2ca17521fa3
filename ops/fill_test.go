package ops

import "testing"

func TestFillMakesEveryPosition(t *testing.T) {
	const d = 4
	for _, n := range []int{0, 1, 63, 64, 65, 200} {
		c := NewCache(2, d)
		c.Fill(1, n, n+3)
		if got, want := len(c.rows[1]), (n+3)*2*d; got != want {
			t.Fatalf("%d positions: %d numbers, want %d", n, got, want)
		}
		for i, v := range c.rows[1] {
			made := i < n*2*d
			if made && (v == 0 || v < -1 || v > 1) || !made && v != 0 {
				t.Fatalf("%d positions: number %d is %v", n, i, v)
			}
		}
		c.put(1, n, make([]float32, 2*d))
		if got, want := len(c.rows[1]), (n+3)*2*d; got != want {
			t.Errorf("%d positions: %d numbers after one more, want %d", n, got, want)
		}
	}
}
