package recognize_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"memsizer/format/fairseq"
)

// references is the folder of reference cases, beside the repository.
const references = "../../../../shared/reference"

// twins are the reference cases with the weights of the ONNX ones.
var twins = map[string]string{
	"onnx-mt-shared-op13": "mt-shared", "onnx-mt-shared-op17": "mt-shared", "onnx-mt-shared-unfolded": "mt-shared",
	"onnx-mt-shared-external": "mt-shared", "onnx-mt-full-half-initializers": "mt-full-memsizer",
	"onnx-mt-separate-prenorm": "mt-separate-prenorm", "onnx-transformer": "transformer", "onnx-lm-gelu": "lm-gelu",
	"onnx-mt-learned-pos": "mt-one-head-learned-pos",
}

// modelCase is a model in one or two ONNX files, and the checkpoint that has
// the same weights.
type modelCase struct {
	name       string
	paths      []string
	checkpoint string
	args       string
}

// cases lists the models of testdata and, if they are there, of the reference
// cases.
func cases(t testing.TB) (list []modelCase) {
	t.Helper()
	dirs, err := filepath.Glob("../testdata/*/args.json")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no models in testdata (%v)", err)
	}
	for _, args := range dirs {
		dir := filepath.Dir(args)
		c := modelCase{filepath.Base(dir), []string{dir + "/model.onnx"}, dir + "/model.safetensors", args}
		if _, err := os.Stat(c.paths[0]); err != nil {
			c.paths = []string{dir + "/encoder.onnx", dir + "/decoder.onnx"}
		}
		list = append(list, c)
	}
	models, err := filepath.Glob(references + "/onnx-*/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if len(models) == 0 {
		t.Log("no ../shared/reference beside the repository: only testdata is tested")
	}
	for _, path := range models {
		c := modelCase{name: filepath.Base(filepath.Dir(path)), paths: []string{path}}
		if twin, ok := twins[c.name]; ok {
			c.checkpoint = filepath.Join(references, twin, "checkpoint.pt")
		}
		list = append(list, c)
	}
	return list
}

// load opens the checkpoint with the case's weights.
func (c *modelCase) load(t *testing.T) *fairseq.Model {
	t.Helper()
	if c.checkpoint == "" {
		t.Skipf("no checkpoint is known to have the weights of %q", c.name)
	}
	m, err := fairseq.Load(c.checkpoint, fairseq.Options{Args: c.args, Tokenizer: "none", BPE: "none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
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
