package onnx_test

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"runtime/metrics"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"memsizer/format/onnx"
)

var mutations = flag.Int("mutations", 30_000, "files that TestMutated makes")

// seeds are small models with every kind of field.
func seeds() [][]byte {
	attributes := []message{
		message(nil).str(1, "a").num(20, 1).fixed32(2, 0x3f800000),
		message(nil).str(1, "b").num(20, 2).num(3, -5),
		message(nil).str(1, "c").num(20, 3).str(4, "text"),
		message(nil).str(1, "d").num(20, 4).sub(5, floats("t", []float32{1, 2}, 2)),
		message(nil).str(1, "e").num(20, 5).sub(6, message(nil).sub(1, message(nil).str(1, "x").str(2, "y").str(4, "Neg")).sub(12, message(nil).str(1, "y"))),
		message(nil).str(1, "f").num(20, 6).str(7, "\x00\x00\x80\x3f").fixed32(7, 0),
		message(nil).str(1, "g").num(20, 7).packed(8, 1, 2, 300).num(8, 4),
		message(nil).str(1, "h").num(20, 8).str(9, "x").str(9, ""),
		message(nil).str(1, "i").num(20, 9).sub(10, tensorProto("u", 7, 1).packed(7, 1)),
		message(nil).str(1, "j").num(20, 10).sub(11, message(nil).str(2, "sub")),
		message(nil).str(1, "k").num(20, 13),
	}
	g := message(nil).str(2, "graph")
	for _, a := range attributes {
		g = g.sub(1, message(nil).str(1, "x").str(1, "").str(2, "out").str(3, "node").str(4, "Op").str(7, "domain").sub(5, a))
	}
	g = g.sub(5, tensorProto("typed", 7, 2, 2).packed(7, 1, 2, 3, 1<<40)).
		sub(5, tensorProto("half", 10, 3).packed(5, 1, 2, 3)).
		sub(5, tensorProto("double", 11, 1).str(10, "abcdefgh")).
		sub(5, tensorProto("unsigned", 13, 2).num(11, 5).num(11, 6)).
		sub(5, tensorProto("strings", 8, 2).str(6, "a").str(6, "b")).
		sub(5, floats("raw", []float32{1, 2, 3, 4, 5, 6}, 2, 3)).
		sub(5, external(external(external(tensorProto("outer", 1, 4).num(14, 1), "location", "w.bin"), "offset", "16"), "length", "16")).
		sub(15, nil)
	for _, field := range []protowire.Number{11, 12, 13} {
		dims := message(nil).sub(1, message(nil).num(1, 4)).sub(1, message(nil).str(2, "batch")).sub(1, nil)
		g = g.sub(field, message(nil).str(1, "x").sub(2, message(nil).sub(1, message(nil).num(1, 1).sub(2, dims))))
	}
	whole := model(g).str(2, "producer").str(3, "1.0").str(4, "domain").num(5, 3).
		sub(14, message(nil).str(1, "key").str(2, "value")).sub(25, nil)
	return [][]byte{whole, model(g[:0]), model(message(nil).sub(5, typedFloats("h", 30, 10)).sub(5, floats("f", make([]float32, 300), 300)))}
}

// mutateBytes changes a copy of data at random.
func mutateBytes(r *rand.Rand, data, other []byte) []byte {
	out := bytes.Clone(data)
	for range 1 + r.IntN(4) {
		if len(out) == 0 {
			break
		}
		i := r.IntN(len(out))
		j := i + r.IntN(min(len(out)-i, 32)+1)
		switch r.IntN(8) {
		case 0:
			out[i] = byte(r.Uint32())
		case 1:
			out[i] ^= 1 << r.IntN(8)
		case 2:
			out[i] += byte(r.IntN(5)) - 2 // lengths and field numbers nearby
		case 3:
			out = append(out[:i], out[j:]...)
		case 4:
			out = append(out[:j:j], out[i:]...) // twice
		case 5:
			k := r.IntN(len(other))
			out = append(append(out[:i:i], other[k:k+r.IntN(min(len(other)-k, 64)+1)]...), out[i:]...)
		case 6:
			out = append(append(out[:i:i], protowire.AppendVarint(nil, r.Uint64()>>r.IntN(64))...), out[i:]...)
		case 7:
			out = out[:i]
		}
	}
	return out
}

// TestMutated opens files that were changed at random and reads what they
// hold: no panic, and no more memory than four times the file (and the reader's
// constant megabyte).
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(11, uint64(*mutations)))
	pool := seeds()
	for i, s := range pool {
		if i != 1 {
			if _, err := parse(s); err != nil {
				t.Fatalf("seed %d: %v", i, err)
			}
		}
	}
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	accepted := 0
	for range *mutations {
		data := mutateBytes(r, pool[r.IntN(len(pool))], pool[0])
		metrics.Read(allocated)
		before := allocated[0].Value.Uint64()
		f, err := onnx.NewFile(bytes.NewReader(data), int64(len(data)), "mutated")
		metrics.Read(allocated)
		if used := allocated[0].Value.Uint64() - before; used > uint64(4*len(data)+1<<20+1<<18) {
			t.Fatalf("a file of %d bytes allocated %d: %x", len(data), used, data)
		}
		if err != nil {
			continue
		}
		accepted++
		if len(pool) < 200 && len(data) < 1<<14 && r.IntN(20) == 0 {
			pool = append(pool, data)
		}
		if err := f.Summarize(io.Discard); err != nil {
			t.Fatal(err)
		}
		readAll(t, f.Graph)
	}
	if accepted < *mutations/100 {
		t.Errorf("only %d of %d changed files were accepted: the changes are too wild", accepted, *mutations)
	}
	t.Logf("%d of %d changed files were accepted", accepted, *mutations)
}
