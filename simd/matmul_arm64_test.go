//go:build !purego

package simd

import (
	"slices"
	"testing"
)

// TestLacking names the sets of this architecture that the machine cannot run, and so the tests did not.
func TestLacking(t *testing.T) {
	for _, name := range []string{"generic", "neon", "neonfhm", "neondot"} {
		if !slices.Contains(Sets(), name) {
			t.Logf("not tested, this machine lacks it: %s", name)
			if _, err := Force(name); err == nil {
				t.Errorf("Force(%q): no error", name)
			}
		}
	}
	t.Logf("tested: %v", Sets())
}
