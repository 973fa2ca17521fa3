package format

// Kinds of attention. A new kind is a constant here, its tensors in
// [Stack.attentionSpecs], and its operators in package ops.
const (
	MemSizer = "memsizer" // key-value memory of k slots, arXiv:2203.12644
	Softmax  = "softmax"  // fairseq's multi-head attention
)

// Kinds of position embedding.
const (
	NoPositions         = "none"
	SinusoidalPositions = "sinusoidal" // computed in float32, no tensor
	LearnedPositions    = "learned"    // embed_positions.weight [Rows, Dim]
)

// Kinds of embedding and output layer.
const (
	Plain    = "plain"    // one table, one projection
	Adaptive = "adaptive" // frequency bands of falling dimension
)

// Ids of the special symbols in every fairseq dictionary.
const (
	BOS = 0
	Pad = 1
	EOS = 2
	Unk = 3
)

// Config is the canonical description of a model: everything the runtime
// needs besides the tensors, their names and the text pipeline. Letters: D
// model dimension, F feed-forward dimension, H heads, K memory slots, V
// vocabulary.
type Config struct {
	// Encoder is nil for a language model.
	Encoder *Stack `json:"encoder,omitempty"`
	Decoder Stack  `json:"decoder"`
	Output  Output `json:"output"`
	// ShareEmbeddings: the decoder embeds with the encoder's table, which is
	// stored once as encoder.embed_tokens.weight.
	ShareEmbeddings bool `json:"share_embeddings,omitempty"`
	// StartBOS: the decoder's first input is bos (language models trained
	// with add_bos_token) instead of eos.
	StartBOS bool `json:"start_bos,omitempty"`
}

// Start is the id of the decoder's first input.
func (c *Config) Start() int32 {
	if c.StartBOS {
		return BOS
	}
	return EOS
}

// Stack is an encoder or a decoder.
type Stack struct {
	Layers     int       `json:"layers"`
	Dim        int       `json:"dim"`     // D
	FFNDim     int       `json:"ffn_dim"` // F
	Activation string    `json:"activation"`
	PreNorm    bool      `json:"pre_norm"`
	FinalNorm  bool      `json:"final_norm"` // layer_norm after the last layer
	Embedding  Embedding `json:"embedding"`
	Positions  Positions `json:"positions"`
	// EmbedScale multiplies the token embedding (√D rounded to float32, or 1).
	EmbedScale float32 `json:"embed_scale"`
	// EmbedNorm: layer norm after token and position embedding were added.
	EmbedNorm bool    `json:"embed_norm,omitempty"`
	NormEps   float32 `json:"norm_eps"` // 1e-5 in fairseq
	// Self is the (causal, in a decoder) self-attention; Cross the attention
	// over the encoder's output, nil in an encoder or a language model.
	Self  Attention  `json:"self_attention"`
	Cross *Attention `json:"cross_attention,omitempty"`
	// OutputDim, when not 0 and not Dim, adds project_out_dim [OutputDim, D].
	OutputDim int `json:"output_dim,omitempty"`
}

// Attention describes one attention of every layer of a stack.
type Attention struct {
	Kind  string `json:"kind"`
	Heads int    `json:"heads"`
	Slots int    `json:"slots,omitempty"` // K, MemSizer only
	// SourceDim is the dimension of what keys and values are computed from:
	// the stack's own D for self-attention, the encoder's for cross-attention.
	SourceDim int `json:"source_dim"`
}

// Embedding is a token embedding [V, Dim].
type Embedding struct {
	Kind  string `json:"kind"`
	Vocab int    `json:"vocab"`
	// Dim is the width of a plain table; when it differs from the stack's D,
	// project_in_dim [D, Dim] follows. Unused (0) for adaptive input.
	Dim int `json:"dim,omitempty"`
	// Bands of adaptive input, most frequent words first.
	Bands []Band `json:"bands,omitempty"`
}

// Band is one frequency band of an adaptive embedding or softmax: Size
// consecutive ids represented in Dim dimensions.
type Band struct {
	Size int `json:"size"`
	Dim  int `json:"dim"`
}

// Positions describes position embeddings. The first real token of a
// sequence has position Offset (padding_idx+1 = 2 in fairseq).
type Positions struct {
	Kind   string `json:"kind"`
	Offset int    `json:"offset"`
	// Rows of a learned table; 0 for sinusoids, which have no limit.
	Rows int `json:"rows,omitempty"`
	// Max is the longest sequence that the model's settings allow
	// (max_source_positions, max_target_positions), in tokens.
	Max int `json:"max"`
}

// Output is the layer from the decoder's last hidden state to
// log-probabilities over V.
type Output struct {
	Kind string `json:"kind"`
	// TiedEmbedding: a plain output projection is the decoder's (or shared)
	// embedding table, stored once.
	TiedEmbedding bool `json:"tied_embedding,omitempty"`
	Bias          bool `json:"bias,omitempty"`
	// Bands of an adaptive softmax: Bands[0] is the head's words (Dim is the
	// head's input dimension), the others are the tails with their projected
	// dimensions.
	Bands []Band `json:"bands,omitempty"`
	// TiedBands: head words and tails use the adaptive input's tables.
	TiedBands bool `json:"tied_bands,omitempty"`
	// TiedProjections: tail i's projection is the adaptive input's band
	// projection [D, dim], used transposed.
	TiedProjections bool `json:"tied_projections,omitempty"`
}
