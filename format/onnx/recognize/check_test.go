package recognize_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"memsizer/format"
	"memsizer/format/onnx/recognize"
	"memsizer/runtime"
)

// forward writes a model in float32, loads it and returns its forced pass.
func forward(t *testing.T, m *recognize.Model, change func(name string, data []float32)) recognize.Forward {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.msz")
	w, err := format.Create(path, format.Header{Config: m.Config, Tokenization: format.Tokenization{Tokenizer: "none", BPE: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Config.Encoder != nil {
		addDictionary(t, w, format.SectionSourceDict, m.Config.Encoder.Embedding.Vocab)
	}
	addDictionary(t, w, format.SectionTargetDict, m.Config.Decoder.Embedding.Vocab)
	for i := range m.Tensors {
		x := &m.Tensors[i]
		data, err := read(x.Read)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(x.Spec.Name, data)
		}
		if err := w.AddTensor(x.Spec.Name, format.F32, x.Spec.Shape, bytes.NewReader(format.AppendFloats(nil, format.F32, data))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := runtime.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return func(src, tgt []int32, yield func(int, []float32)) error {
		return r.Logits(src, tgt, false, nil, yield)
	}
}

func addDictionary(t *testing.T, w *format.Writer, name string, vocab int) {
	t.Helper()
	var b []byte
	for i := range vocab - 4 {
		b = fmt.Appendf(b, "%s%d 1\n", name, i)
	}
	if err := w.AddSection(name, b); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			m, err := recognize.Load(c.paths, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			worst, err := m.Check(forward(t, m, nil), 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("logits differ by %.2g at most", worst)

			// The check notices a weight that is off.
			_, err = m.Check(forward(t, m, func(name string, data []float32) {
				if name == "decoder.layers.0.fc1.bias" {
					data[0] += 0.1
				}
			}), 1e-4)
			var wrong *recognize.CheckError
			if !errors.As(err, &wrong) {
				t.Errorf("a changed bias: got error %v, want a CheckError", err)
			}
		})
	}
}
