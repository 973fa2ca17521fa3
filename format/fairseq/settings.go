package fairseq

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// settings are a checkpoint's hyper-parameters under the names of fairseq's
// args, whatever form they were saved in.
type settings struct {
	origin string // for Report.Settings
	// layers are searched in order: an args file, args, cfg.model, cfg.task, ….
	layers []map[string]any
	// groups are cfg.bpe and cfg.tokenizer, where they are.
	groups              map[string]map[string]any
	modelName, taskName string // cfg.model._name, cfg.task._name
	// plainConfig: a cfg that was saved as a plain dict, as fairseq does since
	// March 2021; from then on transformer_lm takes decoder_normalize_before
	// from it and no longer forces it.
	plainConfig bool
	// wrong are values of a type that the setting cannot have.
	wrong []string
}

// empty reports whether nothing at all was found.
func (s *settings) empty() bool {
	for _, l := range s.layers {
		if len(l) > 0 {
			return false
		}
	}
	return true
}

// addArgs adds a flat args dictionary.
func (s *settings) addArgs(args map[string]any) {
	s.layers = append(s.layers, flatten(args))
}

// addConfig adds a cfg tree: its sections are searched in the order in which
// fairseq's own code would find a name.
func (s *settings) addConfig(cfg map[string]any) {
	for _, section := range []string{"model", "task", "common", "distributed_training", "dataset", "checkpoint"} {
		if m, ok := cfg[section].(map[string]any); ok {
			m = resolved(m, cfg)
			s.layers = append(s.layers, flatten(m))
			name, _ := m["_name"].(string)
			if section == "model" && s.modelName == "" {
				s.modelName = name
			}
			if section == "task" && s.taskName == "" {
				s.taskName = name
			}
		}
	}
	for _, group := range []string{"bpe", "tokenizer"} {
		switch m := cfg[group].(type) {
		case map[string]any:
			s.addGroup(group, resolved(m, cfg))
		case string:
			s.addGroup(group, map[string]any{"_name": m})
		}
	}
}

func (s *settings) addGroup(name string, m map[string]any) {
	if s.groups == nil {
		s.groups = make(map[string]map[string]any)
	}
	if s.groups[name] == nil {
		s.groups[name] = m
	}
}

// addTree adds what an args file or a config value holds: flat args, a cfg, or
// either of them under its name.
func (s *settings) addTree(m map[string]any) {
	for _, name := range []string{"args", "cfg"} {
		if inner, ok := m[name].(map[string]any); ok {
			s.addTree(inner)
			return
		}
	}
	if _, ok := m["model"].(map[string]any); ok {
		s.addConfig(m)
		return
	}
	s.addArgs(m)
}

// flatten gives nested model configurations (encoder.embed_dim) the names of
// flat args (encoder_embed_dim).
func flatten(m map[string]any) map[string]any {
	flat := make(map[string]any, len(m))
	for k, v := range m {
		if nested, ok := v.(map[string]any); ok && (k == "encoder" || k == "decoder" || k == "quant_noise") {
			for kk, vv := range nested {
				if _, taken := m[k+"_"+kk]; !taken {
					flat[k+"_"+kk] = vv
				}
			}
			continue
		}
		flat[k] = v
	}
	return flat
}

// resolved replaces omegaconf's "${section.name}" by what it refers to and
// drops "???", its mark of a missing value.
func resolved(m, root map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		for range 8 {
			ref, ok := v.(string)
			if !ok || !strings.HasPrefix(ref, "${") || !strings.HasSuffix(ref, "}") {
				break
			}
			v = walk(root, strings.Split(ref[2:len(ref)-1], "."))
		}
		switch t := v.(type) {
		case string:
			if t == "???" || strings.HasPrefix(t, "${") {
				continue
			}
		case map[string]any:
			v = resolved(t, root)
		}
		out[k] = v
	}
	return out
}

func walk(root map[string]any, path []string) any {
	var v any = root
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// lookup is the value of a setting, and whether it is there at all (it may be
// there as nil, Python's None).
func (s *settings) lookup(name string) (any, bool) {
	for _, l := range s.layers {
		if v, ok := l[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *settings) mistyped(name string, v any, want string) {
	s.wrong = append(s.wrong, fmt.Sprintf("setting %q is %#v, want %s", name, v, want))
}

// flag is a boolean setting; set tells whether the checkpoint has it. None is
// false, as in Python.
func (s *settings) flag(name string) (value, set bool) {
	v, ok := s.lookup(name)
	if !ok {
		return false, false
	}
	switch v := v.(type) {
	case nil:
		return false, true
	case bool:
		return v, true
	case int64:
		return v != 0, true
	case string:
		switch strings.ToLower(v) {
		case "true", "1", "yes":
			return true, true
		case "false", "0", "no", "", "none":
			return false, true
		}
	}
	s.mistyped(name, v, "a boolean")
	return false, false
}

// number is an integer setting; None counts as not set.
func (s *settings) number(name string) (value int, set bool) {
	v, ok := s.lookup(name)
	if !ok || v == nil {
		return 0, false
	}
	switch v := v.(type) {
	case int64:
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			return int(v), true
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32 {
			return int(v), true
		}
	case string:
		if n, err := strconv.ParseInt(v, 10, 32); err == nil {
			return int(n), true
		}
	}
	s.mistyped(name, v, "an integer")
	return 0, false
}

// text is a string setting; None and the empty string count as not set.
func (s *settings) text(name string) (value string, set bool) {
	v, ok := s.lookup(name)
	if !ok || v == nil {
		return "", false
	}
	t, ok := v.(string)
	if !ok {
		s.mistyped(name, v, "a string")
		return "", false
	}
	return t, t != ""
}

// integers is a list of numbers: a list, or a string such as "0,2,4" or "[0, 2]".
func (s *settings) integers(name string) (value []int, set bool) {
	v, ok := s.lookup(name)
	if !ok || v == nil || v == "" {
		return nil, false
	}
	switch v := v.(type) {
	case int64:
		return []int{int(v)}, true
	case []any:
		for _, item := range v {
			n, ok := item.(int64)
			if !ok {
				s.mistyped(name, v, "a list of integers")
				return nil, false
			}
			value = append(value, int(n))
		}
		return value, len(value) > 0
	case string:
		for _, word := range strings.Split(strings.Trim(v, "[]() "), ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil {
				s.mistyped(name, v, "a list of integers")
				return nil, false
			}
			value = append(value, n)
		}
		return value, true
	}
	s.mistyped(name, v, "a list of integers")
	return nil, false
}

// architecture is fairseq's name of it: "arch", or the model's "_name".
func (s *settings) architecture() string {
	if v, ok := s.text("arch"); ok {
		return v
	}
	return s.modelName
}

// task is fairseq's name of the task, "translation" for files too old to say.
func (s *settings) task() string {
	if v, ok := s.lookup("task"); ok {
		if t, ok := v.(string); ok && t != "" {
			return t
		}
	}
	return s.taskName
}

// reported are the settings worth showing to people, in alphabetical order.
func (s *settings) reported() []Setting {
	var out []Setting
	for _, name := range shownSettings {
		v, ok := s.lookup(name)
		switch {
		case !ok:
		case v == nil:
			out = append(out, Setting{name, "None"})
		default:
			out = append(out, Setting{name, fmt.Sprint(v)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

var shownSettings = []string{
	"arch", "task", "source_lang", "target_lang", "activation_fn",
	"encoder_layers", "encoder_embed_dim", "encoder_ffn_embed_dim", "encoder_attention_heads",
	"encoder_normalize_before", "encoder_learned_pos", "encoder_layers_to_keep",
	"decoder_layers", "decoder_embed_dim", "decoder_ffn_embed_dim", "decoder_attention_heads",
	"decoder_normalize_before", "decoder_learned_pos", "decoder_layers_to_keep",
	"decoder_input_dim", "decoder_output_dim", "no_decoder_final_norm",
	"share_all_embeddings", "share_decoder_input_output_embed", "no_scale_embedding",
	"layernorm_embedding", "no_token_positional_embeddings",
	"max_source_positions", "max_target_positions", "tokens_per_sample",
	"adaptive_input", "adaptive_input_cutoff", "adaptive_input_factor",
	"adaptive_softmax_cutoff", "adaptive_softmax_factor", "tie_adaptive_weights", "tie_adaptive_proj",
	"use_memsizer", "encoder_use_memsizer", "decoder_use_memsizer", "causal_proj_dim", "cross_proj_dim",
	"tokenizer", "bpe", "bpe_codes", "sentencepiece_model", "moses_no_dash_splits", "moses_no_escape",
}
