package recognize_test

import (
	"fmt"
	"log"

	"memsizer/format/onnx/recognize"
)

func Example() {
	m, err := recognize.Load([]string{"../testdata/memsizer-op17/model.onnx"}, recognize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	d := &m.Config.Decoder
	fmt.Println(d.Self.Kind, d.Layers, "layers,", d.Self.Heads, "heads,", d.Self.Slots, "slots")
	for _, t := range m.Tensors[:3] {
		var n int
		if err := t.Read(func(chunk []float32) error { n += len(chunk); return nil }); err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Spec.Name, t.Spec.Shape, n)
	}
	// Output:
	// memsizer 2 layers, 2 heads, 3 slots
	// encoder.embed_tokens.weight [17 8] 136
	// encoder.layers.0.self_attn.q_proj.weight [8 8] 64
	// encoder.layers.0.self_attn.q_proj.bias [8] 8
}
