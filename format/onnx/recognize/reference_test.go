package recognize_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/x448/float16"

	"memsizer/format/fairseq"
	"memsizer/format/onnx"
	"memsizer/format/onnx/recognize"
)

// references is the folder of reference cases, beside the repository.
const references = "../../../../shared/reference"

// twins are the checkpoints with the same weights as the ONNX cases.
var twins = map[string]string{
	"onnx-mt-shared-op13": "mt-shared", "onnx-mt-shared-op17": "mt-shared", "onnx-mt-shared-unfolded": "mt-shared",
	"onnx-mt-shared-external": "mt-shared", "onnx-mt-full-half-initializers": "mt-full-memsizer",
	"onnx-mt-separate-prenorm": "mt-separate-prenorm", "onnx-transformer": "transformer", "onnx-lm-gelu": "lm-gelu",
	"onnx-mt-learned-pos": "mt-one-head-learned-pos",
}

func referenceModels(t *testing.T) []string {
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

func TestReferenceTensors(t *testing.T) {
	for _, path := range referenceModels(t) {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			m, err := recognize.Load([]string{path}, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			compareWithTwin(t, m, name)
		})
	}
}

// compareWithTwin compares a model with the checkpoint of the same weights,
// bit for bit.
func compareWithTwin(t *testing.T, m *recognize.Model, name string) {
	t.Helper()
	twin, ok := twins[name]
	if !ok {
		t.Skipf("no checkpoint is known to have the weights of %q", name)
	}
	want, err := fairseq.Load(filepath.Join(references, twin, "checkpoint.pt"), fairseq.Options{Tokenizer: "none", BPE: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if !reflect.DeepEqual(m.Config, want.Config) {
		t.Errorf("configuration\n got %+v\n     %+v %+v\nwant %+v\n     %+v %+v", m.Config, m.Config.Encoder, m.Config.Decoder.Cross,
			want.Config, want.Config.Encoder, want.Config.Decoder.Cross)
	}
	if len(m.Tensors) != len(want.Tensors) {
		t.Fatalf("%d tensors, want %d", len(m.Tensors), len(want.Tensors))
	}
	for i := range m.Tensors {
		got, err := read(m.Tensors[i].Read)
		if err != nil {
			t.Fatal(err)
		}
		exp, err := read(want.Tensors[i].Read)
		if err != nil {
			t.Fatal(err)
		}
		if m.Tensors[i].SourceDType == "float16" {
			for j, v := range exp {
				exp[j] = float16.Fromfloat32(v).Float32()
			}
		}
		if !sameBits(got, exp) {
			t.Errorf("tensor %q (%q) differs from %q", m.Tensors[i].Spec.Name, m.Tensors[i].Source, want.Tensors[i].Source)
		}
	}
}

func read(from func(func([]float32) error) error) (all []float32, err error) {
	err = from(func(c []float32) error {
		all = append(all, c...)
		return nil
	})
	return all, err
}

func sameBits(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}

func TestReferenceTensorsRenamed(t *testing.T) {
	for _, path := range referenceModels(t) {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			renamed := filepath.Join(dir, "model.onnx")
			if err := os.WriteFile(renamed, rename(data), 0o644); err != nil {
				t.Fatal(err)
			}
			if outer, err := os.ReadFile(path + ".data"); err == nil {
				if err := os.WriteFile(renamed+".data", outer, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			checkRenamed(t, path, renamed)
			m, err := recognize.Load([]string{renamed}, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			compareWithTwin(t, m, name)
		})
	}
}

// checkRenamed makes sure that no name of the original is left.
func checkRenamed(t *testing.T, original, renamed string) {
	t.Helper()
	f, err := onnx.Open(original)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := onnx.Open(renamed)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	names := make(map[string]bool)
	for i := range f.Graph.Nodes {
		for _, s := range append(append([]string{f.Graph.Nodes[i].Name}, f.Graph.Nodes[i].Inputs...), f.Graph.Nodes[i].Outputs...) {
			names[s] = s != ""
		}
	}
	for i := range g.Graph.Nodes {
		for _, s := range append(append([]string{g.Graph.Nodes[i].Name}, g.Graph.Nodes[i].Inputs...), g.Graph.Nodes[i].Outputs...) {
			if names[s] {
				t.Fatalf("name %q is left", s)
			}
		}
	}
}
