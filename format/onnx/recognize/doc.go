// Package recognize finds fairseq and MemSizer models in ONNX graphs and maps
// them onto the canonical configuration and tensors of package format.
//
// It follows the graph in topological order and gives every value a meaning
// (a token embedding, a linear layer, a layer norm up to its variance, slot
// weights, a memory, …) together with how its elements lie: which dimension
// runs over sentences, positions, heads, or a layer's outputs. Reshapes,
// transpositions and their like only change the latter, so that it does not
// matter how an exporter arranges them; what depends on no input is computed;
// weights are recognised by what is done with them, never by name. Tensors
// stay in the file and are transposed as they are read.
//
// Whatever has no meaning where it stands ends the import with a
// [NotUnderstoodError], which names the first such node and what was expected
// there. Covered are whole encoder-decoder graphs, language models, encoders
// and decoders in files of their own, and decoders' single steps with states
// as inputs and outputs; plain and adaptive embeddings and softmaxes; ai.onnx
// opsets from 13 on.
//
// [Model.Check] compares what a model computes after the import with what its
// graph says, executed by package eval.
package recognize
