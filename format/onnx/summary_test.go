package onnx_test

import (
	"strings"
	"testing"

	"memsizer/format/onnx"
)

func TestSummarize(t *testing.T) {
	f, err := onnx.Open("testdata/half-external/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	if err := f.Summarize(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ONNX, IR version 8, by pytorch 1.13.0\n",
		"opset ai.onnx 17\n",
		"input  src_tokens int64 [batch src]\n",
		"input  prev_output_tokens int64 [batch tgt]\n",
		"output logits float32 [batch tgt 17]\n",
		" LayerNormalization\n",
		"        272 float16 [17 8] m.encoder.embed_tokens.weight_half in weights.bin\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, b.String())
		}
	}
	for _, o := range f.Operators() {
		if o.OpType == "LayerNormalization" && o.Count != 16 {
			t.Errorf("%d layer norms, want 16", o.Count)
		}
	}
}

func TestView(t *testing.T) {
	f, err := parse(model(message(nil).sub(5, tensorProto("w", 7, 6).packed(7, 1, 2, 3, 4, 5, 6)).sub(5, floats("f", []float32{1, 2, 3, 4, 5, 6}, 2, 3)).sub(5, typedFloats("h", 3, 2))))
	if err != nil {
		t.Fatal(err)
	}
	v := f.Graph.Initializers[1].View()
	h := f.Graph.Initializers[2].View() // half precision in a field of variable length numbers
	flat, ok := v.Transpose([]int{1, 0}).Reshape([]int64{6})
	if ok {
		t.Errorf("a transposed matrix was flattened to %v", flat.Dims())
	}
	whole, ok := v.Reshape([]int64{3, 1, 2})
	if !ok {
		t.Fatal("a contiguous matrix is not reshaped")
	}
	for _, c := range []struct {
		name string
		view onnx.View
		want []float32
	}{
		{"whole", v, []float32{1, 2, 3, 4, 5, 6}},
		{"transposed", v.Transpose([]int{1, 0}), []float32{1, 4, 2, 5, 3, 6}},
		{"columns", v.Slice(1, 1, 1, 2), []float32{2, 3, 5, 6}},
		{"every other column", v.Slice(1, 0, 2, 2), []float32{1, 3, 4, 6}},
		{"backwards", v.Slice(1, 2, -1, 3), []float32{3, 2, 1, 6, 5, 4}},
		{"row", v.Slice(0, 1, 1, 1), []float32{4, 5, 6}},
		{"nothing", v.Slice(0, 0, 1, 0), nil},
		{"reshaped", whole, []float32{1, 2, 3, 4, 5, 6}},
		{"reshaped and transposed", whole.Transpose([]int{2, 1, 0}), []float32{1, 3, 5, 2, 4, 6}},
		{"part of the transposed", v.Transpose([]int{1, 0}).Slice(0, 1, 1, 2), []float32{2, 5, 3, 6}},
		{"of variable length", h, []float32{1, 2, 3, 4, 5, 6}},
		{"of variable length, transposed", h.Transpose([]int{1, 0}), []float32{1, 3, 5, 2, 4, 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]float32, c.view.Elements())
			if err := c.view.Read(got); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Fatalf("got %v, want %v", got, c.want)
				}
			}
		})
	}
	if !v.Same(f.Graph.Initializers[1].View()) || v.Same(h) || v.Same(v.Transpose([]int{1, 0})) {
		t.Error("Same confuses views")
	}
}

// TestViewRounds casts to a smaller type and back.
func TestViewRounds(t *testing.T) {
	f, err := parse(model(message(nil).sub(5, floats("f", []float32{1.0001, 1e-9, 3}, 3))))
	if err != nil {
		t.Fatal(err)
	}
	v := f.Graph.Initializers[0].View()
	for _, c := range []struct {
		name string
		via  onnx.DType
		want [3]float32
	}{
		{"float64", onnx.Double, [3]float32{1.0001, 1e-9, 3}},
		{"float16", onnx.Float16, [3]float32{1, 0, 3}},
		{"bfloat16", onnx.BFloat16, [3]float32{1, 0x1.12p-30, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [3]float32
			if err := v.Cast(c.via).Cast(onnx.Float).Read(got[:]); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
