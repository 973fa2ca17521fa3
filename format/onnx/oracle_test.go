package onnx_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	oracle "github.com/owulveryck/onnx-go"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gorgonia.org/tensor"

	"memsizer/format/onnx"
)

// The oracle builds a gonum graph of values; recorder is such a graph that
// remembers the operations.
type recorder struct {
	*simple.WeightedDirectedGraph
	ops []recordedOp
}

type recordedOp struct {
	name       string
	attributes map[string]any
	inputs     []string
	outputs    []string
}

type recordedValue struct {
	id    int64
	name  string
	value tensor.Tensor
}

func (v *recordedValue) ID() int64                       { return v.id }
func (v *recordedValue) SetName(s string)                { v.name = s }
func (v *recordedValue) GetName() string                 { return v.name }
func (v *recordedValue) SetTensor(t tensor.Tensor) error { v.value = t; return nil }
func (v *recordedValue) GetTensor() tensor.Tensor        { return v.value }

func (r *recorder) NewNode() graph.Node {
	return &recordedValue{id: r.WeightedDirectedGraph.NewNode().ID()}
}

func (r *recorder) ApplyOperation(op oracle.Operation, outputs ...graph.Node) error {
	o := recordedOp{name: op.Name, attributes: op.Attributes}
	type input struct {
		name  string
		place float64
	}
	var inputs []input
	for to := r.From(outputs[0].ID()); to.Next(); {
		n := to.Node().(*recordedValue)
		inputs = append(inputs, input{n.name, r.WeightedEdge(outputs[0].ID(), n.ID()).Weight()})
	}
	slices.SortFunc(inputs, func(a, b input) int { return int(a.place - b.place) })
	for _, in := range inputs {
		o.inputs = append(o.inputs, in.name)
	}
	for _, out := range outputs {
		o.outputs = append(o.outputs, out.(*recordedValue).name)
	}
	r.ops = append(r.ops, o)
	return nil
}

// TestOracle compares what is read with what onnx-go reads: the same nodes in
// the same order with the same inputs, outputs and attributes, the same
// tensors.
func TestOracle(t *testing.T) {
	read := 0
	for _, path := range modelFiles(t) {
		t.Run(strings.TrimPrefix(path, "testdata/"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := onnx.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r := &recorder{WeightedDirectedGraph: simple.NewWeightedDirectedGraph(math.Inf(1), math.Inf(1))}
			m := oracle.NewModel(r)
			if err := m.UnmarshalBinary(data); err != nil {
				t.Skipf("onnx-go does not read it: %v", err)
			}
			read++
			compareNodes(t, f, r)
			compareInitializers(t, f, m)
		})
	}
	if read < 3 {
		t.Errorf("onnx-go read %d files, want at least 3", read)
	}
}

// modelFiles lists the models in testdata and in the reference cases.
func modelFiles(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/*/*.onnx")
	if err != nil || len(list) == 0 {
		t.Fatalf("no models in testdata (%v)", err)
	}
	more, err := filepath.Glob("../../../shared/reference/onnx-*/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	return append(list, more...)
}

func compareNodes(t *testing.T, f *onnx.File, r *recorder) {
	t.Helper()
	if len(f.Graph.Nodes) != len(r.ops) {
		t.Fatalf("%d nodes, want %d", len(f.Graph.Nodes), len(r.ops))
	}
	for i := range f.Graph.Nodes {
		n, want := &f.Graph.Nodes[i], r.ops[i]
		if n.OpType != want.name || !slices.Equal(n.Outputs, want.outputs) {
			t.Fatalf("node %d is %s %q, want %s %q", i, n.OpType, n.Outputs, want.name, want.outputs)
		}
		// onnx-go gives a node without inputs one, and keeps one edge where an
		// input occurs twice.
		inputs := slices.Clone(want.inputs)
		if len(n.Inputs) == 0 {
			inputs = nil
		}
		if distinct := distinctNames(n.Inputs); !slices.Equal(distinct, inputs) && !slices.Equal(lastNames(n.Inputs), inputs) {
			t.Errorf("node %d, %s: inputs %q, want %q", i, n.OpType, n.Inputs, inputs)
		}
		if len(n.Attributes) != len(want.attributes) {
			t.Errorf("node %d, %s: %d attributes, want %d", i, n.OpType, len(n.Attributes), len(want.attributes))
		}
		for j := range n.Attributes {
			compareAttribute(t, i, &n.Attributes[j], want.attributes[n.Attributes[j].Name])
		}
	}
}

func distinctNames(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func lastNames(list []string) (out []string) {
	for i, s := range list {
		if !slices.Contains(list[i+1:], s) {
			out = append(out, s)
		}
	}
	return out
}

func compareAttribute(t *testing.T, node int, a *onnx.Attribute, want any) {
	t.Helper()
	var got any
	switch a.Type {
	case onnx.AttributeFloat:
		got = a.Float()
	case onnx.AttributeInt:
		got = a.Int()
	case onnx.AttributeString:
		got = a.Text()
	case onnx.AttributeFloats:
		got = a.Floats()
	case onnx.AttributeInts:
		got = a.Ints()
	case onnx.AttributeStrings:
		got = a.Texts()
	case onnx.AttributeTensor:
		if w, ok := want.(tensor.Tensor); ok {
			compareTensor(t, a.Tensor(), w)
			return
		}
	}
	if fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want, want) {
		t.Errorf("node %d: attribute %q is %v, want %v", node, a.Name, got, want)
	}
}

func compareInitializers(t *testing.T, f *onnx.File, m *oracle.Model) {
	t.Helper()
	for i := range f.Graph.Initializers {
		w := &f.Graph.Initializers[i]
		n, ok := m.GetNodeByName(w.Name)
		if !ok {
			t.Errorf("initialiser %q is not in onnx-go's model", w.Name)
			continue
		}
		compareTensor(t, w, n.(*recordedValue).value)
	}
}

func compareTensor(t *testing.T, got *onnx.Tensor, want tensor.Tensor) {
	t.Helper()
	if got.DType == onnx.Bool {
		return // onnx-go takes eight bytes of raw data for a bool
	}
	if want == nil {
		t.Errorf("tensor %q: onnx-go has none", got.Name)
		return
	}
	dims := make([]int, len(got.Dims))
	for i, d := range got.Dims {
		dims[i] = int(d)
	}
	if !slices.Equal(dims, want.Shape()) && got.Elements() != 1 {
		t.Errorf("tensor %q has dimensions %d, want %d", got.Name, dims, want.Shape())
		return
	}
	floats, ints := make([]float32, got.Elements()), make([]int64, got.Elements())
	var same bool
	var err error
	switch data := want.Data().(type) {
	case []float32:
		err = got.Float32s(floats, 0)
		same = slices.EqualFunc(floats, data, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
	case float32:
		err = got.Float32s(floats, 0)
		same = math.Float32bits(floats[0]) == math.Float32bits(data)
	case []int64:
		err = got.Int64s(ints, 0)
		same = slices.Equal(ints, data)
	case int64:
		err = got.Int64s(ints, 0)
		same = ints[0] == data
	case []int32:
		err = got.Int64s(ints, 0)
		same = slices.EqualFunc(ints, data, func(a int64, b int32) bool { return a == int64(b) })
	case int32:
		err = got.Int64s(ints, 0)
		same = ints[0] == int64(data)
	default:
		t.Errorf("tensor %q: onnx-go has %T", got.Name, data)
		return
	}
	if err != nil || !same {
		t.Errorf("tensor %q differs (%v)", got.Name, err)
	}
}
