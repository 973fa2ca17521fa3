//go:build !purego

package simd

import (
	"slices"
	"testing"
)

// TestBF16Instruction tests the product with VDPBF16PS also on machines where the set does without it.
func TestBF16Instruction(t *testing.T) {
	i := slices.Index(Sets(), "avx512bf16")
	if i < 0 {
		t.Skip("this machine lacks avx512bf16")
	}
	before := sets[i].matMulBF16
	defer func() { sets[i].matMulBF16 = before }()
	sets[i].matMulBF16 = matMulBF16AVX512BF16
	testMatMulBF16(t, []string{"avx512bf16"})
}

// TestLacking names the sets of this architecture that the machine cannot run, and so the tests did not.
func TestLacking(t *testing.T) {
	for _, name := range Ladder[:6] {
		if !slices.Contains(Sets(), name) {
			t.Logf("not tested, this machine lacks it: %s", name)
			if _, err := Force(name); err == nil {
				t.Errorf("Force(%q): no error", name)
			}
		}
	}
	t.Logf("tested: %v", Sets())
}
