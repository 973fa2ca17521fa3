package fairseq

import (
	"errors"
	"fmt"
	"math"

	"memsizer/format"
)

// Tensor is one canonical tensor, not yet read.
type Tensor struct {
	Spec format.TensorSpec
	// Source is the tensor's name in the checkpoint.
	Source string
	// SourceDType is the stored element type: "float32", "float16", ….
	SourceDType string

	data  source
	limit float32 // 0 for none
}

// ValueError reports an element that no model may have: a NaN, an infinity, a
// float64 beyond float32's range, or a magnitude beyond Options.Limit.
type ValueError struct {
	Tensor string  // canonical name
	Source string  // name in the checkpoint
	Index  int64   // flat, row-major
	Value  float64 // what stands there
	Limit  float64 // the magnitude it exceeds, 0 where it is not finite
}

// Error names the tensor, the index and the value.
func (e *ValueError) Error() string {
	name := fmt.Sprintf("%q", e.Source)
	if e.Tensor != e.Source {
		name += fmt.Sprintf(" (%q)", e.Tensor)
	}
	s := fmt.Sprintf("fairseq: tensor %s: element %d is %v", name, e.Index, e.Value)
	if e.Limit != 0 {
		s += fmt.Sprintf(", want a magnitude of at most %v", e.Limit)
	}
	return s
}

// Read streams the tensor's elements in row-major order to fn, in chunks of
// at most 65,536 that fn must not keep. A NaN, an infinity, a float64 that
// float32 cannot hold and a value beyond Options.Limit stop it with a
// *ValueError, an error of fn with that error. It may be called repeatedly, and
// for different tensors concurrently.
func (t *Tensor) Read(fn func(chunk []float32) error) error {
	e, err := t.data.open()
	if err != nil {
		return fmt.Errorf("fairseq: tensor %q: %w", t.Source, err)
	}
	n := t.Spec.Elements()
	chunk := make([]float32, min(n, chunkElements))
	for at := int64(0); at < n; {
		c := chunk[:min(n-at, int64(len(chunk)))]
		if err := e.read32(c); err != nil {
			var wide *rangeError
			if errors.As(err, &wide) {
				return &ValueError{t.Spec.Name, t.Source, at + int64(wide.index), wide.value, math.MaxFloat32}
			}
			return fmt.Errorf("fairseq: tensor %q: %w", t.Source, err)
		}
		if i := firstBad(c, t.limit); i >= 0 {
			bad := &ValueError{t.Spec.Name, t.Source, at + int64(i), float64(c[i]), 0}
			if firstBad(c[i:i+1], 0) < 0 {
				bad.Limit = float64(t.limit)
			}
			return bad
		}
		if err := fn(c); err != nil {
			return err
		}
		at += int64(len(c))
	}
	return nil
}

// firstBad is the index of the first NaN, infinity or, if limit is not 0,
// magnitude beyond it; −1 if there is none.
func firstBad(v []float32, limit float32) int {
	if limit == 0 {
		limit = math.MaxFloat32
	}
	return format.FirstBeyond(v, limit)
}
