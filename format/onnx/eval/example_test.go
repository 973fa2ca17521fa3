package eval_test

import (
	"fmt"
	"log"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

func Example() {
	f, err := onnx.Open("../testdata/lm-op15/model.onnx")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	p, err := eval.New(f)
	if err != nil {
		log.Fatal(err)
	}
	out, err := p.Run(map[string]*eval.Tensor{"tokens": eval.Ints([]int64{2, 5, 9, 4, 7}, 1, 5)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["logits"].Shape)
	// Output: [1 5 17]
}
