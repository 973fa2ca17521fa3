package format_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"memsizer/format"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.msz")

	config := format.Config{
		Decoder: format.Stack{
			Layers: 1, Dim: 2, FFNDim: 4, Activation: "relu",
			Embedding:  format.Embedding{Kind: format.Plain, Vocab: 6, Dim: 2},
			Positions:  format.Positions{Kind: format.SinusoidalPositions, Offset: 2, Max: 100},
			EmbedScale: 1, NormEps: 1e-5,
			Self: format.Attention{Kind: format.MemSizer, Heads: 1, Slots: 3, SourceDim: 2},
		},
		Output: format.Output{Kind: format.Plain, TiedEmbedding: true},
	}
	w, err := format.Create(path, format.Header{Config: config})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort()
	if err := w.AddSection(format.SectionTargetDict, []byte("a 2\nb 1\n")); err != nil {
		log.Fatal(err)
	}
	for _, s := range config.TensorSpecs() {
		data := format.AppendFloats(nil, format.F16, make([]float32, s.Elements()))
		if err := w.AddTensor(s.Name, format.F16, s.Shape, bytes.NewReader(data)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := format.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	t, err := r.Tensor("decoder.layers.0.self_attn.k_proj.weight")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(r.Tensors()), "tensors;", t.Name, t.DType, t.Shape, len(t.Data), "bytes")
	// Output: 19 tensors; decoder.layers.0.self_attn.k_proj.weight f16 [3 2] 12 bytes
}
