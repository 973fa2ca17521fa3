package text

import (
	"math"
	"strings"
)

// spSymbol is a stretch of text during merging, linked to its neighbours.
type spSymbol struct {
	start, end int32
	prev, next int32
	pair       uint32 // priority of the pair with next, noPair for none
	frozen     bool   // user-defined, takes part in no merge
}

const noPair = math.MaxUint32

// priority orders scores: the higher the score, the smaller the number.
func priority(score float32) uint32 {
	bits := math.Float32bits(score + 0) // −0 equals 0
	if bits>>31 == 0 {
		return ^(bits | 1<<31)
	}
	return bits
}

// spMerger is one run of encodeBPE.
type spMerger struct {
	sp      *SentencePiece
	text    string
	symbols []spSymbol
	agenda  keyHeap // priority << 32 | left symbol
	// undo has the parts of unused pieces, which are taken apart at the end.
	undo map[string][2]string
}

// wordsOnly reports whether no piece goes on beyond a space symbol, so that
// words can be segmented one by one.
func wordsOnly(keys []trieKey) bool {
	for _, k := range keys {
		if strings.LastIndex(k.key, spaceSymbol) > 0 {
			return false
		}
	}
	return true
}

// encodeBPEWords is encodeBPE, word by word where the model allows it.
func (sp *SentencePiece) encodeBPEWords(s string) []spPiece {
	if sp.words == nil {
		return sp.encodeBPE(s)
	}
	out := make([]spPiece, 0, len(s)/3)
	for s != "" {
		n := firstWord(s)
		w := s[:n]
		pieces, ok := sp.words.get(w)
		if !ok {
			if n <= cacheWordBytes {
				w = strings.Clone(w)
			}
			pieces = sp.encodeBPE(w)
			sp.words.put(w, pieces, len(pieces)*spPieceBytes)
		}
		out = append(out, pieces...)
		s = s[n:]
	}
	return out
}

// encodeBPE merges characters as long as the model has a piece for the
// concatenation of two neighbours: the best score first, then the leftmost.
func (sp *SentencePiece) encodeBPE(s string) []spPiece {
	m := spMerger{sp: sp, text: s}
	for at := 0; at < len(s); {
		n, userDefined := sp.character(s[at:])
		i := int32(len(m.symbols))
		m.symbols = append(m.symbols, spSymbol{int32(at), int32(at + n), i - 1, i + 1, noPair, userDefined})
		at += n
	}
	m.symbols[len(m.symbols)-1].next = noNode
	for i := range m.symbols {
		m.propose(int32(i))
	}
	for len(m.agenda) > 0 {
		top := m.agenda.pop()
		i := int32(uint32(top))
		left := &m.symbols[i]
		if left.pair != uint32(top>>32) {
			continue // one of the two has changed since
		}
		right := &m.symbols[left.next]
		left.end, left.next = right.end, right.next
		right.pair = noPair
		if left.next != noNode {
			m.symbols[left.next].prev = i
		}
		if left.prev != noNode {
			m.propose(left.prev)
		}
		m.propose(i)
	}
	var out []spPiece
	for i := int32(0); i != noNode; i = m.symbols[i].next {
		out = m.resolve(out, s[m.symbols[i].start:m.symbols[i].end])
	}
	return out
}

// propose puts a symbol and its successor on the agenda if the model has
// their concatenation.
func (m *spMerger) propose(i int32) {
	a := &m.symbols[i]
	a.pair = noPair
	if a.next == noNode || a.frozen || m.symbols[a.next].frozen {
		return
	}
	b := m.symbols[a.next]
	piece := m.text[a.start:b.end]
	id, ok := m.sp.ids[piece]
	if !ok {
		return
	}
	p := &m.sp.pieces[id]
	a.pair = priority(p.score)
	m.agenda.push(uint64(a.pair)<<32 | uint64(uint32(i)))
	if p.kind == unusedPiece {
		if m.undo == nil {
			m.undo = make(map[string][2]string)
		}
		m.undo[piece] = [2]string{m.text[a.start:a.end], m.text[b.start:b.end]}
	}
}

// resolve appends a piece, or the parts of one that is marked unused.
func (m *spMerger) resolve(out []spPiece, w string) []spPiece {
	id := m.sp.lookup(w)
	if m.sp.pieces[id].kind == unusedPiece {
		if parts, ok := m.undo[w]; ok {
			return m.resolve(m.resolve(out, parts[0]), parts[1])
		}
	}
	return append(out, spPiece{w, id})
}
