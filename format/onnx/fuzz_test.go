package onnx_test

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"testing"

	"memsizer/format/onnx"
)

// FuzzFile opens arbitrary bytes and reads everything in them: no panic, and
// no more memory than a small multiple of the file.
func FuzzFile(f *testing.F) {
	for _, path := range []string{"testdata/lm-op15/model.onnx", "testdata/step-op14/decoder.onnx", "testdata/half-external/model.onnx"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:4096])
		f.Add(data[len(data)/2:])
	}
	f.Add([]byte(model(message(nil).sub(5, tensorProto("w", 1, 2).str(4, "\x00\x00\x80\x3f\x00\x00\x00\xc0")))))
	f.Add([]byte(model(message(nil).sub(5, tensorProto("w", 7, 3).packed(7, 5, -2, 1<<40)))))
	f.Add([]byte(model(message(nil).sub(5, external(tensorProto("w", 1, 1).num(14, 1), "location", "a.bin")))))
	f.Add([]byte(model(message(nil).sub(1, node("If", message(nil).str(1, "then_branch").num(20, 5).sub(6, message(nil).sub(1, message(nil).str(1, "x").str(4, "Neg"))))))))
	f.Add([]byte(model(message(nil).sub(1, node("A", message(nil).str(1, "a").num(20, 6).str(7, "\x00\x00\x80\x3f"))).
		sub(11, message(nil).str(1, "x").sub(2, message(nil).sub(1, message(nil).num(1, 7).sub(2, manySubs(2))))))))
	count := 0
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		count++
		measured := count%64 == 0
		if measured {
			runtime.ReadMemStats(&before)
		}
		m, err := onnx.NewFile(bytes.NewReader(data), int64(len(data)), "fuzz")
		if measured {
			runtime.ReadMemStats(&after)
			// The window, errors and the runtime's own counts come on top.
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(4*len(data)+1<<20+1<<17) {
				t.Errorf("%d bytes of model allocated %d", len(data), used)
			}
		}
		if err != nil {
			return
		}
		if err := m.Summarize(io.Discard); err != nil {
			t.Fatal(err)
		}
		readAll(t, m.Graph)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// readAll reads every tensor of a graph; what was accepted can be read.
func readAll(t *testing.T, g *onnx.Graph) {
	for i := range g.Initializers {
		readTensor(t, &g.Initializers[i])
	}
	for i := range g.Nodes {
		for j := range g.Nodes[i].Attributes {
			a := &g.Nodes[i].Attributes[j]
			if a.Tensor() != nil {
				readTensor(t, a.Tensor())
			}
			if a.Graph() != nil {
				readAll(t, a.Graph())
			}
		}
	}
}

func readTensor(t *testing.T, w *onnx.Tensor) {
	if w.External() != "" {
		return
	}
	n := w.Elements()
	switch {
	case w.DType.IsFloat():
		if err := w.Float32s(make([]float32, n), 0); err != nil {
			t.Errorf("tensor %q of %d elements: %v", w.Name, n, err)
		}
	case w.DType.IsInteger() && w.DType != onnx.Uint64:
		if err := w.Int64s(make([]int64, n), 0); err != nil {
			t.Errorf("tensor %q of %d elements: %v", w.Name, n, err)
		}
	}
}
