// Package safetensors reads and writes the safetensors format.
//
// A file is
//
//	8 bytes   N, the length of the header, little-endian, at most 100,000,000
//	N bytes   the header, JSON in UTF-8 that starts with '{'; it may end in spaces
//	the rest  the tensors' bytes, little-endian and row-major
//
// The header maps every tensor's name to {"dtype", "shape", "data_offsets"},
// the offsets being the first byte and the one after the last, counted from
// the end of the header; "__metadata__", if it is there, maps strings to
// strings. A reader can trust a file that [Open] accepts: names are unique,
// shape times element size is the length of the byte range, and the ranges
// follow one another without holes or overlaps from the header to the end of
// the file.
//
// Nothing is allocated from a number in the file before it has been compared
// with the bytes that are there, and the tensors' bytes are not read before
// [Tensor.Reader] is. Errors are a [CorruptError], which names the file and
// the byte, or an [UnsupportedError] for what is valid and not read here.
package safetensors
