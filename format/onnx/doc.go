// Package onnx reads ONNX files: the model's graph, its nodes, attributes,
// subgraphs, operator sets and metadata, and its tensors, whose elements stay
// in the file until they are asked for. It knows nothing of models.
//
// It is written on protobuf's wire primitives; the message layouts are those
// of onnx.proto (IR version 13 and earlier). Open and NewFile walk the whole
// structure once and check every length, count and shape against the bytes
// that are there, so that what they return can be read without surprises:
//
//   - nothing is allocated from a number in the file before it was compared
//     with the bytes behind it, and all that is kept of a file is bounded by a
//     small multiple of its size;
//   - a tensor's elements × element size is what its raw, typed or external
//     data holds;
//   - external data is opened only below the folder of the model, through
//     neither "..", an absolute path nor a symbolic link that leads out of it.
//
// Two kinds of errors come back: [CorruptError] for bytes that the format does
// not allow, [UnsupportedError] for what is valid and not read here. File
// offsets are 64-bit throughout; models beyond 2 GB keep their weights in
// external data, as protobuf demands.
package onnx
