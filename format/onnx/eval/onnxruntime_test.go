package eval_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

// The files in testdata are ONNX Runtime's results, recorded by
// testdata/peers/onnxruntime_eval.py.

// readTensors reads a safetensors file of F32 and I64.
func readTensors(t *testing.T, path string) map[string]*eval.Tensor {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(b)
	var header map[string]json.RawMessage
	if err := json.Unmarshal(b[8:8+n], &header); err != nil {
		t.Fatal(err)
	}
	delete(header, "__metadata__")
	out := make(map[string]*eval.Tensor)
	for name, raw := range header {
		var h struct {
			DType   string
			Shape   []int
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
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

// compare checks a value against ONNX Runtime's: integers exactly, floats
// within bound of it, relative beyond 1.
func compare(t *testing.T, name string, got, want *eval.Tensor, bound float64) (worst float64) {
	t.Helper()
	if !slices.Equal(got.Shape, want.Shape) {
		t.Errorf("%s: shape %d, want %d", name, got.Shape, want.Shape)
		return 0
	}
	if got.DType.IsFloat() != want.DType.IsFloat() {
		t.Errorf("%s: is of %v", name, got.DType)
		return 0
	}
	if !want.DType.IsFloat() {
		if !slices.Equal(got.Ints, want.Ints) {
			t.Errorf("%s: got %d, want %d", name, got.Ints, want.Ints)
		}
		return 0
	}
	x, err := got.Values()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for i, w := range want.Floats {
		if x[i] == w || x[i] != x[i] && w != w {
			continue
		}
		d := math.Abs(float64(x[i])-float64(w)) / max(1, math.Abs(float64(w)))
		worst = max(worst, d)
		if !(d <= bound) {
			t.Errorf("%s: element %d is %v, want %v", name, i, x[i], w)
			return worst
		}
	}
	return worst
}

func TestOperators(t *testing.T) {
	files, err := filepath.Glob("testdata/operators-op*.onnx")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files of operators (%v), want 3", len(files), err)
	}
	tested := make(map[string]bool)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := eval.New(f)
			if err != nil {
				t.Fatal(err)
			}
			out, err := p.Run(nil)
			if err != nil {
				t.Fatal(err)
			}
			want := readTensors(t, strings.TrimSuffix(path, ".onnx")+".safetensors")
			if len(out) != len(want) || len(want) < 170 {
				t.Errorf("%d outputs, want %d", len(out), len(want))
			}
			for name, w := range want {
				compare(t, name, out[name], w, 2e-6)
			}
			for i := range f.Graph.Nodes {
				tested[f.Graph.Nodes[i].OpType] = true
			}
		})
	}
	for _, op := range eval.Operators() {
		if !tested[op] {
			t.Errorf("operator %s is not compared with ONNX Runtime", op)
		}
	}
}

func TestModels(t *testing.T) {
	recorded := readTensors(t, "testdata/models.safetensors")
	done := 0
	for name, want := range recorded {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../testdata", name)
			if strings.HasPrefix(name, "onnx-") {
				dir = filepath.Join("../../../../shared/reference", name)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Skip("no ../shared/reference beside the repository")
			}
			done++
			f, err := onnx.Open(filepath.Join(dir, "model.onnx"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := eval.New(f)
			if err != nil {
				t.Fatal(err)
			}
			inputs := readTensors(t, filepath.Join(dir, "reference.safetensors"))
			reference := inputs["logits"]
			delete(inputs, "logits")
			out, err := p.Run(inputs)
			if err != nil {
				t.Fatal(err)
			}
			worst := compare(t, "logits", out["logits"], want, 1e-5)
			compare(t, "logits of the training code", out["logits"], reference, 1e-4)
			t.Logf("logits differ from ONNX Runtime's by %.2g at most", worst)
		})
	}
	if done < 4 {
		t.Errorf("%d models, want at least 4", done)
	}
}
