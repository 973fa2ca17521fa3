package onnx_test

import (
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

// tensor starts a TensorProto.
func tensor(name string, dtype int64, dims ...int64) message {
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
