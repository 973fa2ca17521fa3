// Package ops holds the operators of a MemSizer or Transformer model on the
// CPU: linear layers, layer norm, embeddings, memory attention, softmax
// attention and the search's reductions. Every operator checks its shapes and
// panics with "ops: …" on a programmer's mistake; the kernels below, in
// package simd, work on flat slices and trust their callers.
//
// Shapes are written [rows, columns]. R is the number of rows a call
// processes: sentences times beams in a decoder step, tokens in an encoder or
// a forced pass. Every row's result is independent of the other rows, of
// their number and of the number of threads.
//
// # Adding an operator or a kind of attention
//
// An operator is a method of [CPU] in a file of its own. What persists
// between steps lives in a type of this package ([Memory], [Cache]) whose
// layout only the operators know, so that another device can lay it out
// differently.
package ops
