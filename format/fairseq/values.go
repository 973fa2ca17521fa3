package fairseq

import (
	"fmt"
	"math/big"
	"strings"

	"memsizer/format/pytorch"
)

// Limits on what is taken from a pickle's settings: real ones have a few
// hundred values, three or four levels deep.
const (
	maxValueDepth = 16
	maxValues     = 1 << 16
)

// plainValue turns a pickled value into nil, bool, int64, float64, string,
// []any or map[string]any. What has no such form (tensors, classes) is nil.
// It understands argparse.Namespace, omegaconf's containers and nodes,
// enumerations, and objects that are only attributes.
func plainValue(v any) any {
	p := plainer{left: maxValues}
	return p.value(v, 0)
}

type plainer struct{ left int }

func (p *plainer) value(v any, depth int) any {
	p.left--
	if depth > maxValueDepth || p.left < 0 {
		return nil
	}
	switch v := v.(type) {
	case bool, int64, float64, string:
		return v
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f
	case []byte:
		return string(v)
	case *pytorch.List:
		return p.list(v.Items, depth)
	case *pytorch.Tuple:
		return p.list(v.Items, depth)
	case *pytorch.Set:
		return p.list(v.Items, depth)
	case *pytorch.Dict:
		return p.dict(v, depth)
	case *pytorch.Object:
		return p.object(v, depth)
	}
	return nil
}

func (p *plainer) list(items []any, depth int) any {
	l := make([]any, 0, min(len(items), maxValues))
	for _, v := range items {
		if p.left < 0 {
			break
		}
		l = append(l, p.value(v, depth+1))
	}
	return l
}

func (p *plainer) dict(d *pytorch.Dict, depth int) any {
	m := make(map[string]any)
	for i := 0; i < d.Len() && p.left >= 0; i++ {
		k, v := d.At(i)
		switch k := k.(type) {
		case string:
			m[k] = p.value(v, depth+1)
		case int64, bool, float64:
			m[fmt.Sprint(k)] = p.value(v, depth+1)
		}
	}
	return m
}

func (p *plainer) object(o *pytorch.Object, depth int) any {
	if strings.HasPrefix(o.Module, "omegaconf") {
		for _, name := range []string{"_content", "content", "_val"} {
			if v, ok := o.Attr(name); ok {
				return p.value(v, depth+1)
			}
		}
		return nil
	}
	switch {
	case o.Module == "pathlib" || strings.HasPrefix(o.Module, "pathlib."):
		return pathOf(o.Args)
	case o.Entries.Len() > 0:
		return p.dict(o.Entries, depth)
	case len(o.Items) > 0:
		return p.list(o.Items, depth)
	case o.Dict != nil:
		return p.dict(o.Dict, depth)
	case len(o.Args) == 1: // an enumeration's member, from its value
		return p.value(o.Args[0], depth+1)
	}
	return nil
}

func pathOf(parts []any) any {
	s := ""
	for _, v := range parts {
		part, ok := v.(string)
		if !ok {
			return nil
		}
		if s != "" && !strings.HasSuffix(s, "/") {
			s += "/"
		}
		s += part
	}
	return s
}
