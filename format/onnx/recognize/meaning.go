package recognize

import (
	"fmt"

	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

// value is what is known of one value of the graph: a constant, or a meaning
// and how its elements lie. scale multiplies the meaning.
type value struct {
	constant *eval.Tensor // nil unless it does not depend on the inputs' contents
	meaning  meaning
	layout   layout
	scale    float64
	node     place
}

func (v *value) shape() []int {
	if v.constant != nil {
		return v.constant.Shape
	}
	return v.layout.shape()
}

// place is a node of one of the graphs.
type place struct {
	graph *graph
	node  int        // −1 for an input
	inner *onnx.Node // within it
}

// meaning is what a value stands for. Meanings are pointers: the same one is
// the same thing.
type meaning interface{ String() string }

// stream is a sequence of tokens, given as an input.
type stream struct {
	input  int
	name   string
	time   *symbol
	length int
}

// tokens are the ids of a stream, or its last one's.
type tokens struct{ *stream }

// padding is true, or 1, at pads; at the others if flipped.
type padding struct {
	*stream
	flipped bool
}

// count is the number of pads of each sentence, or of the others.
type count struct {
	*stream
	pads bool
}

// length is the sentences' length without pads, raised to a power. In a
// decoder's step it comes from an input, and is one less before it is counted.
type length struct {
	stream  *stream
	counter *external
	plus    float64
	power   float64
}

// running is the number of tokens up to each position.
type running struct {
	*stream
	masked bool // 0 at pads
}

// positions are the ids of positions: the first token has offset.
type positions struct {
	stream *stream // nil if they do not depend on pads
	offset float64
}

// external is an input that is neither tokens nor padding.
type external struct {
	index int
	name  string
}

func (e *external) String() string { return fmt.Sprintf("the input %q", e.name) }

// embedding is a table's rows at tokens, or those of several bands of the
// vocabulary, each with its own table and projection.
type embedding struct {
	table  weight
	bands  []*linear // of *bandRows
	stream *stream
	dim    *symbol
	at     place
}

// placed is a table's rows at positions: of a tensor, or computed sinusoids.
type placed struct {
	table    *eval.Tensor // nil if computed
	offset   int
	computed bool // by the graph, in sine and cosine
	stream   *stream
	dim      *symbol
	limit    int // rows of the table
	rows     int // looked up, if constant
	at       place
}

// base is where a stack starts: token plus position embedding.
type base struct {
	embedding *embedding
	scale     float64
	project   *linear // before the positions were added, nil if none
	placed    *placed
	at        place
}

// encoded is an encoder's output that comes from another file.
type encoded struct {
	external *external
	dim      *symbol
}

// linear is a matrix product with a weight and, if complete, its bias.
type linear struct {
	x      meaning
	weight weight // [out, in]
	bias   *weight
	out    *symbol
	at     place
}

// norm is a layer norm in the making: each stage has what it needs of the
// former ones.
type norm struct {
	x            meaning
	stage        normStage
	weight, bias weight
	eps          float64
	dim          *symbol
	at           place
}

type normStage uint8

const (
	normMean normStage = iota
	normCentered
	normSquared
	normVariance
	normStd     // square root of variance + eps
	normInverse // its reciprocal
	normalized
	normScaled
	normDone
)

var normStages = [...]string{"the mean of a layer norm", "a value less its mean", "a squared difference from the mean", "a variance",
	"a standard deviation", "a reciprocal standard deviation", "a normalised value", "a layer norm before its bias", "a layer norm"}

// activated is an activation, or a part of one, of a linear layer.
type activated struct {
	x  *linear
	fn string // fairseq's name, or a part's
	at place
}

// slots are the softmax of MemSizer's query over the slots of each head, and,
// once averaged, its slot weights.
type slots struct {
	query *linear
	heads int
	size  int
	mean  bool
	at    place
}

// masked is something with zeros at pads.
type masked struct {
	x       meaning
	padding *stream
}

// outer is MemSizer's κ νᵀ of each position.
type outer struct {
	keys, values *norm
	pads         *stream
	at           place
}

// memory is MemSizer's memory: of a whole sequence, of each position's past,
// or one carried from step to step.
type memory struct {
	keys, values *norm
	pads         *stream
	length       int  // positions summed, if it is of a whole sequence
	causal       bool // a sum over the past of each position
	state        *external
	scaled       bool      // by length^-½
	given        *external // made elsewhere, keys and values unknown
	at           place
}

// read is what MemSizer's slot weights read from a memory.
type read struct {
	slots  *slots
	memory *memory
	at     place
}

// scores are query times key of softmax attention, with masks applied.
type scores struct {
	query, key *linear
	heads      int
	keys       *symbol // the axis of the keys
	cached     bool    // keys of earlier steps come from an input
	causal     bool
	pads       *stream
	at         place
}

// probabilities are the softmax of scores, or whether they are NaN.
type probabilities struct {
	*scores
	nan bool
}

// context is softmax attention before its output projection.
type context struct {
	scores *scores
	value  *linear
	at     place
}

// cached is a key or value after those of earlier steps, an input.
type cached struct {
	*linear
	past *external
}

// mask is a mask of attention scores: added if it is of floats, else true
// where nothing is attended to, or the other way round if flipped.
type mask struct {
	pads    *stream
	causal  bool
	flipped bool
	added   bool
}

// residual is a sublayer's output added to its input.
type residual struct {
	x   meaning // what the sublayer's output was added to
	sub meaning // linear, read
	at  place
}

// logProbabilities are a logarithm of softmax over the vocabulary.
type logProbabilities struct{ *linear }

// opaque is what was not understood.
type opaque struct {
	at  place
	why string
}

func (t *tokens) String() string  { return "tokens" }
func (p *padding) String() string { return "a padding mask" }
func (c *count) String() string   { return "a number of tokens" }
func (l *length) String() string  { return "a sequence length" }
func (r *running) String() string { return "a running count of tokens" }
func (p *positions) String() string {
	return "position ids"
}
func (e *embedding) String() string { return "a token embedding" }
func (p *placed) String() string    { return "a position embedding" }
func (b *base) String() string      { return "an embedded sequence" }
func (e *encoded) String() string   { return "an encoder's output" }
func (l *linear) String() string {
	if l.bias == nil {
		return fmt.Sprintf("a matrix product with %d outputs", l.out.size)
	}
	return fmt.Sprintf("a linear layer with %d outputs", l.out.size)
}
func (n *norm) String() string { return normStages[n.stage] }
func (a *activated) String() string {
	return a.fn + " of a linear layer"
}
func (s *slots) String() string {
	if s.mean {
		return "MemSizer's slot weights"
	}
	return "a softmax over parts of a linear layer"
}
func (m *masked) String() string           { return m.x.String() + " with zeros at pads" }
func (o *outer) String() string            { return "outer products of keys and values" }
func (m *memory) String() string           { return "a MemSizer memory" }
func (r *read) String() string             { return "the output of a MemSizer attention" }
func (s *scores) String() string           { return "attention scores" }
func (p *probabilities) String() string    { return "attention probabilities" }
func (c *context) String() string          { return "attended values" }
func (c *cached) String() string           { return "keys or values of all steps" }
func (m *mask) String() string             { return "an attention mask" }
func (r *residual) String() string         { return "a residual sum" }
func (l *logProbabilities) String() string { return "log-probabilities" }
func (o *opaque) String() string           { return "something not understood" }
