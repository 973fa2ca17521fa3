package text

import "slices"

// unkPenalty is how much less likely unknown text is than the least likely
// piece, in natural logarithms.
const unkPenalty = 10

// bestPath is the best segmentation that ends at a byte of the text.
type bestPath struct {
	score float32
	start int32 // of its last piece, −1 before any was found
	id    int32
}

// encodeUnigram finds the most likely segmentation (Viterbi). Rounding decides
// between equally likely ones; it is that of the library's versions 0.1.94 to
// 0.2.1, with which fairseq's models were trained: a sum in float64 is compared
// with the best one, which was rounded to float32; of equal ones the first
// stays. (Since 0.2.2 both are float32, and longer user-defined symbols score
// higher.)
func (sp *SentencePiece) encodeUnigram(s string) []spPiece {
	best := make([]bestPath, len(s)+1)
	for i := range best {
		best[i].start = -1
	}
	unkScore := sp.minScore - unkPenalty
	for start := 0; start < len(s); {
		here := best[start].score
		length := min(leadLength(s[start]), len(s)-start)
		single := false
		node := int32(0)
		for end := start; end < len(s); {
			if node = sp.trie.step(node, s[end]); node < 0 {
				break
			}
			end++
			id := sp.trie.nodes[node].value
			if id < 0 || sp.pieces[id].kind == unusedPiece {
				continue
			}
			score := float64(sp.pieces[id].score)
			if sp.pieces[id].kind == userDefinedPiece {
				score = float64(float32(float32(end-start)*sp.maxScore)) - 0.1
			}
			relax(&best[end], score+float64(here), start, id)
			if end-start == length {
				single = true
			}
		}
		if !single {
			relax(&best[start+length], float64(float32(unkScore+here)), start, sp.unk)
		}
		start += length
	}
	var out []spPiece
	for end := len(s); end > 0; end = int(best[end].start) {
		b := best[end]
		out = append(out, spPiece{s[b.start:end], b.id})
	}
	slices.Reverse(out)
	return out
}

func relax(b *bestPath, score float64, start int, id int32) {
	if b.start < 0 || score > float64(b.score) {
		b.score, b.start, b.id = float32(score), int32(start), id
	}
}
