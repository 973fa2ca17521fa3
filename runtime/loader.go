package runtime

import (
	"fmt"
	"slices"
	"strings"

	"memsizer/format"
	"memsizer/ops"
)

// loader turns the tensors of a file into packed weights. check looks at
// every name, dtype and shape first; after it, only reading can fail, and
// the first failure is kept.
type loader struct {
	r   *format.Reader
	err error
	// of the stack that is being loaded
	dim int
	eps float32
}

// check compares the file's tensors with what its configuration needs and
// reports every difference in one error.
func (l *loader) check() error {
	cfg := &l.r.Header().Config
	if err := cfg.Validate(); err != nil {
		return err
	}
	have := map[string]format.TensorInfo{}
	for _, t := range l.r.Tensors() {
		have[t.Name] = t
	}
	var wrong []string
	for _, s := range cfg.TensorSpecs() {
		t, ok := have[s.Name]
		delete(have, s.Name)
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("tensor %q: missing, want shape %v", s.Name, s.Shape))
		case !slices.Equal(t.Shape, s.Shape):
			wrong = append(wrong, fmt.Sprintf("tensor %q: shape %v, want %v", s.Name, t.Shape, s.Shape))
		case t.DType == format.I8 && s.Role == format.RoleVector:
			wrong = append(wrong, fmt.Sprintf("tensor %q: dtype %v, want a float type", s.Name, t.DType))
		}
	}
	for _, t := range l.r.Tensors() {
		if _, ok := have[t.Name]; ok {
			wrong = append(wrong, fmt.Sprintf("tensor %q: the configuration has no such tensor", t.Name))
		}
	}
	if wrong != nil {
		return fmt.Errorf("runtime: %d tensors do not fit the configuration:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
	}
	return nil
}

func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// weights is a tensor as the file stores it. A failed read gives zeros of
// the right shape, so that loading can go on to its end.
func (l *loader) weights(name string) *ops.Weights {
	t, err := l.r.Tensor(name)
	if err != nil {
		l.fail(err)
		return &ops.Weights{Rows: 1, Cols: 1, Data: make([]byte, 4)}
	}
	w := &ops.Weights{Rows: t.Shape[0], Cols: 1, Data: t.Data, Scales: t.Scales}
	if len(t.Shape) == 2 {
		w.Cols = t.Shape[1]
	}
	switch t.DType {
	case format.F32:
		w.DType = ops.F32
	case format.F16:
		w.DType = ops.F16
	case format.BF16:
		w.DType = ops.BF16
	case format.I8:
		w.DType = ops.I8
	default:
		l.fail(fmt.Errorf("runtime: tensor %q: unknown dtype %v", name, t.DType))
	}
	return w
}

// vector is a bias or norm weight as float32.
func (l *loader) vector(name string) []float32 {
	w := l.weights(name)
	if l.err != nil {
		return nil
	}
	v := w.Floats()
	l.r.Drop(name)
	return v
}

func (l *loader) norm(name string) *ops.Norm {
	return &ops.Norm{Weight: l.vector(name + ".weight"), Bias: l.vector(name + ".bias"), Eps: l.eps}
}

// linears packs the named linear layers ("….q_proj", each with .weight and
// .bias), one below the other.
func (l *loader) linears(names ...string) *ops.Linear {
	var bias []float32
	weights := make([]string, len(names))
	for i, n := range names {
		bias = append(bias, l.vector(n+".bias")...)
		weights[i] = n + ".weight"
	}
	return l.linear(bias, weights...)
}

// linear packs weight tensors, one below the other, and gives the file's
// pages back.
func (l *loader) linear(bias []float32, names ...string) *ops.Linear {
	parts := make([]*ops.Weights, len(names))
	for i, n := range names {
		parts[i] = l.weights(n)
		l.r.Drop(n) // reading has checked all of it
		parts[i].Done = func(lo, hi int) { l.r.DropRows(n, lo, hi) }
	}
	if l.err != nil {
		return &ops.Linear{}
	}
	lin := ops.NewLinear(parts, bias)
	for _, n := range names {
		l.r.Drop(n)
	}
	return lin
}
