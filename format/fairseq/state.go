package fairseq

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// entry is one tensor under the name that current fairseq gives it.
type entry struct {
	source string // its name in the checkpoint
	data   fileTensor
}

func (e *entry) is(rank int) bool { return e != nil && len(e.data.dims) == rank }

// state is a checkpoint's state dict with prefixes removed, old names renewed,
// buffers set aside and layers selected.
type state struct {
	entries map[string]*entry
	names   []string // of entries, in file order
	ignored []string // names in the checkpoint that carry no weights
	// under has every prefix of a name that ends in a dot.
	under map[string]bool
	// positionBuffer: the side's sinusoidal positions left their buffer.
	positionBuffer map[string]bool
	// versions of encoder and decoder, NaN where the buffer is missing.
	versions map[string]float64
	problems []string
	notes    []string
}

// wrappers are path components that training wrappers put into names.
var wrappers = regexp.MustCompile(`(^|\.)(_fsdp_wrapped_module|_checkpoint_wrapped_module|_fpw_module|_orig_mod)(\.|$)`)

// bareName removes what data-parallel and other wrappers put in front.
func bareName(name string) string {
	for {
		loc := wrappers.FindStringSubmatchIndex(name)
		if loc == nil {
			break
		}
		name = name[:loc[0]] + name[loc[2]:loc[3]] + name[loc[1]:]
	}
	for {
		rest, ok := strings.CutPrefix(name, "module.")
		if !ok {
			rest, ok = strings.CutPrefix(name, "model.")
		}
		if !ok {
			return name
		}
		name = rest
	}
}

// newState sorts out the names of a checkpoint.
func newState(c *checkpoint, set *settings) *state {
	st := &state{
		entries:        make(map[string]*entry),
		versions:       map[string]float64{"encoder": math.NaN(), "decoder": math.NaN()},
		positionBuffer: make(map[string]bool),
	}
	names := st.withoutAverages(c.names)
	for i, source := range c.names {
		t := c.tensors[source]
		name := names[i]
		if name == "" {
			st.ignored = append(st.ignored, source)
			continue
		}
		if st.setAside(name, source, t) {
			continue
		}
		st.addRenewed(name, source, t)
	}
	for _, side := range []string{"encoder", "decoder"} {
		if keep, ok := set.integers(side + "_layers_to_keep"); ok {
			st.keepLayers(side, keep)
		}
	}
	sort.Strings(st.ignored)
	st.under = make(map[string]bool)
	for _, name := range st.names {
		for i := range name {
			if name[i] == '.' {
				st.under[name[:i+1]] = true
			}
		}
	}
	return st
}

// averages begin the names of a moving average kept beside the weights.
var averages = []string{"ema.", "model_ema.", "ema_model.", "module_ema."}

// withoutAverages gives bare names, "" for the tensors of a moving average
// where the weights themselves are there too.
func (st *state) withoutAverages(sources []string) []string {
	names := make([]string, len(sources))
	average := make([]bool, len(sources))
	weights, averaged := false, false
	for i, source := range sources {
		names[i] = bareName(source)
		for _, prefix := range averages {
			if rest, ok := strings.CutPrefix(names[i], prefix); ok {
				names[i], average[i], averaged = bareName(rest), true, true
			}
		}
		weights = weights || !average[i] && strings.HasPrefix(names[i], "decoder.")
	}
	switch {
	case averaged && weights:
		st.note("the file has a moving average of the weights (EMA) too; the weights themselves are used")
		for i := range names {
			if average[i] {
				names[i] = ""
			}
		}
	case averaged:
		st.note("the weights are a moving average (EMA); the file has no others")
	}
	return names
}

// setAside handles buffers and heads that the model does not compute with.
func (st *state) setAside(name, source string, t fileTensor) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "version":
		side := strings.TrimSuffix(name, ".version")
		if _, ok := st.versions[side]; ok && count(t.dims) >= 1 {
			st.versions[side] = firstElement(t)
		}
	case last == "_float_tensor", strings.HasSuffix(name, ".embed_positions.weights"):
		if side, _, ok := strings.Cut(name, ".embed_positions."); ok {
			st.positionBuffer[side] = true
		}
	case strings.HasPrefix(name, "classification_heads."):
		st.note("classification heads are left out")
	default:
		return false
	}
	st.ignored = append(st.ignored, source)
	return true
}

func (st *state) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(st.notes, n) {
		st.notes = append(st.notes, n)
	}
}

func firstElement(t fileTensor) float64 {
	v := []float64{math.NaN()}
	if e, err := t.open(); err == nil {
		if e.read64(v) != nil {
			v[0] = math.NaN()
		}
	}
	return v[0]
}

var layerNorms = regexp.MustCompile(`^((encoder|decoder)\.layers\.\d+\.)layer_norms\.(\d)\.(weight|bias)$`)

// addRenewed adds a tensor under its current name; fused projections of old
// files become three.
func (st *state) addRenewed(name, source string, t fileTensor) {
	if m := layerNorms.FindStringSubmatch(name); m != nil {
		norms := map[string]string{"0": "self_attn_layer_norm", "1": "encoder_attn_layer_norm", "2": "final_layer_norm"}
		if m[2] == "encoder" {
			norms = map[string]string{"0": "self_attn_layer_norm", "1": "final_layer_norm"}
		}
		if norm, ok := norms[m[3]]; ok {
			name = m[1] + norm + "." + m[4]
		}
	}
	switch {
	case name == "decoder.embed_out", name == "decoder.embed_out.weight":
		name = "decoder.output_projection.weight"
	case strings.HasSuffix(name, ".in_proj_weight"):
		st.addThirds(strings.TrimSuffix(name, "in_proj_weight"), ".weight", source, t, 2)
		return
	case strings.HasSuffix(name, ".in_proj_bias"):
		st.addThirds(strings.TrimSuffix(name, "in_proj_bias"), ".bias", source, t, 1)
		return
	}
	for _, p := range []string{"q_proj", "k_proj", "v_proj"} {
		if prefix, ok := strings.CutSuffix(name, "."+p+"_weight"); ok {
			name = prefix + "." + p + ".weight"
		}
	}
	st.add(name, source, t)
}

// addThirds splits a fused [3·d, …] projection into q, k and v.
func (st *state) addThirds(prefix, kind, source string, t fileTensor, rank int) {
	if len(t.dims) != rank || t.dims[0]%3 != 0 || t.dims[0] == 0 {
		st.problems = append(st.problems, fmt.Sprintf("tensor %q: shape %v, want the rows of three projections", source, t.dims))
		return
	}
	d := t.dims[0] / 3
	for i, p := range []string{"q_proj", "k_proj", "v_proj"} {
		st.add(prefix+p+kind, fmt.Sprintf("%s[%d:%d]", source, i*d, (i+1)*d), t.rows(i*d, (i+1)*d))
	}
}

func (st *state) add(name, source string, t fileTensor) {
	if old := st.entries[name]; old != nil {
		if same, err := sameBytes(old.data, t); err != nil || !same {
			st.problems = append(st.problems, fmt.Sprintf("tensors %q and %q are both %q and differ", old.source, source, name))
		}
		return
	}
	st.entries[name] = &entry{source, t}
	st.names = append(st.names, name)
}

// layerOf splits "decoder.layers.3.fc1.weight" into 3 and "fc1.weight".
func layerOf(name, side string) (int, string, bool) {
	rest, ok := strings.CutPrefix(name, side+".layers.")
	if !ok {
		return 0, "", false
	}
	number, tail, ok := strings.Cut(rest, ".")
	if !ok || number != "0" && strings.HasPrefix(number, "0") {
		return 0, "", false
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return 0, "", false
	}
	return int(n), tail, true
}

// layers is one more than the highest layer number of a side.
func (st *state) layers(side string) int {
	n := 0
	for _, name := range st.names {
		if i, _, ok := layerOf(name, side); ok {
			n = max(n, i+1)
		}
	}
	return n
}

// keepLayers selects and renumbers layers as --…-layers-to-keep asks.
func (st *state) keepLayers(side string, keep []int) {
	keep = slices.Clone(keep)
	slices.Sort(keep)
	keep = slices.Compact(keep)
	have := st.layers(side)
	setting := side + "_layers_to_keep"
	if len(keep) == have && keep[len(keep)-1] >= have {
		st.note("%s is %v and the file has %d layers: they were selected already", setting, keep, have)
		return
	}
	if keep[0] < 0 || keep[len(keep)-1] >= have {
		st.problems = append(st.problems, fmt.Sprintf("setting %q is %v, but the file has layers 0 to %d", setting, keep, have-1))
		return
	}
	if len(keep) == have {
		return
	}
	entries, names := make(map[string]*entry), []string(nil)
	for _, name := range st.names {
		e := st.entries[name]
		if i, tail, ok := layerOf(name, side); ok {
			at, kept := slices.BinarySearch(keep, i)
			if !kept {
				st.ignored = append(st.ignored, e.source)
				continue
			}
			name = fmt.Sprintf("%s.layers.%d.%s", side, at, tail)
		}
		entries[name] = e
		names = append(names, name)
	}
	st.entries, st.names = entries, names
	st.note("%s keeps layers %v of %d, renumbered", setting, keep, have)
}
