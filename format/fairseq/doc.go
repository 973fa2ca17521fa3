// Package fairseq maps checkpoints of fairseq models (0.6 to 0.12, and the
// MemSizer authors' plug-in) onto the canonical configuration and tensors of
// package format: names, settings ("args" or "cfg"), dictionaries and the
// tokenisation that the model was trained with.
//
// Load reads what [memsizer/format/pytorch] and [memsizer/format/safetensors]
// find in a file and either returns a model whose tensors cover
// format.Config.TensorSpecs exactly, or one error that lists everything that
// is missing, unexpected, misshapen or not supported. Tensors are described
// first and streamed when they are asked for. Inspect says the same about a
// file without failing on it.
//
// The tensors' names and shapes decide what a model is; settings decide only
// what the tensors cannot tell (pre- or post-norm, activation, heads of
// softmax attention, scales), since checkpoints carry the defaults of flags
// that never applied to them.
package fairseq
