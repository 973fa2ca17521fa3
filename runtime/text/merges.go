package text

import "sync"

// merges is a list of byte-pair merge operations, the most important first.
// Symbols are numbered by their content: two symbols with the same characters
// are the same, however they were made.
type merges struct {
	ids   map[string]int32
	pairs map[uint64]merge // key: left id << 32 | right id
}

type merge struct {
	rank   int32 // position in the list
	result int32 // id of the concatenation
}

func newMerges(n int) *merges {
	return &merges{ids: make(map[string]int32, n), pairs: make(map[uint64]merge, n)}
}

func (m *merges) id(s string) int32 {
	id, ok := m.ids[s]
	if !ok {
		id = int32(len(m.ids))
		m.ids[s] = id
	}
	return id
}

// set makes rank the rank of the pair, whatever it was. Ranks of different
// pairs differ.
func (m *merges) set(left, right string, rank int) {
	key := pairKey(m.id(left), m.id(right))
	m.pairs[key] = merge{int32(rank), m.id(left + right)}
}

// has reports whether the pair is in the list.
func (m *merges) has(left, right string) bool {
	l, ok := m.ids[left]
	if !ok {
		return false
	}
	r, ok := m.ids[right]
	if !ok {
		return false
	}
	_, ok = m.pairs[pairKey(l, r)]
	return ok
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

const (
	noSymbol = -1 // id of a symbol that no merge operation mentions
	noRank   = -1 // no merge operation for this pair
	noNode   = -1
)

// node is a symbol of the word that is being merged: text[start:end].
type node struct {
	start, end int32
	next, prev int32
	id         int32
	rank       int32 // of the pair with the next symbol
	result     int32 // id of that pair's concatenation
}

// mergeWork is the working memory of one run of apply.
type mergeWork struct {
	nodes  []node
	heap   keyHeap  // rank << 32 | node
	fresh  []uint64 // entries to push when the current rank is done
	bounds []int32
}

var mergePool = sync.Pool{New: func() any { return new(mergeWork) }}

// release gives the memory back for reuse, unless a huge word made it huge.
func (w *mergeWork) release() {
	if cap(w.nodes) <= 1<<12 {
		mergePool.Put(w)
	}
}

// apply merges the symbols of text until no operation is left that applies.
// bounds holds the start of each symbol and, last, the end of the text; the
// result has the same form and is valid until w is used again. In each round
// all occurrences of the best pair are merged from left to right, as the
// reference programs do; the heap makes it n·log n.
func (m *merges) apply(w *mergeWork, text string, bounds []int32) []int32 {
	n := len(bounds) - 1
	w.nodes, w.heap, w.fresh = w.nodes[:0], w.heap[:0], w.fresh[:0]
	for i := range n {
		id, ok := m.ids[text[bounds[i]:bounds[i+1]]]
		if !ok {
			id = noSymbol
		}
		w.nodes = append(w.nodes, node{
			start: bounds[i], end: bounds[i+1],
			prev: int32(i) - 1, next: int32(i) + 1,
			id: id, rank: noRank,
		})
	}
	w.nodes[n-1].next = noNode
	for i := range n {
		m.rate(w, int32(i))
	}
	w.pushFresh()
	for len(w.heap) > 0 {
		rank := w.heap[0] >> 32
		for len(w.heap) > 0 && w.heap[0]>>32 == rank {
			i := int32(uint32(w.heap.pop()))
			if w.nodes[i].rank == int32(rank) {
				m.merge(w, i)
			}
		}
		w.pushFresh()
	}
	out := bounds[:0]
	for i := int32(0); i != noNode; i = w.nodes[i].next {
		out = append(out, w.nodes[i].start)
	}
	return append(out, int32(len(text)))
}

// rate looks up the pair that begins at node i.
func (m *merges) rate(w *mergeWork, i int32) {
	a := &w.nodes[i]
	a.rank = noRank
	if a.id == noSymbol || a.next == noNode || w.nodes[a.next].id == noSymbol {
		return
	}
	if p, ok := m.pairs[pairKey(a.id, w.nodes[a.next].id)]; ok {
		a.rank, a.result = p.rank, p.result
		w.fresh = append(w.fresh, uint64(p.rank)<<32|uint64(uint32(i)))
	}
}

// merge joins node i with its successor.
func (m *merges) merge(w *mergeWork, i int32) {
	a := &w.nodes[i]
	b := &w.nodes[a.next]
	a.end, a.id, a.next = b.end, a.result, b.next
	b.rank = noRank
	if a.next != noNode {
		w.nodes[a.next].prev = i
	}
	m.rate(w, i)
	if a.prev != noNode {
		m.rate(w, a.prev)
	}
}

func (w *mergeWork) pushFresh() {
	for _, v := range w.fresh {
		w.heap.push(v)
	}
	w.fresh = w.fresh[:0]
}
