// Package eval executes ONNX graphs: a small reference evaluator, written to
// be right and short, not fast. It defines what a graph means when an import
// of it is checked, and folds the constant parts of graphs.
//
// It knows the operators of ai.onnx that sequence models are exported with
// (opsets 13 to 21, [Operators] lists them); any other is an error when the
// program is made. Floats are computed in float32, sums and normalisations in
// float64 and rounded once; values of float16 and bfloat16 are rounded after
// each operator, float64 is held as float32. Integers are 64-bit and wrap to
// their type where they are cast.
//
// Initialisers stay in the file: matrix products, look-ups, transpositions,
// slices and casts use them from there, other operators read them whole.
package eval
