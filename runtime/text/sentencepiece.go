package text

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SentencePiece segments raw text with a SentencePiece model of any of its
// four types, and joins pieces to text again, as the sentencepiece library
// does. It is immutable and safe for concurrent use.
type SentencePiece struct {
	pieces       []sentencePiece
	ids          map[string]int32 // normal, user-defined and unused pieces
	reserved     map[string]int32 // control, unknown and byte pieces
	unk          int32
	modelType    int
	byteFallback bool
	unkSurface   string
	spec         normalizerSpec
	normalizer   *spNormalizer
	denormalizer *spNormalizer // nil when the model has no rules for it
	userDefined  *trie         // nil when there are none
	trie         *trie         // of ids, unigram models only
	minScore     float32
	maxScore     float32
	words        *wordCache[[]spPiece] // nil where words are not segmented one by one
}

// spPiece is a stretch of normalised text and the piece it stands for.
type spPiece struct {
	text string
	id   int32
}

const spPieceBytes = 24

// ParseSentencePiece reads a .model file. The name stands in errors, which
// are of type [CorruptError] with the offset, or [UnsupportedError].
func ParseSentencePiece(r io.Reader, name string) (*SentencePiece, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("text: reading SentencePiece model %q: %w", name, err)
	}
	m, err := parseSentencePieceProto(data, name)
	if err != nil {
		return nil, err
	}
	sp := &SentencePiece{
		pieces:       m.pieces,
		unk:          -1,
		modelType:    m.modelType,
		byteFallback: m.byteFallback,
		unkSurface:   m.unkSurface,
		spec:         m.normalizer,
	}
	if err := sp.index(name); err != nil {
		return nil, err
	}
	sp.normalizer, err = newSPNormalizer(m.normalizer, m.spaceSuffix, sp.userDefined, name)
	if err != nil {
		return nil, err
	}
	if len(m.denormalizer.charsMap) > 0 {
		sp.denormalizer, err = newSPNormalizer(m.denormalizer, false, nil, name)
	}
	return sp, err
}

// index fills the maps and tries and checks what the library checks.
func (sp *SentencePiece) index(name string) error {
	sp.ids = make(map[string]int32, len(sp.pieces))
	sp.reserved = make(map[string]int32)
	var keys, userDefined []trieKey
	bytesSeen := 0
	sp.minScore, sp.maxScore = math.MaxFloat32, 0x1p-126
	for i, p := range sp.pieces {
		id := int32(i)
		where := sp.reserved
		switch p.kind {
		case normalPiece, userDefinedPiece, unusedPiece:
			where = sp.ids
			keys = append(keys, trieKey{p.text, id})
		}
		if first, ok := where[p.text]; ok {
			return corruptByte(name, -1, "SentencePiece model: pieces %d and %d are both %q", first, i, p.text)
		}
		where[p.text] = id
		switch p.kind {
		case normalPiece:
			sp.minScore, sp.maxScore = min(sp.minScore, p.score), max(sp.maxScore, p.score)
		case userDefinedPiece:
			userDefined = append(userDefined, trieKey{p.text, id})
		case unknownPiece:
			if sp.unk >= 0 {
				return corruptByte(name, -1, "SentencePiece model: pieces %d and %d both stand for unknown text", sp.unk, i)
			}
			sp.unk = id
		case bytePiece:
			if _, ok := pieceByte(p.text); !ok || !sp.byteFallback {
				return corruptByte(name, -1, "SentencePiece model: piece %d is the byte %q, but byte_fallback is %v", i, p.text, sp.byteFallback)
			}
			bytesSeen++
		}
	}
	switch {
	case sp.unk < 0:
		return corruptByte(name, -1, "SentencePiece model: none of %d pieces stands for unknown text", len(sp.pieces))
	case sp.byteFallback && bytesSeen != 256:
		return corruptByte(name, -1, "SentencePiece model: %d byte pieces, want 256 for byte_fallback", bytesSeen)
	case len(keys) == 0 && sp.modelType == unigramModel:
		return corruptByte(name, -1, "SentencePiece model: no pieces of text")
	}
	switch {
	case sp.modelType == unigramModel:
		sp.trie = newTrie(keys)
	case sp.modelType == bpeModel && wordsOnly(keys):
		sp.words = newWordCache[[]spPiece]()
	}
	if len(userDefined) > 0 {
		sp.userDefined = newTrie(userDefined)
	}
	return nil
}

// pieceByte is the byte that "<0x41>" stands for.
func pieceByte(piece string) (byte, bool) {
	if len(piece) != 6 || piece[:3] != "<0x" || piece[5] != '>' || piece[3:5] != strings.ToUpper(piece[3:5]) {
		return 0, false
	}
	v, err := strconv.ParseUint(piece[3:5], 16, 8)
	return byte(v), err == nil
}

// bytePieces[c] is the piece of byte c.
var bytePieces = func() (p [256]string) {
	for c := range p {
		p[c] = fmt.Sprintf("<0x%02X>", c)
	}
	return p
}()

// Len is the number of pieces.
func (sp *SentencePiece) Len() int { return len(sp.pieces) }

// Index is the id of a piece, that of the unknown piece when there is none.
func (sp *SentencePiece) Index(piece string) int32 {
	if id, ok := sp.reserved[piece]; ok {
		return id
	}
	if id, ok := sp.ids[piece]; ok {
		return id
	}
	return sp.unk
}

// Piece is the text of a piece, that of the unknown piece when there is none.
func (sp *SentencePiece) Piece(id int32) string {
	if id < 0 || int(id) >= len(sp.pieces) {
		id = sp.unk
	}
	return sp.pieces[id].text
}

// lookup is the id of a stretch of text. Control symbols and byte pieces do
// not stand for text, even where it looks like their names.
func (sp *SentencePiece) lookup(s string) int32 {
	if id, ok := sp.ids[s]; ok {
		return id
	}
	return sp.unk
}

// Encode segments a line. Unknown text is a piece as it stands, or its bytes
// where the model has byte fallback.
func (sp *SentencePiece) Encode(line string) (ids []int32, pieces []string) {
	normalized := sp.normalizer.normalize(line)
	if normalized == "" {
		return nil, nil
	}
	var found []spPiece
	switch sp.modelType {
	case bpeModel:
		found = sp.encodeBPEWords(normalized)
	case wordModel:
		found = sp.encodeWords(normalized)
	case charModel:
		found = sp.encodeCharacters(normalized)
	default:
		found = sp.encodeUnigram(normalized)
	}
	ids = make([]int32, 0, len(found))
	pieces = make([]string, 0, len(found))
	at, run := 0, -1 // in normalized, which the pieces make up; where a run of unknown text began
	for _, p := range found {
		unknown := p.id == sp.unk
		switch {
		case unknown && sp.byteFallback:
			for i := range len(p.text) {
				b := bytePieces[p.text[i]]
				ids, pieces = append(ids, sp.Index(b)), append(pieces, b)
			}
		case unknown && run >= 0:
			pieces[len(pieces)-1] = normalized[run : at+len(p.text)] // a run of unknown text is one piece
		default:
			ids, pieces = append(ids, p.id), append(pieces, p.text)
		}
		switch {
		case !unknown:
			run = -1
		case run < 0:
			run = at
		}
		at += len(p.text)
	}
	return ids, pieces
}

// firstWord is the length of the word that s begins with: up to the next space
// symbol, apart from one at its start.
func firstWord(s string) int {
	start := 0
	if strings.HasPrefix(s, spaceSymbol) {
		start = len(spaceSymbol)
	}
	if n := strings.Index(s[start:], spaceSymbol); n >= 0 {
		return start + n
	}
	return len(s)
}

// encodeWords takes each word with the space symbol before it as one piece.
func (sp *SentencePiece) encodeWords(s string) []spPiece {
	var out []spPiece
	for s != "" {
		n := firstWord(s)
		out = append(out, spPiece{s[:n], sp.lookup(s[:n])})
		s = s[n:]
	}
	return out
}

func (sp *SentencePiece) encodeCharacters(s string) []spPiece {
	out := make([]spPiece, 0, utf8.RuneCountInString(s))
	for s != "" {
		n, _ := sp.character(s)
		out = append(out, spPiece{s[:n], sp.lookup(s[:n])})
		s = s[n:]
	}
	return out
}

// character is the length of the user-defined symbol or character that s
// begins with.
func (sp *SentencePiece) character(s string) (n int, userDefined bool) {
	if n := sp.userDefined.longest(s); n > 0 {
		return n, true
	}
	return min(len(s), leadLength(s[0])), false
}

// leadLength is the length of a character by its first byte alone.
func leadLength(c byte) int {
	switch {
	case c < 0xc0:
		return 1
	case c < 0xe0:
		return 2
	case c < 0xf0:
		return 3
	}
	return 4
}
