package fairseq

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"memsizer/format"
)

// average replaces every tensor by the mean over all checkpoints.
func (a *analysis) average(first *part, opts *Options) error {
	sources := make([][]source, len(a.tensors))
	for i := range a.tensors {
		sources[i] = []source{a.tensors[i].data}
	}
	for _, path := range opts.Average {
		p, err := a.open(path, opts, first.set)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		if what := difference(first, p); what != "" {
			a.report.Problems = append(a.report.Problems, fmt.Sprintf("%s cannot be averaged with %s: %s", name, filepath.Base(first.c.path), what))
			continue
		}
		for i := range p.tensors {
			sources[i] = append(sources[i], p.tensors[i].data)
		}
		a.report.Averaged = append(a.report.Averaged, path)
	}
	if len(a.report.Problems)+len(a.report.Unsupported) > 0 {
		return nil
	}
	for i := range a.tensors {
		a.tensors[i].data = mean(sources[i])
	}
	return nil
}

// difference says why a checkpoint is not one of the same model, "" if it is.
func difference(first, p *part) string {
	problems := slices.Concat(p.c.unsupported, p.d.unsupported, p.c.problems, p.st.problems, p.d.problems)
	switch {
	case len(p.c.names) == 0:
		return "no tensors are in the file"
	case len(problems) > 0:
		return strings.Join(problems, "; ")
	}
	if d := configDifference(&p.d.cfg, &first.d.cfg); d != "" {
		return "it is another model: " + d
	}
	if len(first.tensors) != len(p.tensors) {
		return fmt.Sprintf("%d tensors, want %d", len(p.tensors), len(first.tensors))
	}
	return ""
}

// configDifference names the settings in which two configurations differ.
func configDifference(got, want *format.Config) string {
	a, b := configValues(got), configValues(want)
	var diffs []string
	for _, m := range []map[string]string{a, b} {
		for k := range m {
			d := fmt.Sprintf("%s is %s, want %s", k, firstSet(a[k], "not set"), firstSet(b[k], "not set"))
			if a[k] != b[k] && !slices.Contains(diffs, d) {
				diffs = append(diffs, d)
			}
		}
	}
	sort.Strings(diffs)
	return strings.Join(diffs, ", ")
}

// configValues lists a configuration's values by their JSON path.
func configValues(cfg *format.Config) map[string]string {
	values := make(map[string]string)
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(strings.TrimPrefix(path+"."+k, "."), x)
			}
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s.%d", path, i), x)
			}
		default:
			values[path] = fmt.Sprint(v)
		}
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil // a configuration that was validated has a JSON form
	}
	var tree any
	if json.Unmarshal(text, &tree) == nil {
		walk("", tree)
	}
	return values
}
