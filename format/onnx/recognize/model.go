package recognize

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"memsizer/format"
	"memsizer/format/onnx"
)

// Options say what a graph does not.
type Options struct {
	// MaxSource and MaxTarget are the longest sequences that the model's
	// settings allow (max_source_positions, max_target_positions), in tokens.
	// 0 takes what the graph tells: the rows of its position embeddings, or
	// fairseq's default of 1024 where those are computed.
	MaxSource, MaxTarget int
	// Limit is the largest magnitude an element may have, 65504 for a float16
	// target; 0 means float32's.
	Limit float32
}

// Model is a model found in one or two graphs, in canonical form.
type Model struct {
	Config format.Config
	// Tensors are those of Config.TensorSpecs, in that order.
	Tensors []Tensor
	// Notes say what was decided that the graph does not.
	Notes []string
	// SourceName is the base name of the (first) file.
	SourceName string

	files []*onnx.File
	found *found
}

// Tensor is one canonical tensor, not yet read.
type Tensor struct {
	Spec format.TensorSpec
	// Source is the tensor's name in the file, "" if the graph computes it.
	Source string
	// SourceDType is the stored element type: "float32", "float16", ….
	SourceDType string

	weight weight
	limit  float32
}

// ValueError reports an element that no model may have: a NaN, an infinity or
// a magnitude beyond Options.Limit.
type ValueError struct {
	Tensor string  // canonical name
	Source string  // name in the file
	Index  int64   // flat, row-major
	Value  float64 // what stands there
	Limit  float64 // the magnitude it exceeds, 0 where it is not finite
}

// Error names the tensor, the index and the value.
func (e *ValueError) Error() string {
	s := fmt.Sprintf("recognize: tensor %q (%q): element %d is %v", e.Source, e.Tensor, e.Index, e.Value)
	if e.Limit != 0 {
		s += fmt.Sprintf(", want a magnitude of at most %v", e.Limit)
	}
	return s
}

// maxChunk bounds the chunks that Read passes on.
const maxChunk = 1 << 16

// Read streams the tensor's elements in row-major order to fn, in chunks of
// at most 65,536 that fn must not keep. A NaN, an infinity and a value beyond
// Options.Limit stop it with a *ValueError, an error of fn with that error. It
// may be called repeatedly, and for different tensors concurrently.
func (t *Tensor) Read(fn func(chunk []float32) error) error {
	at := int64(0)
	limit := float64(t.limit)
	if limit == 0 {
		limit = math.MaxFloat32
	}
	err := t.weight.stream(func(part []float32) error {
		for len(part) > 0 {
			c := part[:min(len(part), maxChunk)]
			for i, v := range c {
				if a := math.Abs(float64(v)); !(a <= limit) {
					bad := &ValueError{t.Spec.Name, t.Source, at + int64(i), float64(v), 0}
					if !math.IsInf(a, 0) && a == a {
						bad.Limit = limit
					}
					return bad
				}
			}
			if err := fn(c); err != nil {
				return err
			}
			at += int64(len(c))
			part = part[len(c):]
		}
		return nil
	})
	if err != nil {
		return err
	}
	if want := t.Spec.Elements(); at != want {
		return fmt.Errorf("recognize: tensor %q: %d elements, want %d", t.Spec.Name, at, want)
	}
	return nil
}

// Close closes the files behind the model's tensors.
func (m *Model) Close() error {
	var first error
	for _, f := range m.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	m.files = nil
	return first
}

// Load opens a model's graph, or its encoder's and its decoder's in either
// order, and recognises what they compute. The caller closes the model. A
// node that is not part of a model is a *NotUnderstoodError.
func Load(paths []string, opts Options) (*Model, error) {
	if len(paths) < 1 || len(paths) > 2 {
		return nil, fmt.Errorf("recognize: %d files, want one, or an encoder and a decoder", len(paths))
	}
	m := &Model{SourceName: filepath.Base(paths[0])}
	for _, p := range paths {
		f, err := onnx.Open(p)
		if err != nil {
			m.Close()
			return nil, err
		}
		m.files = append(m.files, f)
	}
	if err := m.recognize(opts); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// FromFile recognises a graph that is open already. Closing the model closes
// the file.
func FromFile(f *onnx.File, opts Options) (*Model, error) {
	m := &Model{SourceName: filepath.Base(f.Name), files: []*onnx.File{f}}
	if err := m.recognize(opts); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Model) recognize(opts Options) error {
	found, err := find(m.files)
	if err != nil {
		return err
	}
	m.found = found
	b := &builder{opts: opts, tensors: make(map[string]weight), sums: make(sums)}
	if found.encoder != nil {
		b.config.Encoder = new(format.Stack)
		if err := b.fill(b.config.Encoder, found.encoder, "encoder"); err != nil {
			return err
		}
	}
	if err := b.fill(&b.config.Decoder, found.decoder, "decoder"); err != nil {
		return err
	}
	if err := b.output(found); err != nil {
		return err
	}
	if err := b.share(); err != nil {
		return err
	}
	if err := b.config.Validate(); err != nil {
		return fmt.Errorf("recognize: %w", err)
	}
	m.Config, m.Notes = b.config, b.notes
	var problems []error
	for _, spec := range m.Config.TensorSpecs() {
		w, ok := b.tensors[spec.Name]
		if !ok || !sameShape(w.Shape, spec.Shape) {
			problems = append(problems, fmt.Errorf("recognize: tensor %q: found shape %d, want %d", spec.Name, w.shape(), spec.Shape))
			continue
		}
		m.Tensors = append(m.Tensors, Tensor{Spec: spec, Source: w.source(), SourceDType: w.stored(), weight: w, limit: opts.Limit})
	}
	return errors.Join(problems...)
}

func sameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
