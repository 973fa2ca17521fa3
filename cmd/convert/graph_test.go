package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
)

// TestGraphs converts every ONNX export, which is checked against its graph on
// the way, and verifies it.
func TestGraphs(t *testing.T) {
	for _, dir := range caseDirs(t, "model.onnx", "onnx-") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "m.msz")
			args := append([]string{"-q", "-o", out, "--dtype", "f32", "--args", filepath.Join(dir, "args.json")}, tokensOnly...)
			must(t, append(args, filepath.Join(dir, "model.onnx"))...)
			must(t, "verify", out, "--reference", filepath.Join(dir, "reference.safetensors"), "--tolerance", "1e-4")
			if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
				t.Errorf("the folder holds %v (%v), want the model alone", left, err)
			}
		})
	}
}

// TestExternalData: the files with the weights are part of the provenance.
func TestExternalData(t *testing.T) {
	for _, dir := range caseDirs(t, "model.onnx.data", "onnx-") {
		out := filepath.Join(t.TempDir(), "m.msz")
		args := append([]string{"-o", out, "--no-check", "--args", filepath.Join(dir, "args.json")}, tokensOnly...)
		printed := must(t, append(args, filepath.Join(dir, "model.onnx"))...)
		if !strings.Contains(printed, "model.onnx.data (ONNX)") {
			t.Errorf("external data was not mentioned:\n%s", printed)
		}
		r, err := format.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var names []string
		for _, s := range r.Header().Provenance.Sources {
			names = append(names, s.Name)
			if len(s.SHA256) != 64 {
				t.Errorf("%s: SHA-256 %q", s.Name, s.SHA256)
			}
		}
		if !slices.Equal(names, []string{"model.onnx", "model.onnx.data"}) {
			t.Errorf("sources are %q", names)
		}
	}
}

func TestInspectGraph(t *testing.T) {
	for _, dir := range caseDirs(t, "model.onnx", "onnx-lm-gelu") {
		in := filepath.Join(dir, "model.onnx")
		var r graphReport
		if err := json.Unmarshal([]byte(must(t, "inspect", "--json", in)), &r); err != nil {
			t.Fatal(err)
		}
		if r.Opset != 17 || r.Operators["LayerNormalization"] != 12 || len(r.Initializers) != 56 || r.Config == nil || r.Problem != "" {
			t.Errorf("report is %+v", r)
		}
		if out := must(t, "inspect", in); !strings.Contains(out, "12 LayerNormalization") || !strings.Contains(out, "self memsizer") {
			t.Errorf("inspect says\n%s", out)
		}
	}
}

// TestAverage: the mean of a model with itself is the model.
func TestAverage(t *testing.T) {
	for _, dir := range caseDirs(t, "checkpoint.pt", "mt-shared") {
		in := filepath.Join(dir, "checkpoint.pt")
		one, two := filepath.Join(t.TempDir(), "1.msz"), filepath.Join(t.TempDir(), "2.msz")
		must(t, append([]string{"-q", "-o", one, in}, tokensOnly...)...)
		must(t, append([]string{"-q", "-o", two, "--average", in, in, in}, tokensOnly...)...)
		a, err := format.Open(one)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, err := format.Open(two)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if n := len(b.Header().Provenance.Sources); n != 3 {
			t.Errorf("%d sources, want 3", n)
		}
		for i, x := range a.Tensors() {
			if y := b.Tensors()[i]; x.Name != y.Name || x.CRC32C != y.CRC32C {
				t.Errorf("tensor %q differs", x.Name)
			}
		}
	}
}
