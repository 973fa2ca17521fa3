package fairseq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"memsizer/format/pytorch"
	"memsizer/format/safetensors"
)

// checkpoint is an opened file: named tensors and whatever settings it has.
type checkpoint struct {
	path      string
	container string
	names     []string // of tensors, in file order
	tensors   map[string]fileTensor
	settings  settings
	version   string // a guess at fairseq's
	updates   int64
	epoch     int64
	notes     []string
	// skipped are entries of the state dict that are not tensors.
	skipped []string
	// problems are tensors that cannot be read; unsupported is what the
	// container shows: shards, ensembles.
	problems, unsupported []string
	close                 func() error
}

// openCheckpoint opens a file by what is in it, not by its name.
func openCheckpoint(path string) (*checkpoint, error) {
	kind, err := sniff(path)
	if err != nil {
		return nil, err
	}
	c := &checkpoint{path: path, tensors: make(map[string]fileTensor)}
	if kind == "safetensors" {
		return c, c.openSafetensors()
	}
	return c, c.openPyTorch()
}

// sniff tells a safetensors header (a length, then JSON) from anything else,
// which is left to the PyTorch reader to accept or explain.
func sniff(path string) (string, error) {
	info, err := os.Stat(path) // before opening it, as a pipe would wait for its other end
	switch {
	case err != nil:
		if parts := strings.Split(path, ":"); errors.Is(err, os.ErrNotExist) && len(parts) > 1 && exists(parts[0]) {
			return "", fmt.Errorf("fairseq: %q names several checkpoints; ensembles are not supported, give one (or average them with --average)", path)
		}
		return "", fmt.Errorf("fairseq: %w", err)
	case info.IsDir():
		return "", fmt.Errorf("fairseq: %q is a folder, want a checkpoint file", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("fairseq: %q is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("fairseq: %w", err)
	}
	defer f.Close()
	var head [9]byte
	if _, err := io.ReadFull(f, head[:]); err == nil {
		n := binary.LittleEndian.Uint64(head[:8])
		if head[8] == '{' && n < uint64(info.Size()) {
			return "safetensors", nil
		}
	}
	return "pytorch", nil
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (c *checkpoint) openSafetensors() error {
	f, err := safetensors.Open(c.path)
	if err != nil {
		return fmt.Errorf("fairseq: %w", err)
	}
	c.container, c.close = "safetensors", f.Close
	for _, t := range f.Tensors() {
		c.addTensor(t.Name, fromSafetensors(t))
	}
	meta := f.Metadata()
	// safetensors' own save_model drops tensors that share memory and says in
	// the metadata which one holds them.
	for name, kept := range meta {
		if t, ok := c.tensors[kept]; ok && c.tensors[name].bytes == nil {
			c.addTensor(name, t)
		}
	}
	for _, key := range []string{"args", "cfg", "config", "fairseq_args", "fairseq"} {
		if m, err := parseArgs([]byte(meta[key])); err == nil {
			c.settings.addTree(m)
			c.settings.plainConfig = true
			c.settings.origin = fmt.Sprintf("safetensors metadata %q", key)
			return nil
		}
	}
	return nil
}

func (c *checkpoint) openPyTorch() error {
	f, err := pytorch.Open(c.path)
	if err != nil {
		return fmt.Errorf("fairseq: %w", err)
	}
	c.container, c.close = "pytorch "+f.Container(), f.Close
	switch root := f.Root().(type) {
	case *pytorch.Dict:
		c.readRoot(root)
	case *pytorch.Object:
		if isModule(root) {
			c.addModule(root, "", 0)
			c.moduleSettings(root)
		} else {
			c.readRoot(dictOf(root))
		}
	case *pytorch.List, *pytorch.Tuple:
		c.unsupported = append(c.unsupported, "the file holds a list, perhaps an ensemble of several models; give one model (or average them with --average)")
	default:
		c.unsupported = append(c.unsupported, fmt.Sprintf("the file holds %s, want a fairseq checkpoint or a state dict", kindOf(root)))
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case *pytorch.Tensor:
		return "one tensor"
	case *pytorch.Object:
		return fmt.Sprintf("an object of %s", v)
	}
	return fmt.Sprintf("a value of type %T", v)
}

// dictOf is the dictionary in v: v itself, or the entries of a subclass of dict.
func dictOf(v any) *pytorch.Dict {
	switch v := v.(type) {
	case *pytorch.Dict:
		return v
	case *pytorch.Object:
		if v.Entries.Len() > 0 {
			return v.Entries
		}
		if !isModule(v) {
			return v.Dict
		}
	}
	return nil
}

// modelKeys are where checkpoints keep the weights, fairseq's first.
var modelKeys = []string{"model", "state_dict", "model_state_dict", "model_state", "weights", "net", "module", "params"}

func (c *checkpoint) readRoot(root *pytorch.Dict) {
	c.readProgress(root)
	c.readShards(root)
	c.readSettings(root)
	for _, key := range append(modelKeys, "ema", "model_ema", "ema_state_dict", "ema_model") {
		v, ok := root.Get(key)
		if !ok || v == nil {
			continue
		}
		if _, list := v.(*pytorch.List); list {
			c.unsupported = append(c.unsupported, fmt.Sprintf("%q is a list: an ensemble of several models; give one model (or average them with --average)", key))
			return
		}
		if o, ok := v.(*pytorch.Object); ok && isModule(o) {
			c.addModule(o, "", 0)
			c.moduleSettings(o)
		} else {
			c.addState(dictOf(v), "", 0)
		}
		if len(c.tensors) > 0 {
			if strings.Contains(key, "ema") {
				c.notes = append(c.notes, fmt.Sprintf("the weights are the moving average (EMA) under %q; the file has no others", key))
			}
			return
		}
	}
	if v, ok := root.Get("models"); ok && v != nil {
		c.unsupported = append(c.unsupported, "\"models\": an ensemble of several models; give one model (or average them with --average)")
		return
	}
	c.addState(root, "", 0)
}

// addState adds the tensors of a state dict, also of dictionaries inside it.
func (c *checkpoint) addState(d *pytorch.Dict, prefix string, depth int) {
	for i := 0; i < d.Len(); i++ {
		k, v := d.At(i)
		name, ok := k.(string)
		if !ok {
			continue
		}
		name = prefix + name
		switch v := v.(type) {
		case *pytorch.Tensor:
			c.addTensor(name, fromPyTorch(v))
		case *pytorch.Object:
			if v.Note != "" {
				c.problems = append(c.problems, fmt.Sprintf("tensor %q: %s", name, v.Note))
			} else if depth > 0 || !isTopLevelKey(name) {
				c.skipped = append(c.skipped, name)
			}
		case *pytorch.Dict:
			if depth < 3 && (depth > 0 || !isTopLevelKey(name)) {
				c.addState(v, name+".", depth+1)
			}
		default:
			if depth > 0 || !isTopLevelKey(name) {
				c.skipped = append(c.skipped, name)
			}
		}
	}
}

// isTopLevelKey: what fairseq stores beside the weights.
func isTopLevelKey(name string) bool {
	switch name {
	case "args", "cfg", "config", "optimizer", "optimizer_history", "last_optimizer_state", "extra_state", "task_state",
		"criterion", "epoch", "batch_offset", "val_loss", "best_loss", "hparams", "hyper_parameters", "callbacks",
		"lr_schedulers", "optimizer_states", "global_step", "pytorch-lightning_version", "fsdp_metadata", "shard_metadata":
		return true
	}
	return false
}

func (c *checkpoint) addTensor(name string, t fileTensor) {
	if n := count(t.dims); n > t.stored {
		c.problems = append(c.problems, fmt.Sprintf("tensor %q: shape %v repeats %d stored elements", name, t.dims, t.stored))
		return
	}
	if _, twice := c.tensors[name]; !twice {
		c.names = append(c.names, name)
	}
	c.tensors[name] = t
}

// readProgress finds how long the model was trained.
func (c *checkpoint) readProgress(root *pytorch.Dict) {
	if v, _ := root.Get("optimizer_history"); v != nil {
		if l, ok := v.(*pytorch.List); ok && len(l.Items) > 0 {
			c.updates, _ = lookupInt(l.Items[len(l.Items)-1], "num_updates")
		}
	}
	extra, _ := root.Get("extra_state")
	d := dictOf(extra)
	iterator, _ := d.Get("train_iterator")
	var ok bool
	if c.epoch, ok = lookupInt(iterator, "epoch"); !ok {
		c.epoch, _ = lookupInt(extra, "epoch")
	}
	for _, key := range []string{"ema", "ema_fp32_params"} {
		if v, ok := d.Get(key); ok && v != nil {
			c.notes = append(c.notes, fmt.Sprintf("extra_state has a moving average of the weights (%q); the weights under \"model\" are used, as fairseq does", key))
		}
	}
}

func lookupInt(v any, key string) (int64, bool) {
	x, _ := dictOf(v).Get(key)
	n, ok := x.(int64)
	return n, ok
}

// readShards recognises files that hold only a part of a model.
func (c *checkpoint) readShards(root *pytorch.Dict) {
	for _, key := range []string{"fsdp_metadata", "shard_metadata"} {
		if v, ok := root.Get(key); ok && v != nil {
			c.unsupported = append(c.unsupported, fmt.Sprintf(
				"%q: one shard of a fully sharded (FSDP) checkpoint; consolidate the shards first (fairseq/scripts/consolidate_fsdp_shards.py)", key))
		}
	}
}

// readSettings takes args, cfg or what other trainers call them.
func (c *checkpoint) readSettings(root *pytorch.Dict) {
	var origins []string
	if v, _ := root.Get("args"); v != nil {
		if m, ok := plainValue(v).(map[string]any); ok && len(m) > 0 {
			c.settings.addArgs(m)
			origins = append(origins, "args"+form(v))
			c.version = "0.6 to 0.10"
			if _, ok := m["batch_size"]; ok {
				c.version = "0.10"
			} else if _, ok := m["max_sentences"]; ok {
				c.version = "0.6 to 0.9"
			}
		}
	}
	if v, _ := root.Get("cfg"); v != nil {
		if m, ok := plainValue(v).(map[string]any); ok && len(m) > 0 {
			c.settings.addTree(m)
			origin := "cfg" + form(v)
			if d, ok := v.(*pytorch.Dict); ok {
				model, _ := d.Get("model")
				origin += ", model" + form(model)
				c.settings.plainConfig = len(origins) == 0
				c.version = "0.12 (or 2021 master)"
			} else {
				c.version = "0.11 development (late 2020 to early 2021)"
			}
			origins = append(origins, origin)
		}
	}
	for _, key := range []string{"config", "hyper_parameters", "hparams"} {
		v, _ := root.Get(key)
		if m, ok := plainValue(v).(map[string]any); ok && len(m) > 0 && len(origins) == 0 {
			c.settings.addTree(m)
			origins = append(origins, key+form(v))
		}
	}
	c.settings.origin = strings.Join(origins, " and ")
}

// form says in brackets how a configuration was saved.
func form(v any) string {
	switch v := v.(type) {
	case *pytorch.Dict:
		return " (dict)"
	case *pytorch.Object:
		if strings.HasPrefix(v.Module, "omegaconf") {
			return " (omegaconf)"
		}
		return " (" + v.Name + ")"
	}
	return ""
}
