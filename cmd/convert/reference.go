package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"memsizer/format"
	"memsizer/format/safetensors"
)

// reference is a recording of a model's inputs and what it computed.
type reference struct {
	src  *ids // nil for a language model
	prev *ids // what the decoder reads
	// values are the recorded quantities in the order in which a model
	// computes them.
	values []*recorded
	unused []string // tensors of the file that are not compared
}

// ids is a matrix of token ids [N, T]; rows are padded.
type ids struct {
	n, t int
	v    []int32
}

// recorded is one recorded tensor.
type recorded struct {
	name  string
	kind  string // "encoder_layer", "logits", …
	index int    // of the layer or the sentence, −1 for none
	shape []int
	v     []float32
}

// kinds of recorded values, in the order of computation. Scores are rows
// over the vocabulary.
var kinds = []struct {
	name    string
	indexed bool
	source  bool // a row for each source token, not for each target token
	scores  bool
}{
	{"encoder_layer", true, true, false},
	{"encoder_out", false, true, false},
	{"decoder_inner", true, false, false},
	{"logits", false, false, true},
	{"log_probs", false, false, true},
	{"step_logits", true, false, true},
}

func kindOf(name string) (kind, index int, ok bool) {
	for i, k := range kinds {
		if name == k.name && !k.indexed {
			return i, -1, true
		}
		if rest, found := strings.CutPrefix(name, k.name+"."); found && k.indexed {
			n, err := strconv.Atoi(rest)
			return i, n, err == nil && n >= 0 && strconv.Itoa(n) == rest
		}
	}
	return 0, 0, false
}

// readReference reads a recording (see testdata/record_reference.py) and
// checks that it fits the configuration.
func readReference(path string, c *format.Config) (*reference, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &reference{}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...))
	}
	target := "prev_output_tokens"
	if c.Encoder == nil {
		target = "tokens"
	}
	for _, t := range f.Tensors() {
		switch {
		case t.Name == target:
			r.prev, err = readIDs(t)
		case t.Name == "src_tokens" && c.Encoder != nil:
			r.src, err = readIDs(t)
		default:
			kind, index, ok := kindOf(t.Name)
			if !ok {
				r.unused = append(r.unused, t.Name)
				continue
			}
			v := &recorded{name: t.Name, kind: kinds[kind].name, index: index, shape: t.Shape}
			v.v, err = readFloats(t)
			r.values = append(r.values, v)
		}
		if err != nil {
			return nil, fail("tensor %q: %w", t.Name, err)
		}
	}
	if r.prev == nil {
		return nil, fail("no tensor %q, the decoder's input", target)
	}
	if r.src == nil && c.Encoder != nil {
		return nil, fail("no tensor %q, the encoder's input", "src_tokens")
	}
	if r.src != nil && r.src.n != r.prev.n {
		return nil, fail("%d sentences in src_tokens, %d in %s", r.src.n, r.prev.n, target)
	}
	if len(r.values) == 0 {
		return nil, fail("nothing to compare: no logits, no hidden states")
	}
	slices.SortStableFunc(r.values, func(a, b *recorded) int {
		ka, _, _ := kindOf(a.name)
		kb, _, _ := kindOf(b.name)
		if ka != kb {
			return ka - kb
		}
		return a.index - b.index
	})
	for _, v := range r.values {
		if want := r.shapeOf(v, c); want == nil || !slices.Equal(v.shape, want) {
			return nil, fail("tensor %q has shape %v, the model has %v", v.name, v.shape, want)
		}
	}
	return r, nil
}

// shapeOf is the shape that a recorded value must have, nil when the model
// has no such value.
func (r *reference) shapeOf(v *recorded, c *format.Config) []int {
	vocab := c.Decoder.Embedding.Vocab
	switch {
	case v.kind == "step_logits":
		if v.index >= r.prev.n {
			return nil
		}
		return []int{len(r.prev.row(v.index)), vocab}
	case v.kind == "logits" || v.kind == "log_probs":
		return []int{r.prev.n, r.prev.t, vocab}
	case v.kind == "decoder_inner" && v.index <= c.Decoder.Layers:
		return []int{r.prev.n, r.prev.t, c.Decoder.Dim}
	case c.Encoder != nil && (v.kind == "encoder_out" || v.kind == "encoder_layer" && v.index < c.Encoder.Layers):
		return []int{r.src.n, r.src.t, c.Encoder.Dim}
	}
	return nil
}

// row is sentence i without its padding.
func (s *ids) row(i int) []int32 {
	var out []int32
	for _, id := range s.v[i*s.t : (i+1)*s.t] {
		if id != format.Pad {
			out = append(out, id)
		}
	}
	return out
}

// places are the columns of sentence i that are not padding.
func (s *ids) places(i int) []int {
	var out []int
	for j, id := range s.v[i*s.t : (i+1)*s.t] {
		if id != format.Pad {
			out = append(out, j)
		}
	}
	return out
}

// readIDs reads integers [N, T].
func readIDs(t *safetensors.Tensor) (*ids, error) {
	size := map[string]int{"I64": 8, "I32": 4}[t.DType]
	if size == 0 || len(t.Shape) != 2 {
		return nil, fmt.Errorf("%s of shape %v, want integers of two dimensions", t.DType, t.Shape)
	}
	b, err := io.ReadAll(t.Reader())
	if err != nil {
		return nil, err
	}
	s := &ids{n: t.Shape[0], t: t.Shape[1], v: make([]int32, len(b)/size)}
	for i := range s.v {
		id := int64(int32(binary.LittleEndian.Uint32(b[size*i:])))
		if size == 8 {
			id = int64(binary.LittleEndian.Uint64(b[size*i:]))
		}
		if id < 0 || id > math.MaxInt32 {
			return nil, fmt.Errorf("token %d is %d", i, id)
		}
		s.v[i] = int32(id)
	}
	return s, nil
}

// readFloats reads any floating-point type.
func readFloats(t *safetensors.Tensor) ([]float32, error) {
	b, err := io.ReadAll(t.Reader())
	if err != nil {
		return nil, err
	}
	if t.DType == "F64" {
		v := make([]float32, len(b)/8)
		for i := range v {
			v[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
		return v, nil
	}
	d, ok := map[string]format.DType{"F32": format.F32, "F16": format.F16, "BF16": format.BF16}[t.DType]
	if !ok {
		return nil, fmt.Errorf("element type %s, want floating-point numbers", t.DType)
	}
	v := make([]float32, len(b)/d.Size())
	x := format.Tensor{TensorInfo: format.TensorInfo{DType: d, Shape: []int{len(v)}}, Data: b}
	x.Float32s(v, 0)
	return v, nil
}
