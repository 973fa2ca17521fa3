package fairseq

import (
	"fmt"

	"memsizer/format/pytorch"
)

// isModule: a torch.nn.Module that was pickled whole.
func isModule(o *pytorch.Object) bool {
	_, parameters := o.Attr("_parameters")
	_, modules := o.Attr("_modules")
	return parameters && modules
}

// addModule gives a pickled module's tensors the names they would have in its
// state dict.
func (c *checkpoint) addModule(o *pytorch.Object, prefix string, depth int) {
	if depth > maxValueDepth {
		return
	}
	skip, _ := o.Attr("_non_persistent_buffers_set")
	for _, part := range []string{"_parameters", "_buffers"} {
		v, _ := o.Attr(part)
		d := dictOf(v)
		for i := 0; i < d.Len(); i++ {
			k, v := d.At(i)
			name, named := k.(string)
			t, ok := v.(*pytorch.Tensor)
			if named && ok && !contains(skip, name) {
				c.addTensor(prefix+name, fromPyTorch(t))
			}
		}
	}
	v, _ := o.Attr("_modules")
	d := dictOf(v)
	for i := 0; i < d.Len(); i++ {
		k, v := d.At(i)
		name, named := k.(string)
		if child, ok := v.(*pytorch.Object); named && ok && isModule(child) {
			c.addModule(child, prefix+name+".", depth+1)
		}
	}
}

func contains(set any, name string) bool {
	s, ok := set.(*pytorch.Set)
	if !ok {
		return false
	}
	for _, v := range s.Items {
		if v == name {
			return true
		}
	}
	return false
}

func (c *checkpoint) moduleSettings(o *pytorch.Object) {
	for _, name := range []string{"args", "cfg"} {
		v, ok := o.Attr(name)
		if m, isMap := plainValue(v).(map[string]any); ok && isMap && c.settings.empty() {
			c.settings.addArgs(m)
			c.settings.origin = fmt.Sprintf("%q of the pickled module", name)
		}
	}
}
