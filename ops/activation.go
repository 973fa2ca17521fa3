package ops

import (
	"fmt"

	"memsizer/simd"
)

// Activation is the nonlinearity of a feed-forward block.
type Activation = simd.Activation

// ParseActivation accepts fairseq's names.
func ParseActivation(name string) (Activation, error) {
	switch name {
	case "relu":
		return simd.ActReLU, nil
	case "gelu":
		return simd.ActGELU, nil
	case "gelu_accurate", "gelu_fast":
		return simd.ActGELUTanh, nil
	case "tanh":
		return simd.ActTanh, nil
	case "linear":
		return simd.ActNone, nil
	case "swish":
		return simd.ActSwish, nil
	}
	return 0, fmt.Errorf("ops: unknown activation %q", name)
}
