package onnx_test

import (
	"math"

	"github.com/x448/float16"
	"google.golang.org/protobuf/encoding/protowire"
)

// message builds a protobuf message by hand.
type message []byte

func (m message) str(num protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
}

func (m message) sub(num protowire.Number, s message) message { return m.str(num, string(s)) }

func (m message) num(num protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(v))
}

func (m message) fixed32(num protowire.Number, v uint32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, num, protowire.Fixed32Type), v)
}

func (m message) packed(num protowire.Number, list ...int64) message {
	var b []byte
	for _, v := range list {
		b = protowire.AppendVarint(b, uint64(v))
	}
	return m.str(num, string(b))
}

// tensorProto starts a TensorProto.
func tensorProto(name string, dtype int64, dims ...int64) message {
	m := message(nil).str(8, name).num(2, dtype)
	for _, d := range dims {
		m = m.num(1, d)
	}
	return m
}

// node is a NodeProto with an attribute.
func node(op string, attribute message) message {
	return message(nil).str(2, "out").str(4, op).sub(5, attribute)
}

// model wraps a graph's fields in a model.
func model(graph message) message {
	return message(nil).num(1, 8).sub(8, message(nil).num(2, 17)).sub(7, graph)
}

// external is an entry of external_data.
func external(m message, key, value string) message {
	return m.sub(13, message(nil).str(1, key).str(2, value))
}

// floats is a TensorProto of float32 in raw data.
func floats(name string, data []float32, dims ...int64) message {
	var raw []byte
	for _, v := range data {
		raw = protowire.AppendFixed32(raw, math.Float32bits(v))
	}
	return tensorProto(name, 1, dims...).str(9, string(raw))
}

// typedFloats is a TensorProto [rows, cols] of 1, 2, … in half precision, in
// int32_data.
func typedFloats(name string, rows, cols int64) message {
	var bits []int64
	for i := range rows * cols {
		bits = append(bits, int64(float16.Fromfloat32(float32(i+1)).Bits()))
	}
	return tensorProto(name, 10, rows, cols).packed(5, bits...)
}
