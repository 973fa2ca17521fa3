package eval_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

// references is the folder of reference cases, beside the repository.
const references = "../../../../shared/reference"

func cases(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(references + "/onnx-*/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Skip("no ../shared/reference beside the repository")
	}
	return list
}

// readTensors reads a safetensors file of F32 and I64.
func readTensors(t *testing.T, path string) map[string]*eval.Tensor {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(b)
	var header map[string]struct {
		DType   string
		Shape   []int
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]*eval.Tensor)
	for name, h := range header {
		data := b[8+n:][h.Offsets[0]:h.Offsets[1]]
		if h.DType == "I64" {
			v := make([]int64, len(data)/8)
			for i := range v {
				v[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
			}
			out[name] = eval.Ints(v, h.Shape...)
			continue
		}
		v := make([]float32, len(data)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		out[name] = eval.Floats(v, h.Shape...)
	}
	return out
}

func TestReferenceLogits(t *testing.T) {
	for _, path := range cases(t) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			f, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := eval.New(f)
			if err != nil {
				t.Fatal(err)
			}
			ref := readTensors(t, filepath.Join(filepath.Dir(path), "reference.safetensors"))
			want := ref["logits"]
			delete(ref, "logits")
			out, err := p.Run(ref)
			if err != nil {
				t.Fatal(err)
			}
			got := out["logits"]
			worst := 0.0
			for i := range want.Floats {
				worst = math.Max(worst, math.Abs(float64(got.Floats[i])-float64(want.Floats[i])))
			}
			if worst > 1e-4 || len(got.Floats) != len(want.Floats) {
				t.Errorf("logits differ by %g, want at most 1e-4", worst)
			}
			t.Logf("logits differ by %.2g at most", worst)
		})
	}
}
