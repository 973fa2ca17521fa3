package ops

import (
	"fmt"
	"math"
)

// Activation is the nonlinearity of a feed-forward block.
type Activation uint8

const (
	Identity Activation = iota
	ReLU
	GELU     // x Φ(x), by erf
	GELUTanh // 0.5 x (1 + tanh(√(2/π)(x + 0.044715 x³)))
	Tanh
	Swish // x σ(x)
)

// ParseActivation accepts fairseq's names.
func ParseActivation(name string) (Activation, error) {
	switch name {
	case "relu":
		return ReLU, nil
	case "gelu":
		return GELU, nil
	case "gelu_accurate", "gelu_fast":
		return GELUTanh, nil
	case "tanh":
		return Tanh, nil
	case "linear":
		return Identity, nil
	case "swish":
		return Swish, nil
	}
	return 0, fmt.Errorf("ops: unknown activation %q", name)
}

func (a Activation) apply(x []float32) {
	switch a {
	case Identity:
	case ReLU:
		for i, v := range x {
			x[i] = max(v, 0)
		}
	case GELU:
		for i, v := range x {
			x[i] = float32(0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)))
		}
	case GELUTanh:
		for i, v := range x {
			f := float64(v)
			x[i] = float32(0.5 * f * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(f+0.044715*f*f*f))))
		}
	case Tanh:
		for i, v := range x {
			x[i] = float32(math.Tanh(float64(v)))
		}
	case Swish:
		for i, v := range x {
			x[i] = float32(float64(v) / (1 + math.Exp(-float64(v))))
		}
	}
}
