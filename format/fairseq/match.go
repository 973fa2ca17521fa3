package fairseq

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// match finds a source for every tensor the configuration needs and accounts
// for every tensor of the file. It adds to the problems what is missing,
// misshapen, of a type that weights do not have, or unexpected.
func (d *derivation) match() []Tensor {
	if err := d.cfg.Validate(); err != nil {
		d.problem("%s", strings.TrimPrefix(err.Error(), "format: "))
		return nil
	}
	var tensors []Tensor
	var missing []listed
	for _, spec := range d.cfg.TensorSpecs() {
		from, ok := d.origins[spec.Name]
		if e := d.st.entries[spec.Name]; !ok && e != nil {
			from = origin{e.source, e.data}
			d.used[spec.Name] = true
		} else if !ok {
			from.name = spec.Name
		}
		switch {
		case from.data == nil:
			missing = append(missing, listed{from.name, fmt.Sprintf("%v", spec.Shape)})
			continue
		case !slices.Equal(from.data.shape(), spec.Shape):
			d.problem("tensor %q: shape %v, want %v", from.name, from.data.shape(), spec.Shape)
			continue
		case elementSize(from.data.dtype()) == 0:
			d.problem("tensor %q: elements are %s, want a floating-point type", from.name, from.data.dtype())
			continue
		}
		tensors = append(tensors, Tensor{Spec: spec, Source: from.name, SourceDType: from.data.dtype(), data: from.data})
	}
	d.problems = append(d.problems, grouped("missing tensor", ", want shape ", missing)...)
	var unexpected []listed
	for _, name := range d.st.names {
		if e := d.st.entries[name]; !d.used[name] {
			unexpected = append(unexpected, listed{e.source, fmt.Sprintf("%v", e.data.dims)})
		}
	}
	d.problems = append(d.problems, grouped("unexpected tensor", ", shape ", unexpected)...)
	return tensors
}

// listed is a tensor in a list of problems.
type listed struct{ name, shape string }

// groupFrom is the number of tensors from which a list is grouped.
const groupFrom = 12

// grouped gives one line per tensor, or in long lists one line per name with
// its layer number left open: the counts stay complete.
func grouped(what, joint string, list []listed) []string {
	var lines []string
	if len(list) < groupFrom {
		for _, l := range list {
			lines = append(lines, fmt.Sprintf("%s %q%s%s", what, l.name, joint, l.shape))
		}
		return lines
	}
	type group struct {
		layers []int
		plain  listed
	}
	groups := make(map[listed]*group)
	var order []listed
	for _, l := range list {
		key, layer := l, -1
		for _, side := range []string{"encoder", "decoder"} {
			if at := strings.Index(l.name, side+".layers."); at >= 0 {
				if n, tail, ok := layerOf(l.name[at:], side); ok {
					key.name, layer = l.name[:at]+side+".layers.N."+tail, n
				}
			}
		}
		if groups[key] == nil {
			groups[key] = &group{plain: l}
			order = append(order, key)
		}
		groups[key].layers = append(groups[key].layers, layer)
	}
	for _, key := range order {
		g := groups[key]
		if len(g.layers) == 1 {
			lines = append(lines, fmt.Sprintf("%s %q%s%s", what, g.plain.name, joint, g.plain.shape))
			continue
		}
		sort.Ints(g.layers)
		lines = append(lines, fmt.Sprintf("%d × %s %q, N = %s%s%s", len(g.layers), what, key.name, ranges(g.layers), joint, key.shape))
	}
	return append(lines, fmt.Sprintf("%d %ss in all", len(list), what))
}

// ranges writes sorted numbers as "0-5, 7".
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] <= n[j]+1 {
			j++
		}
		if n[i] == n[j] {
			parts = append(parts, fmt.Sprint(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
