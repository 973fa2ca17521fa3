package pytorch

// maxDepth is how deep values may be nested. Python's pickler stops at about
// 1,000, its recursion limit.
const maxDepth = 2000

// shallow reports whether values are nested at most maxDepth deep, so that
// recursive walks are safe. An edge that leads back to where it came from (a
// cycle) does not count.
func shallow(root any) bool {
	type level struct {
		value    any
		children []any
		depth    int // of the children walked so far
	}
	const open = -1             // on the path from the root
	depths := make(map[any]int) // of containers: 1 if nothing is in them
	path := []level{{nil, []any{root}, 0}}
	for len(path) > 1 || len(path[0].children) > 0 {
		last := &path[len(path)-1]
		if len(last.children) == 0 {
			depth := last.depth + 1
			depths[last.value] = depth
			path = path[:len(path)-1]
			path[len(path)-1].depth = max(path[len(path)-1].depth, depth)
			if depth > maxDepth {
				return false
			}
			continue
		}
		child := last.children[0]
		last.children = last.children[1:]
		if depth, seen := depths[container(child)]; seen {
			last.depth = max(last.depth, depth)
			continue
		}
		if container(child) == nil {
			continue
		}
		depths[child] = open
		if path = append(path, level{child, children(child), 0}); len(path) > maxDepth+1 {
			return false
		}
	}
	return true
}

// container returns v if it has children, else nil.
func container(v any) any {
	switch v := v.(type) {
	case *List, *Tuple, *Set, *Object:
		return v
	case *Dict:
		if v != nil {
			return v
		}
	}
	return nil
}

// children returns the values directly in v.
func children(v any) []any {
	switch v := v.(type) {
	case *Dict:
		c := make([]any, 0, 2*len(v.keys)+1)
		return append(append(append(c, v.keys...), v.values...), v.Attributes)
	case *Object:
		c := append([]any{v.State, v.Dict, v.Kwargs, v.Entries}, v.Args...)
		return append(c, v.Items...)
	}
	c, _ := items(v)
	return c
}
