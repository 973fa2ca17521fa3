package format

import "fmt"

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
