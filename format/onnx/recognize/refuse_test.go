package recognize_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"memsizer/format/onnx"
	"memsizer/format/onnx/recognize"
)

func open(t *testing.T, path string) *onnx.File {
	t.Helper()
	f, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestUnknownOperator makes one node in turn an operator that nobody knows:
// the error names just that node.
func TestUnknownOperator(t *testing.T) {
	for _, path := range []string{"../testdata/memsizer-op17/model.onnx", "../testdata/full-memsizer-op13-unfolded/model.onnx", "../testdata/lm-op15/model.onnx"} {
		f := open(t, path)
		used := usedNodes(f.Graph)
		for i := 0; i < len(f.Graph.Nodes); i += 5 { // 5 does not divide a pattern's length
			n := &f.Graph.Nodes[i]
			was := n.OpType
			n.OpType = "Mystery"
			_, err := recognize.FromFile(f, recognize.Options{})
			n.OpType = was
			var not *recognize.NotUnderstoodError
			switch {
			case !used[i]:
				if err != nil {
					t.Errorf("%s: unused node %d: %v", path, i, err)
				}
			case !errors.As(err, &not):
				t.Errorf("%s: node %d, %s %q: got error %v, want a NotUnderstoodError", path, i, was, n.Name, err)
			case not.Node != i || not.OpType != "Mystery" || not.Name != n.Name:
				t.Errorf("%s: node %d, %s %q: the error names another: %v", path, i, was, n.Name, err)
			case !strings.Contains(err.Error(), fmt.Sprintf("node %d of %d, Mystery %q", i, len(f.Graph.Nodes), n.Name)) || !strings.Contains(err.Error(), "expected "):
				t.Errorf("%s: node %d: error %q", path, i, err)
			}
		}
	}
}

// usedNodes finds the nodes that an output depends on.
func usedNodes(g *onnx.Graph) map[int]bool {
	wanted, used := make(map[string]bool), make(map[int]bool)
	for i := range g.Outputs {
		wanted[g.Outputs[i].Name] = true
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		for _, out := range g.Nodes[i].Outputs {
			used[i] = used[i] || wanted[out]
		}
		if used[i] {
			for _, in := range g.Nodes[i].Inputs {
				wanted[in] = true
			}
		}
	}
	return used
}

// TestChanged makes changes after which a graph computes something else.
func TestChanged(t *testing.T) {
	const memsizer, lm, transformer = "memsizer-op17", "lm-op15", "transformer-op14"
	for _, c := range []struct {
		name, model string
		node        string // a part of its name, and its operator
		op          string
		change      func(n *onnx.Node)
		want        string
	}{
		{"sigmoid for relu", memsizer, "/decoder/layers.1/", "Relu", setOp("Sigmoid"), `Sigmoid "`},
		{"tanh for one relu", memsizer, "/decoder/layers.1/", "Relu", setOp("Tanh"), "activation tanh; expected relu as in the first layer"},
		{"softplus", memsizer, "/encoder/layers.0/", "Relu", setOp("Softplus"), "not understood on a linear layer with 12 outputs"},
		{"max for sum", memsizer, "/encoder/layers.0/Add", "Add", setOp("Max"), "Max"},
		{"difference for residual", memsizer, "/decoder/layers.0/Add", "Add", setOp("Sub"), "Sub"},
		{"sum for mean", memsizer, "/decoder/layers.0/self_attn/ReduceMean", "ReduceMean", setOp("ReduceMax"), "ReduceMax"},
		{"another equation", memsizer, "/decoder/layers.0/self_attn/Einsum_1", "Einsum", dropAttribute("equation"), "Einsum"},
		{"residual from elsewhere", memsizer, "/decoder/layers.1/Add_1", "Add", nil, "this adds to another value"},
		{"no activation", memsizer, "/decoder/layers.0/", "Relu", setOp("Identity"), "activation relu; expected linear"},
		{"another scale of scores", transformer, "/encoder/layers.0/self_attn/Div_1", "Div", setOp("Mul"), "scores divided by the root"},
		{"tanh for gelu's tanh", lm, "/decoder/layers.0/Tanh", "Tanh", setOp("Erf"), "Erf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, "../testdata/"+c.model+"/model.onnx")
			n := findNode(t, f, c.node, c.op)
			if c.change == nil { // the residual comes from the first input of another sum
				n.Inputs[0] = findNode(t, f, "/decoder/layers.1/Add", "Add").Inputs[0]
			} else {
				c.change(n)
			}
			_, err := recognize.FromFile(f, recognize.Options{})
			var not *recognize.NotUnderstoodError
			if !errors.As(err, &not) {
				t.Fatalf("got error %v, want a NotUnderstoodError", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %q, want %q in it", err, c.want)
			}
		})
	}
}

func findNode(t *testing.T, f *onnx.File, name, op string) *onnx.Node {
	t.Helper()
	for i := range f.Graph.Nodes {
		if n := &f.Graph.Nodes[i]; n.OpType == op && strings.Contains(n.Name, name) {
			return n
		}
	}
	t.Fatalf("no node %s %q", op, name)
	return nil
}

func setOp(op string) func(*onnx.Node) {
	return func(n *onnx.Node) { n.OpType = op }
}

// dropAttribute takes an attribute away.
func dropAttribute(name string) func(*onnx.Node) {
	return func(n *onnx.Node) {
		for i := range n.Attributes {
			if n.Attributes[i].Name == name {
				n.Attributes[i].Name = "was " + name
			}
		}
	}
}

// TestOtherEpsilon gives one of the decomposed layer norms the exponent's 2
// for an epsilon.
func TestOtherEpsilon(t *testing.T) {
	f := open(t, "../testdata/lm-op15/model.onnx")
	findNode(t, f, "/decoder/layers.1/final_layer_norm/Add", "Add").Inputs[1] = findNode(t, f, "/decoder/layers.1/final_layer_norm/Pow", "Pow").Inputs[1]
	_, err := recognize.FromFile(f, recognize.Options{})
	if err == nil || !strings.Contains(err.Error(), "a layer norm with epsilon 2; expected 1e-05") {
		t.Errorf("got error %v", err)
	}
}

// TestSeparateFiles says which file is missing, and refuses two of a kind.
func TestSeparateFiles(t *testing.T) {
	const enc, dec, whole = "../testdata/step-op14/encoder.onnx", "../testdata/step-op14/decoder.onnx", "../testdata/memsizer-op17/model.onnx"
	for _, c := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"decoder alone", []string{dec}, `the decoder attends to the input "encoder_out"; give the encoder's file as well`},
		{"encoder alone", []string{enc}, "expected an output of logits over the vocabulary"},
		{"two encoders", []string{enc, enc}, "expected an output of logits over the vocabulary"},
		{"two decoders", []string{dec, dec}, "expected"},
		{"whole and decoder", []string{whole, dec}, "expected"},
		{"none", nil, "0 files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := recognize.Load(c.paths, recognize.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestOldOpset(t *testing.T) {
	f := open(t, "../testdata/lm-op15/model.onnx")
	f.Opsets[0].Version = 12
	_, err := recognize.FromFile(f, recognize.Options{})
	if err == nil || !strings.Contains(err.Error(), "operator set 12 of ai.onnx, want 13 or later") {
		t.Errorf("got error %v", err)
	}
}

// TestNotFinite stops at a value that no model may have.
func TestNotFinite(t *testing.T) {
	m, err := recognize.Load([]string{"../testdata/lm-op15/model.onnx"}, recognize.Options{Limit: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = read(m.Tensors[0].Read)
	var bad *recognize.ValueError
	if !errors.As(err, &bad) || bad.Tensor != "decoder.embed_tokens.weight" || bad.Limit != float64(float32(0.01)) {
		t.Errorf("got error %v, want a ValueError of decoder.embed_tokens.weight", err)
	}
}
