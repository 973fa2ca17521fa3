package text

import "strings"

// segmenter is what fairseq calls a BPE: a line of words becomes a line of
// symbols with white space between them, and back.
type segmenter interface {
	Encode(line string) string
	Decode(line string) string
}

// The segmentations of fairseq that need no tables.
type (
	plainSegmenter     struct{}
	characterSegmenter struct{} // each character is a symbol
	byteSegmenter      struct{} // each byte is a symbol
)

func (plainSegmenter) Encode(line string) string { return line }
func (plainSegmenter) Decode(line string) string { return line }

func (characterSegmenter) Encode(line string) string { return spaced(escapeSpaces(line)) }
func (characterSegmenter) Decode(line string) string { return unescapeSpaces(line) }

func (byteSegmenter) Encode(line string) string { return spaced(escapeSpaces(byteEncode(line))) }
func (byteSegmenter) Decode(line string) string { return smartByteDecode(unescapeSpaces(line)) }

// sentencePieceBPE is fairseq's use of SentencePiece.
type sentencePieceBPE struct{ model *SentencePiece }

func (s sentencePieceBPE) Encode(line string) string {
	_, pieces := s.model.Encode(line)
	return strings.Join(pieces, " ")
}

func (s sentencePieceBPE) Decode(line string) string { return pythonStrip(unescapeSpaces(line)) }

// byteSentencePiece is fairseq's byte_bpe: SentencePiece over byte symbols.
type byteSentencePiece struct{ model *SentencePiece }

func (s byteSentencePiece) Encode(line string) string {
	_, pieces := s.model.Encode(byteEncode(line))
	return strings.Join(pieces, " ")
}

func (s byteSentencePiece) Decode(line string) string { return smartByteDecode(unescapeSpaces(line)) }
