package text

import (
	"strings"
	"unicode/utf8"
)

// Decode joins the pieces of ids to text.
func (sp *SentencePiece) Decode(ids []int32) string {
	pieces := make([]string, len(ids))
	for i, id := range ids {
		pieces[i] = sp.Piece(id)
	}
	return sp.DecodePieces(pieces)
}

// DecodePieces joins pieces to text: control symbols vanish, byte pieces become
// characters (U+FFFD where they are none), the space that was put before the
// first word goes.
func (sp *SentencePiece) DecodePieces(pieces []string) string {
	var out strings.Builder
	var pending []byte // bytes of a run of byte pieces
	flush := func() {
		for b := pending; len(b) > 0; {
			r, n := utf8.DecodeRune(b)
			out.WriteRune(r) // RuneError for one byte that is no character
			b = b[n:]
		}
		pending = pending[:0]
	}
	start, spaceSeen := true, false
	for _, piece := range pieces {
		id := sp.Index(piece)
		if sp.pieces[id].kind == bytePiece {
			c, _ := pieceByte(piece)
			pending = append(pending, c)
			continue
		}
		flush()
		if spaceSeen || out.Len() > 0 {
			start = false
		}
		spaceSeen = false
		switch sp.pieces[id].kind {
		case controlPiece:
		case unknownPiece:
			if piece == sp.pieces[id].text {
				piece = sp.unkSurface
			}
			out.WriteString(piece)
		default:
			if start && (sp.spec.addDummyPrefix || sp.spec.removeExtraWhitespaces) {
				cut := strings.TrimPrefix(piece, spaceSymbol)
				// With remove_extra_whitespaces all spaces at the start go.
				spaceSeen = len(cut) < len(piece) && !sp.spec.removeExtraWhitespaces
				piece = cut
			}
			out.WriteString(strings.ReplaceAll(piece, spaceSymbol, " "))
		}
	}
	flush()
	if sp.denormalizer != nil {
		return sp.denormalizer.normalize(out.String())
	}
	return out.String()
}
