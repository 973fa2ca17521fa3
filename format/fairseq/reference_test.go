package fairseq

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// recorded is a tensor of a reference.safetensors file, as float64.
type recorded struct {
	shape []int
	v     []float64
}

func readRecorded(t *testing.T, path string) map[string]recorded {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(data)
	var header map[string]json.RawMessage
	if err := json.Unmarshal(data[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]recorded)
	for name, raw := range header {
		var e struct {
			DType   string
			Shape   []int
			Offsets [2]int `json:"data_offsets"`
		}
		if name == "__metadata__" || json.Unmarshal(raw, &e) != nil {
			continue
		}
		b := data[8+int(n):][e.Offsets[0]:e.Offsets[1]]
		r := recorded{shape: e.Shape}
		for len(b) > 0 {
			if e.DType == "I64" {
				r.v, b = append(r.v, float64(int64(binary.LittleEndian.Uint64(b)))), b[8:]
			} else {
				r.v, b = append(r.v, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:]
			}
		}
		out[name] = r
	}
	return out
}

// tokens of sentence b without padding.
func (r recorded) tokens(b int) []int64 {
	var ids []int64
	for _, v := range r.v[b*r.shape[1] : (b+1)*r.shape[1]] {
		if v != 1 {
			ids = append(ids, int64(v))
		}
	}
	return ids
}

// checkOutputs compares the model, computed plainly, with what fairseq recorded.
func checkOutputs(t *testing.T, m *Model, path string) {
	t.Helper()
	ref := readRecorded(t, path)
	name := "logits"
	if _, ok := ref[name]; !ok {
		name = "log_probs"
	}
	tokens := ref["prev_output_tokens"]
	if m.Config.Encoder == nil {
		tokens = ref["tokens"]
	}
	if tokens.shape == nil {
		t.Fatalf("%s: no recorded tokens", path)
	}
	n := newNetwork(t, m)
	vocab := m.Config.Decoder.Embedding.Vocab
	for b := range tokens.shape[0] {
		var source []int64
		if m.Config.Encoder != nil {
			source = ref["src_tokens"].tokens(b)
		}
		for i, row := range n.run(source, tokens.tokens(b)) {
			want := ref[name].v[(b*tokens.shape[1]+i)*vocab:][:vocab]
			for j, got := range row {
				if d := math.Abs(got - want[j]); d > 1e-4*math.Max(1, math.Abs(want[j])) {
					t.Fatalf("%s of sentence %d, step %d, token %d: got %v, want %v", name, b, i, j, got, want[j])
				}
			}
		}
	}
}

const referenceFolder = "../../../shared/reference"

// referenceCheckpoints are the recorded cases that have a checkpoint.
func referenceCheckpoints(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*/checkpoint.pt", "*/model.safetensors"} {
		found, err := filepath.Glob(filepath.Join(referenceFolder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		t.Skip("../shared/reference is not there")
	}
	slices.Sort(all)
	return all
}

func plainText() Options { return Options{Tokenizer: "none", BPE: "none"} }

func load(t *testing.T, path string, opts Options) *Model {
	t.Helper()
	m, err := Load(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestReferenceOutputs(t *testing.T) {
	for _, path := range referenceCheckpoints(t) {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			m := load(t, path, plainText())
			checkSpecs(t, m)
			checkOutputs(t, m, filepath.Join(dir, "reference.safetensors"))
		})
	}
}

// checkSpecs: the tensors are exactly those of the configuration, in order.
func checkSpecs(t *testing.T, m *Model) {
	t.Helper()
	var got, want []string
	for _, x := range m.Tensors {
		got = append(got, fmt.Sprint(x.Spec.Name, x.Spec.Shape))
	}
	for _, s := range m.Config.TensorSpecs() {
		want = append(want, fmt.Sprint(s.Name, s.Shape))
	}
	if !slices.Equal(got, want) {
		t.Errorf("tensors: got %v, want %v", got, want)
	}
}
