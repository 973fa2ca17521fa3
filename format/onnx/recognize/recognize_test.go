package recognize_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/x448/float16"

	"memsizer/format/onnx"
	"memsizer/format/onnx/recognize"
)

// TestTensors compares what is found in a graph with the checkpoint of the
// same weights: the configuration, and every tensor bit for bit.
func TestTensors(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			m, err := recognize.Load(c.paths, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			compare(t, m, &c)
		})
	}
}

func compare(t *testing.T, m *recognize.Model, c *modelCase) {
	t.Helper()
	want := c.load(t)
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

// TestRenamed does the same with every name in the files replaced.
func TestRenamed(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, path := range c.paths {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				c.paths[i] = filepath.Join(dir, filepath.Base(path))
				if err := os.WriteFile(c.paths[i], rename(data), 0o644); err != nil {
					t.Fatal(err)
				}
				copyExternal(t, path, dir)
				checkRenamed(t, path, c.paths[i])
			}
			m, err := recognize.Load(c.paths, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			compare(t, m, &c)
			if _, err := m.Check(forward(t, m, nil), 1e-4); err != nil {
				t.Error(err)
			}
		})
	}
}

func copyExternal(t *testing.T, path, dir string) {
	t.Helper()
	for _, pattern := range []string{"*.data", "*.bin"} {
		list, err := filepath.Glob(filepath.Join(filepath.Dir(path), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// checkRenamed makes sure that no name of the original is left.
func checkRenamed(t *testing.T, original, renamed string) {
	t.Helper()
	before, after := valueNamesOf(t, original), valueNamesOf(t, renamed)
	if len(before) < 10 || len(after) != len(before) {
		t.Fatalf("%d names became %d", len(before), len(after))
	}
	for s := range after {
		if before[s] {
			t.Fatalf("name %q is left", s)
		}
	}
}

func valueNamesOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	f, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := make(map[string]bool)
	add := func(list ...string) {
		for _, s := range list {
			if s != "" {
				names[s] = true
			}
		}
	}
	for i := range f.Graph.Nodes {
		n := &f.Graph.Nodes[i]
		add(n.Name)
		add(n.Inputs...)
		add(n.Outputs...)
	}
	for i := range f.Graph.Initializers {
		add(f.Graph.Initializers[i].Name)
	}
	return names
}
