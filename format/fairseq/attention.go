package fairseq

import (
	"fmt"
	"strings"

	"memsizer/format"
)

// attention derives one attention of every layer of a side. Its tensors say
// which kind it is: k_layer_norm belongs to MemSizer, out_proj to softmax.
func (d *derivation) attention(side, which string, sourceDim int) format.Attention {
	layers := d.st.layers(side)
	a := format.Attention{Kind: d.attentionKind(side, which, layers), SourceDim: sourceDim}
	p := which + "."
	if a.Kind == format.Softmax {
		a.Heads = d.softmaxHeads(side)
		return a
	}
	a.Slots = d.perLayer(side, layers, []axis{
		{p + "k_layer_norm.weight", 1, 0}, {p + "k_layer_norm.bias", 1, 0},
		{p + "k_proj.weight", 2, 0}, {p + "k_proj.bias", 1, 0},
	}).winner()
	rows := d.perLayer(side, layers, []axis{{p + "q_proj.weight", 2, 0}, {p + "q_proj.bias", 1, 0}}).winner()
	switch {
	case a.Slots == 0 || rows == 0:
		a.Heads, _ = d.set.number(side + "_attention_heads")
		if a.Heads == 0 {
			a.Heads = 1
		}
	case rows%a.Slots != 0:
		d.problem("%s %s: q_proj has %d rows, want a multiple of the %d memory slots", side, which, rows, a.Slots)
		a.Heads = 1
	default:
		a.Heads = rows / a.Slots
	}
	d.compareSlots(side, which, a)
	return a
}

// compareSlots tells where the settings say otherwise than the tensors, which
// is usual: they carry the flags' defaults.
func (d *derivation) compareSlots(side, which string, a format.Attention) {
	setting := "cross_proj_dim"
	if side == "decoder" && which == "self_attn" {
		setting = "causal_proj_dim"
	}
	if k, ok := d.set.number(setting); ok && k != a.Slots {
		d.note("%s %s has %d memory slots, whatever %q = %d says", side, which, a.Slots, setting, k)
	}
	if h, ok := d.set.number(side + "_attention_heads"); ok && h != a.Heads {
		d.note("%s %s has %d heads, whatever %q = %d says", side, which, a.Heads, side+"_attention_heads", h)
	}
}

func (d *derivation) attentionKind(side, which string, layers int) string {
	var memsizer, softmax, both []int
	for i := range layers {
		p := fmt.Sprintf("%s.layers.%d.%s.", side, i, which)
		m, s := d.hasPrefix(p+"k_layer_norm."), d.hasPrefix(p+"out_proj.")
		switch {
		case m && s:
			both = append(both, i)
		case m:
			memsizer = append(memsizer, i)
		case s:
			softmax = append(softmax, i)
		}
	}
	if len(both) > 0 {
		d.unsupported = append(d.unsupported, fmt.Sprintf("%s layers %v have both k_layer_norm (MemSizer) and out_proj (softmax) in %s", side, both, which))
	}
	if len(memsizer) > 0 && len(softmax) > 0 {
		d.unsupported = append(d.unsupported, fmt.Sprintf("%s %s is MemSizer in layers %v and softmax in layers %v; all layers of a stack must be of one kind", side, which, memsizer, softmax))
	}
	if len(memsizer) >= len(softmax) && len(memsizer) > 0 {
		return format.MemSizer
	}
	return format.Softmax
}

// softmaxHeads come from the settings: tensors cannot tell.
func (d *derivation) softmaxHeads(side string) int {
	setting := side + "_attention_heads"
	if h, ok := d.set.number(setting); ok && h > 0 {
		return h
	}
	h := d.arch.decoderHeads
	if side == "encoder" {
		h = d.arch.encoderHeads
	}
	if !d.arch.known {
		problem := fmt.Sprintf("setting %q is needed for softmax attention and not in the file; give it with --args", setting)
		if !containsString(d.problems, problem) {
			d.problem("%s", problem)
		}
		return 1
	}
	d.note("no setting %q: %d, the default of %s", setting, h, d.arch.name)
	return h
}

func containsString(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// refuse finds what makes a model one that is not supported: its name, its
// task, tensors of modules we do not have, settings that change the arithmetic.
func (d *derivation) refuse() {
	refuse := func(what string) {
		if what != "" && !containsString(d.unsupported, what) {
			d.unsupported = append(d.unsupported, what)
		}
	}
	refuse(d.randomFeatures())
	refuse(refusedArchitecture(d.set.architecture()))
	if task := d.set.task(); refusedTasks[task] != "" {
		refuse(fmt.Sprintf("task %q: %s", task, refusedTasks[task]))
	}
	d.refuseTensors()
	if v, ok := d.set.flag("character_embeddings"); ok && v {
		refuse("character embeddings (setting \"character_embeddings\")")
	}
	if d.hasPrefix("encoder.") && d.hasPrefix("decoder.layers.") {
		if v, ok := d.set.flag("cross_self_attention"); ok && v {
			refuse("cross+self-attention (setting \"cross_self_attention\")")
		}
		if v, ok := d.set.flag("no_cross_attention"); ok && v && !d.anyCross() {
			refuse("a decoder without cross-attention (setting \"no_cross_attention\")")
		}
	}
	for _, side := range []string{"encoder", "decoder"} {
		if v, ok := d.set.text(side + "_xformers_att_config"); ok {
			refuse(fmt.Sprintf("xFormers attention (setting %q is %q)", side+"_xformers_att_config", v))
		}
	}
	if v, ok := d.set.number("model_parallel_size"); ok && v > 1 {
		refuse(fmt.Sprintf("a part of a model that is split over %d devices (setting \"model_parallel_size\")", v))
	}
	if v, ok := d.set.number("output_dictionary_size"); ok && v > 0 {
		refuse(fmt.Sprintf("an output vocabulary cut to %d words (setting \"output_dictionary_size\")", v))
	}
}

func (d *derivation) anyCross() bool {
	for _, name := range d.st.names {
		if _, tail, ok := layerOf(name, "decoder"); ok && strings.HasPrefix(tail, "encoder_attn") {
			return true
		}
	}
	return false
}

// randomFeatures recognises the models that MemSizer is compared with.
func (d *derivation) randomFeatures() string {
	kind, _ := d.set.text("random_feature")
	if on, _ := d.set.flag("use_rfa"); on {
		switch {
		case kind == "rrf" || d.has("decoder.random_matrices_eval"):
			return "RFA (random feature attention; settings \"use_rfa\", \"random_feature\")"
		case strings.HasPrefix(kind, "mlp") || kind == "":
			return fmt.Sprintf("T2R attention (settings \"use_rfa\", \"random_feature\" = %q)", kind)
		case strings.Contains(kind, "elu"):
			return "ELU linear attention (setting \"random_feature\")"
		}
		return fmt.Sprintf("linear attention with random_feature = %q (setting \"use_rfa\")", kind)
	}
	for _, name := range d.st.names {
		last := name[strings.LastIndexByte(name, '.')+1:]
		switch {
		case last == "random_matrices_eval" || last == "random_matrices":
			return fmt.Sprintf("RFA (random feature attention; tensor %q)", name)
		case last == "projection_matrix":
			return fmt.Sprintf("Performer (FAVOR+) attention (tensor %q)", name)
		case last == "tau" || last == "sigma" || strings.Contains(name, ".g_proj."),
			strings.Contains(name, ".fc3.") || strings.Contains(name, ".fc4."):
			if strings.HasPrefix(name, "decoder.layers.") || strings.HasPrefix(name, "encoder.layers.") {
				return fmt.Sprintf("T2R or RFA attention (tensor %q)", name)
			}
		}
	}
	for _, setting := range []string{"attention_type", "feature_map", "attn_type", "attention_kind"} {
		if v, ok := d.set.lookup(setting); ok {
			t, _ := v.(string)
			switch lower := strings.ToLower(t); {
			case strings.Contains(lower, "elu"), lower == "linear":
				return fmt.Sprintf("ELU linear attention (setting %q is %q)", setting, t)
			case strings.Contains(lower, "performer"), strings.Contains(lower, "favor"):
				return fmt.Sprintf("Performer (FAVOR+) attention (setting %q is %q)", setting, t)
			}
		}
	}
	return ""
}

// refusedParts are name components of modules that change what is computed.
var refusedParts = []struct{ part, what string }{
	{".attn_ln.", "NormFormer's attention norm"},
	{".c_attn", "NormFormer's head scale"},
	{".w_resid", "NormFormer's residual scale"},
	{".ffn_layernorm.", "NormFormer's feed-forward norm"},
	{".bias_k", "learned key bias"},
	{".bias_v", "learned value bias"},
	{".expert_network.", "mixture-of-experts (BASE) layers"},
	{".expert_centroids", "mixture-of-experts (BASE) layers"},
	{".moe_layer.", "mixture-of-experts layers"},
	{".experts.", "mixture-of-experts layers"},
	{".centroids", "product-quantised weights (quant-noise PQ)"},
	{".assignments", "product-quantised weights (quant-noise PQ)"},
	{".quant_noise.", "the quantisation-noise layer after the embedding (quant-noise PQ)"},
	{".embed_tokens.convolutions.", "character embeddings"},
	{".embed_tokens.char_embeddings.", "character embeddings"},
	{".embed_tokens.highway.", "character embeddings"},
	{".char_embeddings.", "character embeddings"},
	{".adapters.", "adapter layers"},
	{".adapter_", "adapter layers"},
	{"flat_param", "one shard of a fully sharded (FSDP) checkpoint"},
	{".partitions.", "a model that is split over devices (pipeline parallel)"},
	{".relative_position", "relative positions"},
	{".rel_pos", "relative positions"},
	{".lang_embed", "language embeddings"},
	{".weight_g", "weight normalisation"},
	{".weight_orig", "spectral normalisation or pruning"},
	{".zero_point", "quantised weights"},
}

// refuseTensors finds tensors of modules that are not supported, and names the
// first of each kind.
func (d *derivation) refuseTensors() {
	type find struct {
		first string
		count int
	}
	found := make(map[string]*find)
	var order []string
	for _, name := range d.st.names {
		what := refusedTensor(name)
		if what == "" {
			continue
		}
		if found[what] == nil {
			found[what] = &find{first: d.st.entries[name].source}
			order = append(order, what)
		}
		found[what].count++
	}
	for _, what := range order {
		f := found[what]
		s := fmt.Sprintf("%s (tensor %q", what, f.first)
		if f.count > 1 {
			s += fmt.Sprintf(" and %d more", f.count-1)
		}
		d.unsupported = append(d.unsupported, s+")")
	}
}

// refusedTensor says what module of an unsupported kind a tensor belongs to.
func refusedTensor(name string) string {
	if strings.HasPrefix(name, "models.") {
		key := strings.Split(name, ".")[1]
		if key != "" && strings.Trim(key, "0123456789") == "" {
			return "an ensemble of several models: give one model, or average them with --average"
		}
		return "a multilingual model: encoders or decoders per language"
	}
	for _, p := range refusedParts {
		if strings.Contains("."+name, p.part) {
			return p.what
		}
	}
	return ""
}
