package format

import (
	"fmt"
	"math"
)

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

// Role says what a tensor is for; dtype policies go by it.
type Role uint8

const (
	RoleVector    Role = iota // biases and layer-norm weights [n]
	RoleMatrix                // linear weights [out, in]
	RoleEmbedding             // tables that are only looked up, row by row
	RoleOutput                // what the output layer multiplies by [words, in], perhaps an embedding too
)

// TensorSpec is one tensor a configuration needs.
type TensorSpec struct {
	Name  string
	Shape []int
	Role  Role
}

// Elements is the product of the shape.
func (s TensorSpec) Elements() int64 {
	n := int64(1)
	for _, d := range s.Shape {
		n *= int64(d)
	}
	return n
}

// TensorSpecs lists every tensor of the model, with its canonical name and
// shape, in file order. It is the one list that importers fill, Load checks
// and synth generates. The configuration must be valid.
func (c *Config) TensorSpecs() []TensorSpec {
	var s specs
	encoder, decoder := RoleEmbedding, RoleEmbedding
	if c.Output.TiedEmbedding || c.Output.TiedBands {
		decoder = RoleOutput
	}
	if c.ShareEmbeddings {
		encoder = decoder
	}
	if c.Encoder != nil {
		s.stack("encoder", c.Encoder, false, encoder)
	}
	s.stack("decoder", &c.Decoder, c.ShareEmbeddings, decoder)
	s.output(c)
	return s
}

type specs []TensorSpec

func (s *specs) add(role Role, name string, shape ...int) {
	*s = append(*s, TensorSpec{name, shape, role})
}

func (s *specs) norm(name string, n int) {
	s.add(RoleVector, name+".weight", n)
	s.add(RoleVector, name+".bias", n)
}

func (s *specs) linear(name string, out, in int) {
	s.add(RoleMatrix, name+".weight", out, in)
	s.add(RoleVector, name+".bias", out)
}

func (s *specs) stack(p string, t *Stack, sharedTable bool, table Role) {
	switch {
	case sharedTable:
	case t.Embedding.Kind == Adaptive:
		for i, b := range t.Embedding.Bands {
			s.add(table, fmt.Sprintf("%s.embed_tokens.bands.%d.weight", p, i), b.Size, b.Dim)
			s.add(RoleMatrix, fmt.Sprintf("%s.embed_tokens.bands.%d.projection", p, i), t.Dim, b.Dim)
		}
	default:
		s.add(table, p+".embed_tokens.weight", t.Embedding.Vocab, t.Embedding.Dim)
	}
	if t.Embedding.Kind == Plain && t.Embedding.Dim != t.Dim {
		s.add(RoleMatrix, p+".project_in_dim.weight", t.Dim, t.Embedding.Dim)
	}
	if t.Positions.Kind == LearnedPositions {
		s.add(RoleEmbedding, p+".embed_positions.weight", t.Positions.Rows, t.Dim)
	}
	if t.EmbedNorm {
		s.norm(p+".layernorm_embedding", t.Dim)
	}
	for i := range t.Layers {
		l := fmt.Sprintf("%s.layers.%d.", p, i)
		s.attention(l+"self_attn", t.Dim, &t.Self)
		s.norm(l+"self_attn_layer_norm", t.Dim)
		if t.Cross != nil {
			s.attention(l+"encoder_attn", t.Dim, t.Cross)
			s.norm(l+"encoder_attn_layer_norm", t.Dim)
		}
		s.linear(l+"fc1", t.FFNDim, t.Dim)
		s.linear(l+"fc2", t.Dim, t.FFNDim)
		s.norm(l+"final_layer_norm", t.Dim)
	}
	if t.FinalNorm {
		s.norm(p+".layer_norm", t.Dim)
	}
	if t.OutputDim != 0 && t.OutputDim != t.Dim {
		s.add(RoleMatrix, p+".project_out_dim.weight", t.OutputDim, t.Dim)
	}
}

func (s *specs) attention(p string, d int, a *Attention) {
	switch a.Kind {
	case MemSizer:
		s.linear(p+".q_proj", a.Heads*a.Slots, d)
		s.linear(p+".k_proj", a.Slots, a.SourceDim)
		s.linear(p+".v_proj", d, a.SourceDim)
		s.norm(p+".k_layer_norm", a.Slots)
		s.norm(p+".v_layer_norm", d)
	case Softmax:
		s.linear(p+".q_proj", d, d)
		s.linear(p+".k_proj", d, a.SourceDim)
		s.linear(p+".v_proj", d, a.SourceDim)
		s.linear(p+".out_proj", d, d)
	}
}

// OutputInputDim is the width of what the output layer reads.
func (c *Config) OutputInputDim() int {
	if d := c.Decoder.OutputDim; d != 0 {
		return d
	}
	return c.Decoder.Dim
}

func (s *specs) output(c *Config) {
	d := c.OutputInputDim()
	v := c.Decoder.Embedding.Vocab
	if c.Output.Kind == Plain {
		if !c.Output.TiedEmbedding {
			s.add(RoleOutput, "decoder.output_projection.weight", v, d)
		}
		if c.Output.Bias {
			s.add(RoleVector, "decoder.output_projection.bias", v)
		}
		return
	}
	bands := c.Output.Bands
	p := "decoder.adaptive_softmax."
	if !c.Output.TiedBands {
		s.add(RoleOutput, p+"head.weight", bands[0].Size, d)
	}
	if len(bands) > 1 {
		s.add(RoleMatrix, p+"head.class.weight", len(bands)-1, d)
	}
	for i, b := range bands[1:] {
		if !c.Output.TiedProjections {
			s.add(RoleMatrix, fmt.Sprintf("%stails.%d.projection.weight", p, i), b.Dim, d)
		}
		if !c.Output.TiedBands {
			s.add(RoleOutput, fmt.Sprintf("%stails.%d.weight", p, i), b.Size, b.Dim)
		}
	}
}

// Parameters is the number of stored weights.
func (c *Config) Parameters() int64 {
	var n int64
	for _, s := range c.TensorSpecs() {
		n += s.Elements()
	}
	return n
}

// Activations that a feed-forward block may use.
var Activations = []string{"relu", "gelu", "gelu_accurate", "gelu_fast", "tanh", "linear", "swish"}

const maxDim = 1 << 24

// Validate reports the first setting that no model can have or that
// contradicts another one. A valid configuration has a finite, checked list
// of tensors.
func (c *Config) Validate() error {
	if c.Encoder != nil {
		if err := c.Encoder.validate("encoder", nil); err != nil {
			return err
		}
	}
	if err := c.Decoder.validate("decoder", c.Encoder); err != nil {
		return err
	}
	return c.validateOutput()
}

func dim(what string, v, lo, hi int) error {
	if v < lo || v > hi {
		return fmt.Errorf("format: config: %s is %d, want %d to %d", what, v, lo, hi)
	}
	return nil
}

func (t *Stack) validate(p string, encoder *Stack) error {
	for _, c := range []struct {
		name   string
		v      int
		lo, hi int
	}{
		{"layers", t.Layers, 1, 1 << 12},
		{"dim", t.Dim, 1, maxDim},
		{"ffn_dim", t.FFNDim, 1, maxDim},
		{"embedding.vocab", t.Embedding.Vocab, 4, 1 << 28},
		{"output_dim", t.OutputDim, 0, maxDim},
		{"positions.max", t.Positions.Max, 1, 1 << 30},
		{"positions.offset", t.Positions.Offset, 0, 1 << 20},
	} {
		if err := dim(p+"."+c.name, c.v, c.lo, c.hi); err != nil {
			return err
		}
	}
	if !(t.NormEps > 0 && t.NormEps < 1) {
		return fmt.Errorf("format: config: %s.norm_eps is %v, want between 0 and 1", p, t.NormEps)
	}
	if math.IsNaN(float64(t.EmbedScale)) || math.IsInf(float64(t.EmbedScale), 0) || t.EmbedScale == 0 {
		return fmt.Errorf("format: config: %s.embed_scale is %v", p, t.EmbedScale)
	}
	if !contains(Activations, t.Activation) {
		return fmt.Errorf("format: config: %s.activation is %q, want one of %q", p, t.Activation, Activations)
	}
	if err := t.validateInput(p); err != nil {
		return err
	}
	if err := t.Self.validate(p+".self_attention", t.Dim, t.Dim); err != nil {
		return err
	}
	switch {
	case p == "encoder" && t.Cross != nil:
		return fmt.Errorf("format: config: encoder.cross_attention is set")
	case p == "decoder" && (encoder == nil) != (t.Cross == nil):
		return fmt.Errorf("format: config: decoder.cross_attention must be set exactly when there is an encoder")
	case t.Cross != nil:
		return t.Cross.validate(p+".cross_attention", t.Dim, encoder.Dim)
	}
	return nil
}

func (t *Stack) validateInput(p string) error {
	switch t.Embedding.Kind {
	case Plain:
		if err := dim(p+".embedding.dim", t.Embedding.Dim, 1, maxDim); err != nil {
			return err
		}
		if len(t.Embedding.Bands) != 0 {
			return fmt.Errorf("format: config: %s.embedding is plain but has bands", p)
		}
	case Adaptive:
		if t.Embedding.Dim != 0 {
			return fmt.Errorf("format: config: %s.embedding is adaptive but has dim %d", p, t.Embedding.Dim)
		}
		if err := checkBands(p+".embedding", t.Embedding.Bands, t.Embedding.Vocab); err != nil {
			return err
		}
	default:
		return fmt.Errorf("format: config: %s.embedding.kind is %q", p, t.Embedding.Kind)
	}
	switch t.Positions.Kind {
	case NoPositions, SinusoidalPositions:
		if t.Positions.Rows != 0 {
			return fmt.Errorf("format: config: %s.positions are %s but have rows", p, t.Positions.Kind)
		}
	case LearnedPositions:
		if err := dim(p+".positions.rows", t.Positions.Rows, t.Positions.Offset+1, 1<<28); err != nil {
			return err
		}
		if t.Positions.Max > t.Positions.Rows-t.Positions.Offset {
			return fmt.Errorf("format: config: %s.positions.max is %d, but a learned table of %d rows has %d",
				p, t.Positions.Max, t.Positions.Rows, t.Positions.Rows-t.Positions.Offset)
		}
	default:
		return fmt.Errorf("format: config: %s.positions.kind is %q", p, t.Positions.Kind)
	}
	return nil
}

func checkBands(p string, bands []Band, vocab int) error {
	if len(bands) == 0 || len(bands) > 64 {
		return fmt.Errorf("format: config: %s has %d bands, want 1 to 64", p, len(bands))
	}
	sum := 0
	for i, b := range bands {
		if b.Size < 1 || b.Size > vocab || b.Dim < 1 || b.Dim > maxDim {
			return fmt.Errorf("format: config: %s band %d is %d × %d", p, i, b.Size, b.Dim)
		}
		sum += b.Size
	}
	if sum != vocab {
		return fmt.Errorf("format: config: %s bands hold %d words, want the vocabulary's %d", p, sum, vocab)
	}
	return nil
}

func (a *Attention) validate(p string, d, source int) error {
	if err := dim(p+".heads", a.Heads, 1, 1<<16); err != nil {
		return err
	}
	if a.SourceDim != source {
		return fmt.Errorf("format: config: %s.source_dim is %d, want %d", p, a.SourceDim, source)
	}
	switch a.Kind {
	case MemSizer:
		return dim(p+".slots", a.Slots, 1, 1<<20)
	case Softmax:
		if a.Slots != 0 {
			return fmt.Errorf("format: config: %s is softmax but has %d slots", p, a.Slots)
		}
		if d%a.Heads != 0 {
			return fmt.Errorf("format: config: %s has %d heads, which do not divide the dimension %d", p, a.Heads, d)
		}
		return nil
	}
	return fmt.Errorf("format: config: %s.kind is %q, want %q or %q", p, a.Kind, MemSizer, Softmax)
}

func (c *Config) validateOutput() error {
	d := &c.Decoder
	if c.ShareEmbeddings {
		e := c.Encoder
		if e == nil || e.Embedding.Kind != Plain || d.Embedding.Kind != Plain ||
			e.Embedding.Vocab != d.Embedding.Vocab || e.Embedding.Dim != d.Embedding.Dim {
			return fmt.Errorf("format: config: share_embeddings needs an encoder with a plain table of the decoder's shape")
		}
	}
	o := &c.Output
	switch o.Kind {
	case Plain:
		if o.TiedEmbedding && (d.Embedding.Kind != Plain || d.Embedding.Dim != c.OutputInputDim()) {
			return fmt.Errorf("format: config: output.tied_embedding needs a plain decoder embedding of dimension %d", c.OutputInputDim())
		}
		if len(o.Bands) != 0 || o.TiedBands || o.TiedProjections {
			return fmt.Errorf("format: config: output is plain but has adaptive settings")
		}
		return nil
	case Adaptive:
		return c.validateAdaptive()
	}
	return fmt.Errorf("format: config: output.kind is %q", o.Kind)
}

func (c *Config) validateAdaptive() error {
	o, d := &c.Output, &c.Decoder
	if o.TiedEmbedding || o.Bias {
		return fmt.Errorf("format: config: output is adaptive but has plain settings")
	}
	if err := checkBands("output", o.Bands, d.Embedding.Vocab); err != nil {
		return err
	}
	if !o.TiedBands && !o.TiedProjections {
		return nil
	}
	in := d.Embedding.Bands
	if d.Embedding.Kind != Adaptive || len(in) != len(o.Bands) {
		return fmt.Errorf("format: config: a tied adaptive output needs adaptive input with the same bands")
	}
	for i := range in {
		if in[i] != o.Bands[i] {
			return fmt.Errorf("format: config: band %d is %v in the output, %v in the input; tied ones are equal", i, o.Bands[i], in[i])
		}
	}
	if in[0].Dim != c.OutputInputDim() && o.TiedBands {
		return fmt.Errorf("format: config: tied head of dimension %d, want %d", in[0].Dim, c.OutputInputDim())
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
