package recognize_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
	"memsizer/format/onnx/recognize"
)

// mutate makes n random changes to a graph: other operators, inputs from
// elsewhere, attributes of other nodes, nodes left out.
func mutate(r *rand.Rand, g *onnx.Graph, n int) {
	ops := eval.Operators()
	for range n {
		a, b := &g.Nodes[r.IntN(len(g.Nodes))], &g.Nodes[r.IntN(len(g.Nodes))]
		switch r.IntN(7) {
		case 0:
			a.OpType = ops[r.IntN(len(ops))]
		case 1:
			a.OpType = b.OpType
		case 2:
			if len(a.Inputs) > 0 && len(b.Inputs) > 0 {
				a.Inputs[r.IntN(len(a.Inputs))] = b.Inputs[r.IntN(len(b.Inputs))]
			}
		case 3:
			if len(a.Inputs) > 0 && len(g.Initializers) > 0 {
				a.Inputs[r.IntN(len(a.Inputs))] = g.Initializers[r.IntN(len(g.Initializers))].Name
			}
		case 4:
			a.Attributes = b.Attributes
		case 5:
			if len(a.Inputs) > 0 {
				a.Inputs = a.Inputs[:r.IntN(len(a.Inputs))]
			}
		case 6:
			if len(b.Inputs) > 0 {
				a.Inputs = append(a.Inputs, b.Inputs...)
			}
		}
	}
}

// FuzzGraph recognises and executes graphs that were changed at random:
// whatever they have become, there is an error or a model, and no panic.
func FuzzGraph(f *testing.F) {
	var files [][]byte
	for _, path := range []string{"../testdata/lm-op15/model.onnx", "../testdata/memsizer-op17/model.onnx", "../testdata/full-memsizer-op13-unfolded/model.onnx",
		"../testdata/transformer-op14/model.onnx", "../testdata/lm-adaptive-op17/model.onnx", "../testdata/step-op14/decoder.onnx", "../testdata/step-op14/encoder.onnx"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, data)
	}
	for i := range uint64(30) {
		f.Add(i, uint8(i), uint8(1+i%4))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, changes uint8) {
		data := files[int(which)%len(files)]
		m, err := onnx.NewFile(bytes.NewReader(data), int64(len(data)), "x.onnx")
		if err != nil {
			t.Fatal(err)
		}
		mutate(rand.New(rand.NewPCG(seed, 7)), m.Graph, int(changes%32))
		if model, err := recognize.FromFile(m, recognize.Options{}); err == nil {
			// The graph is run with its own sizes; the model has none to compare.
			model.Check(func(_, tgt []int32, yield func(int, []float32)) error {
				for i := range tgt {
					yield(i, make([]float32, model.Config.Decoder.Embedding.Vocab))
				}
				return nil
			}, 1e-4)
		}
		p, err := eval.New(m)
		if err != nil {
			return
		}
		inputs := make(map[string]*eval.Tensor)
		for _, v := range m.Graph.FreeInputs() {
			if len(v.Dims) == 2 && v.DType == onnx.Int64 {
				inputs[v.Name] = eval.Ints([]int64{4, 5, 2, 1, 4, 2}, 2, 3)
			}
		}
		p.Run(inputs)
	})
}
