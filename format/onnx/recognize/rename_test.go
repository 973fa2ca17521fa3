package recognize_test

import (
	"fmt"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
)

// renamer replaces every name in a model by a random one.
type renamer struct {
	names map[string]string
	rand  *rand.Rand
}

// rename replaces the names of nodes, values, initialisers, dimensions and
// the graph in a serialised model.
func rename(model []byte) []byte {
	r := &renamer{map[string]string{"": ""}, rand.New(rand.NewPCG(1, 2))}
	return r.message(model, modelNames)
}

func (r *renamer) name(s string) string {
	n, ok := r.names[s]
	if !ok {
		n = fmt.Sprintf("x%016x", r.rand.Uint64())
		r.names[s] = n
	}
	return n
}

// fields says which fields of a message are names and which messages to go
// into.
type fields struct {
	names  map[protowire.Number]bool
	nested map[protowire.Number]*fields
}

func names(n ...protowire.Number) map[protowire.Number]bool {
	m := make(map[protowire.Number]bool)
	for _, f := range n {
		m[f] = true
	}
	return m
}

// The messages of onnx.proto that hold names.
var (
	tensorNames = &fields{names: names(8)}
	dimNames    = &fields{names: names(2)}
	shapeNames  = &fields{nested: map[protowire.Number]*fields{1: dimNames}}
	typeNames   = &fields{nested: map[protowire.Number]*fields{1: {nested: map[protowire.Number]*fields{2: shapeNames}}}}
	valueNames  = &fields{names: names(1), nested: map[protowire.Number]*fields{2: typeNames}}
	graphNames  = &fields{names: names(2)}
	nodeNames   = &fields{names: names(1, 2, 3)}
	modelNames  = &fields{nested: map[protowire.Number]*fields{7: graphNames}}
)

func init() {
	attributeNames := &fields{nested: map[protowire.Number]*fields{5: tensorNames, 6: graphNames}}
	nodeNames.nested = map[protowire.Number]*fields{5: attributeNames}
	graphNames.nested = map[protowire.Number]*fields{1: nodeNames, 5: tensorNames, 11: valueNames, 12: valueNames, 13: valueNames}
}

func (r *renamer) message(b []byte, f *fields) (out []byte) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b) // with its tag
		if n < 0 {
			panic("not a message")
		}
		if typ != protowire.BytesType || !f.names[num] && f.nested[num] == nil {
			out = append(out, b[:n]...)
			b = b[n:]
			continue
		}
		_, _, tag := protowire.ConsumeTag(b)
		v, _ := protowire.ConsumeBytes(b[tag:])
		out = protowire.AppendTag(out, num, typ)
		if f.names[num] {
			out = protowire.AppendString(out, r.name(string(v)))
		} else {
			out = protowire.AppendBytes(out, r.message(v, f.nested[num]))
		}
		b = b[n:]
	}
	return out
}
