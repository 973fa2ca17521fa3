package fairseq

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"memsizer/format"
)

// origin says where a canonical tensor comes from.
type origin struct {
	name string // in the checkpoint, for people
	data source
}

// derivation works out the canonical configuration from tensors and settings.
type derivation struct {
	st   *state
	set  *settings
	arch *architecture
	cfg  format.Config

	// origins of canonical tensors that are not simply the entry of the same name.
	origins map[string]origin
	// used are entries that are accounted for: as a tensor or as a copy of one.
	used map[string]bool

	notes, problems, unsupported []string
}

func newDerivation(st *state, set *settings) *derivation {
	return &derivation{
		st: st, set: set,
		arch:    findArchitecture(set.architecture()),
		origins: make(map[string]origin),
		used:    make(map[string]bool),
	}
}

func (d *derivation) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

func (d *derivation) problem(format string, args ...any) {
	d.problems = append(d.problems, fmt.Sprintf(format, args...))
}

func (d *derivation) has(name string) bool { return d.st.entries[name] != nil }

// hasPrefix reports whether any entry's name begins so; the prefix ends in a dot.
func (d *derivation) hasPrefix(prefix string) bool { return d.st.under[prefix] }

// run derives everything. An error is one of reading; what is wrong with the
// model is in problems and unsupported.
func (d *derivation) run() error {
	d.refuse()
	if len(d.unsupported) > 0 {
		return nil
	}
	if !d.hasPrefix("decoder.") {
		d.problem("no tensor's name begins with %q: not an encoder-decoder or a language model of fairseq", "decoder.")
		return nil
	}
	if name := d.arch.name; name != "" && !d.arch.known {
		d.note("architecture %q is not one of fairseq's or the MemSizer plug-in's; what the settings leave open has the defaults of its family", name)
	}
	if bos, _ := d.set.flag("add_bos_token"); bos && !d.hasPrefix("encoder.") {
		d.cfg.StartBOS = true
	}
	if d.hasPrefix("encoder.") {
		d.cfg.Encoder = d.stack("encoder")
	} else if !d.arch.language && d.arch.name != "" && d.arch.known {
		d.note("architecture %q has an encoder, the file has none: taken for a language model", d.arch.name)
	}
	d.cfg.Decoder = *d.stack("decoder")
	if d.cfg.Encoder != nil {
		cross := d.attention("decoder", "encoder_attn", d.cfg.Encoder.Dim)
		d.cfg.Decoder.Cross = &cross
	}
	if err := d.embeddings(); err != nil {
		return err
	}
	return d.output()
}

// votes counts what tensors say about one dimension, so that a single
// misshapen one is found out instead of believed.
type votes struct {
	values []int
	counts []int
}

func (v *votes) add(value int) {
	if i := slices.Index(v.values, value); i >= 0 {
		v.counts[i]++
		return
	}
	v.values, v.counts = append(v.values, value), append(v.counts, 1)
}

// winner is the value with most votes (the first met, among equals), 0 for none.
func (v *votes) winner() int {
	best := -1
	for i := range v.values {
		if best < 0 || v.counts[i] > v.counts[best] {
			best = i
		}
	}
	if best < 0 {
		return 0
	}
	return v.values[best]
}

// axis is a dimension of a tensor of given rank.
type axis struct {
	name       string
	rank, axis int
}

// perLayer votes over all layers of a side.
func (d *derivation) perLayer(side string, layers int, axes []axis) *votes {
	v := new(votes)
	for i := range layers {
		for _, a := range axes {
			if e := d.st.entries[fmt.Sprintf("%s.layers.%d.%s", side, i, a.name)]; e.is(a.rank) {
				v.add(e.data.dims[a.axis])
			}
		}
	}
	return v
}

var modelDimAxes = []axis{
	{"self_attn_layer_norm.weight", 1, 0}, {"self_attn_layer_norm.bias", 1, 0},
	{"final_layer_norm.weight", 1, 0}, {"final_layer_norm.bias", 1, 0},
	{"fc2.weight", 2, 0}, {"fc2.bias", 1, 0}, {"fc1.weight", 2, 1},
	{"self_attn.v_proj.weight", 2, 1}, {"self_attn.q_proj.weight", 2, 1},
}

var ffnDimAxes = []axis{{"fc1.weight", 2, 0}, {"fc1.bias", 1, 0}, {"fc2.weight", 2, 1}}

// stack derives what belongs to one side, embeddings and output excepted.
func (d *derivation) stack(side string) *format.Stack {
	t := &format.Stack{NormEps: 1e-5}
	found := d.st.layers(side)
	t.Layers = d.layerCount(side, found)
	t.Dim = d.perLayer(side, found, modelDimAxes).winner()
	t.FFNDim = d.perLayer(side, found, ffnDimAxes).winner()
	if found == 0 {
		d.problem("no tensor's name begins with %q", side+".layers.0.")
	}
	t.Activation = d.activation()
	t.Self = d.attention(side, "self_attn", t.Dim)
	t.EmbedNorm = d.embedNorm(side)
	t.EmbedScale = d.embedScale(t.Dim)
	t.PreNorm, t.FinalNorm = d.norms(side)
	t.Positions = d.positions(side)
	return t
}

// layerCount: the tensors decide, but where the settings promise more layers
// than the file has, the others are missing.
func (d *derivation) layerCount(side string, found int) int {
	if keep, ok := d.set.integers(side + "_layers_to_keep"); ok && len(keep) > 0 {
		return found
	}
	if n, ok := d.set.number(side + "_layers"); ok && n > found && found > 0 && n <= 4096 {
		return n
	}
	return found
}

func (d *derivation) activation() string {
	name, ok := d.set.text("activation_fn")
	if !ok {
		name = d.arch.activation
		if d.arch.name == "" {
			d.note("no setting %q: %s, fairseq's default", "activation_fn", name)
		}
	}
	if !slices.Contains(format.Activations, name) {
		d.unsupported = append(d.unsupported, fmt.Sprintf("activation %q; supported are %s", name, strings.Join(format.Activations, ", ")))
		return "relu"
	}
	return name
}

func (d *derivation) embedNorm(side string) bool {
	if d.has(side+".layernorm_embedding.weight") || d.has(side+".layernorm_embedding.bias") {
		return true
	}
	on, set := d.set.flag("layernorm_embedding")
	return set && on // its tensors are then missing
}

func (d *derivation) embedScale(dim int) float32 {
	off, set := d.set.flag("no_scale_embedding")
	if !set {
		off = d.arch.noScale
	}
	if off || dim < 1 {
		return 1
	}
	return float32(math.Sqrt(float64(dim)))
}

// norms decides pre- or post-norm and the norm after the last layer.
//
// A final norm exists exactly in pre-norm stacks, unless the decoder's
// no_decoder_final_norm, so its tensors prove pre-norm. transformer_lm forces
// pre-norm, memsizer_lm does not. Decoders of version 2 and less and encoders
// of version 1 were written before fairseq had a final norm everywhere.
func (d *derivation) norms(side string) (pre, final bool) {
	present := d.has(side+".layer_norm.weight") || d.has(side+".layer_norm.bias")
	pre, set := d.set.flag(side + "_normalize_before")
	if !set {
		pre = d.arch.decoderPreNorm
		if side == "encoder" {
			pre = d.arch.encoderPreNorm
		}
	}
	none := side == "decoder" && d.noFinalNorm()
	if side == "decoder" && d.arch.forcedPreNorm && !pre {
		// Without its tensors a final norm that should be there tells
		// post-norm, which plain configurations have been able to choose.
		if !d.set.plainConfig || present {
			pre = true
			d.note("%s is pre-norm whatever %q says", d.arch.name, "decoder_normalize_before")
		}
	}
	version := d.st.versions[side]
	old := version < 2 || side == "decoder" && version <= 2
	switch {
	case present && version < 2:
		d.problem("%s.layer_norm is in the file, but %s.version is %v and such models have no final norm", side, side, version)
		return pre, false
	case present && !pre:
		d.note("%s.layer_norm is in the file, so the %s is pre-norm, whatever %q says", side, side, side+"_normalize_before")
		return true, true
	case present:
		if none {
			d.note("decoder.layer_norm is in the file and used, whatever %q says", "no_decoder_final_norm")
		}
		return true, true
	case !pre || none:
		return pre, false
	case old:
		d.note("%s.version is %v: no final norm", side, version)
		return pre, false
	case math.IsNaN(version):
		d.note("neither %s.version nor %s.layer_norm is in the file: no final norm", side, side)
		return pre, false
	}
	return pre, true // and its tensors are missing
}

// noFinalNorm is no_decoder_final_norm as fairseq's compatibility code reads it.
func (d *derivation) noFinalNorm() bool {
	if on, set := d.set.flag("decoder_final_norm"); set {
		return !on
	}
	if _, old := d.set.lookup("no_tie_adaptive_proj"); old && d.cfg.Encoder == nil {
		return true
	}
	on, set := d.set.flag("no_decoder_final_norm")
	if !set {
		return d.arch.noFinalNorm
	}
	return on
}

// positionOffset is the first position: the padding index plus one.
const positionOffset = format.Pad + 1

// sinusoidLimit is the longest sequence fairseq's sinusoidal positions allow.
const sinusoidLimit = 100000

func (d *derivation) positions(side string) format.Positions {
	p := format.Positions{Kind: format.SinusoidalPositions, Offset: positionOffset, Max: d.maxPositions(side)}
	table := d.st.entries[side+".embed_positions.weight"]
	learned, set := d.set.flag(side + "_learned_pos")
	if !set {
		learned = d.arch.learnedPositions
	}
	none, _ := d.set.flag("no_token_positional_embeddings")
	switch {
	case table.is(2):
		p.Kind = format.LearnedPositions
		p.Rows = table.data.dims[0]
		if rows := p.Rows - p.Offset; rows >= 1 && p.Max > rows {
			p.Max = rows
		}
	case none && !d.st.positionBuffer[side]:
		p.Kind = format.NoPositions
	case table != nil || learned:
		p.Kind = format.LearnedPositions // its tensor is missing or misshapen
		p.Rows = p.Max + p.Offset
	default:
		if none {
			d.note("the %s has the buffer of sinusoidal positions, so it has positions, whatever %q says", side, "no_token_positional_embeddings")
		}
		p.Max = min(p.Max, sinusoidLimit)
	}
	return p
}

// maxPositions is the longest sequence the settings allow.
func (d *derivation) maxPositions(side string) int {
	names := []string{"max_target_positions", "tokens_per_sample"}
	if d.cfg.Encoder != nil || side == "encoder" {
		names = []string{"max_target_positions", "max_positions"}
	}
	if side == "encoder" {
		names[0] = "max_source_positions"
	}
	for _, name := range names {
		if n, ok := d.set.number(name); ok && n > 0 {
			return n
		}
	}
	return 1024
}
