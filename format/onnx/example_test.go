package onnx_test

import (
	"fmt"
	"log"

	"memsizer/format/onnx"
)

func Example() {
	f, err := onnx.Open("testdata/lm-op15/model.onnx")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println("opset", f.Opset(""))
	for _, v := range f.Graph.FreeInputs() {
		fmt.Println("input", v.String())
	}
	w := &f.Graph.Initializers[0]
	row := make([]float32, w.Dims[1])
	if err := w.Float32s(row, 5*w.Dims[1]); err != nil { // row 5
		log.Fatal(err)
	}
	fmt.Println(w.Name, w.DType, w.Dims, len(row))
	// Output:
	// opset 15
	// input tokens int64 [batch len]
	// m.decoder.embed_tokens.weight float32 [17 8] 8
}
