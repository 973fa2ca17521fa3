package text

import "slices"

// trie finds the keys that a string begins with. Node 0 is the root; the
// edges of a node are neighbours, sorted by their byte.
type trie struct {
	nodes  []trieNode
	labels []byte  // of the edge that leads to node i+1
	dense  []int32 // tables of 256 children for nodes with many
}

type trieNode struct {
	first int32 // first child
	count int32 // children
	table int32 // offset in dense, −1 when the children are searched
	value int32 // of the key that ends here, −1 for none
}

// denseFrom is the number of children from which a table pays.
const denseFrom = 24

type trieKey struct {
	key   string
	value int32
}

// newTrie makes the trie of the keys, which are not empty and all different.
func newTrie(keys []trieKey) *trie {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b trieKey) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	t := &trie{nodes: []trieNode{{table: -1, value: -1}}}
	type span struct{ from, to, depth int } // keys below a node
	spans := []span{{0, len(keys), 0}}
	for n := 0; n < len(t.nodes); n++ {
		s := spans[n]
		first := int32(len(t.nodes))
		for i := s.from; i < s.to; {
			if len(keys[i].key) == s.depth {
				t.nodes[n].value = keys[i].value
				i++
				continue
			}
			c := keys[i].key[s.depth]
			j := i + 1
			for j < s.to && keys[j].key[s.depth] == c {
				j++
			}
			t.nodes = append(t.nodes, trieNode{table: -1, value: -1})
			t.labels = append(t.labels, c)
			spans = append(spans, span{i, j, s.depth + 1})
			i = j
		}
		t.nodes[n].first = first
		t.nodes[n].count = int32(len(t.nodes)) - first
		if t.nodes[n].count >= denseFrom {
			t.addTable(n)
		}
	}
	return t
}

func (t *trie) addTable(n int) {
	base := len(t.dense)
	t.dense = append(t.dense, make([]int32, 256)...)
	for i := range 256 {
		t.dense[base+i] = -1
	}
	first := t.nodes[n].first
	for i := range t.nodes[n].count {
		t.dense[base+int(t.labels[first+i-1])] = first + i
	}
	t.nodes[n].table = int32(base)
}

// step is the child of a node along byte c, −1 when there is none.
func (t *trie) step(n int32, c byte) int32 {
	node := &t.nodes[n]
	if node.table >= 0 {
		return t.dense[node.table+int32(c)]
	}
	low, high := node.first, node.first+node.count
	for low < high {
		middle := (low + high) / 2
		if t.labels[middle-1] < c {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < node.first+node.count && t.labels[low-1] == c {
		return low
	}
	return -1
}

// longest is the length of the longest key that s begins with, 0 for none.
func (t *trie) longest(s string) int {
	if t == nil {
		return 0
	}
	best, n := 0, int32(0)
	for i := 0; i < len(s); i++ {
		if n = t.step(n, s[i]); n < 0 {
			break
		}
		if t.nodes[n].value >= 0 {
			best = i + 1
		}
	}
	return best
}
