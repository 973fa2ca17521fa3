package text

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// pieceType is the type of a piece in a SentencePiece model.
type pieceType uint8

const (
	normalPiece      pieceType = 1
	unknownPiece     pieceType = 2
	controlPiece     pieceType = 3
	userDefinedPiece pieceType = 4
	unusedPiece      pieceType = 5
	bytePiece        pieceType = 6
)

// Model types of SentencePiece.
const (
	unigramModel = 1
	bpeModel     = 2
	wordModel    = 3
	charModel    = 4
)

type sentencePiece struct {
	text  string
	score float32
	kind  pieceType
}

// normalizerSpec is how text is rewritten before it is segmented.
type normalizerSpec struct {
	charsMap               []byte // precompiled rules: trie and replacements
	addDummyPrefix         bool
	removeExtraWhitespaces bool
	escapeWhitespaces      bool
}

func defaultNormalizerSpec() normalizerSpec {
	return normalizerSpec{addDummyPrefix: true, removeExtraWhitespaces: true, escapeWhitespaces: true}
}

// sentencePieceProto is what a .model file says, as far as it matters for
// segmenting. The field numbers are those of sentencepiece_model.proto.
type sentencePieceProto struct {
	pieces       []sentencePiece
	modelType    int
	spaceSuffix  bool // treat_whitespace_as_suffix
	byteFallback bool
	unkSurface   string
	normalizer   normalizerSpec
	denormalizer normalizerSpec
}

// field is one field of a protocol buffer message.
type field struct {
	number   protowire.Number
	kind     protowire.Type
	number64 uint64 // value of a varint, fixed32 or fixed64 field
	bytes    []byte // value of a length-delimited field
	at       int64  // offset in the file of the field's tag
}

// eachField calls f for the fields of a message. Groups are skipped.
func eachField(name string, message []byte, at int64, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return corruptByte(name, at, "SentencePiece model: %v", protowire.ParseError(n))
		}
		v := field{number: number, kind: kind, at: at}
		body := message[n:]
		m := 0
		switch kind {
		case protowire.VarintType:
			v.number64, m = protowire.ConsumeVarint(body)
		case protowire.Fixed32Type:
			var x uint32
			x, m = protowire.ConsumeFixed32(body)
			v.number64 = uint64(x)
		case protowire.Fixed64Type:
			v.number64, m = protowire.ConsumeFixed64(body)
		case protowire.BytesType:
			v.bytes, m = protowire.ConsumeBytes(body)
		default:
			m = protowire.ConsumeFieldValue(number, kind, body)
		}
		if m < 0 {
			return corruptByte(name, at, "SentencePiece model: field %d: %v", number, protowire.ParseError(m))
		}
		if err := f(v); err != nil {
			return err
		}
		message = body[m:]
		at += int64(n + m)
	}
	return nil
}

// inside is the offset of the contents of a length-delimited field.
func (v field) inside() int64 {
	return v.at + int64(protowire.SizeTag(v.number)+protowire.SizeBytes(len(v.bytes))-len(v.bytes))
}

// parseSentencePieceProto reads a .model file.
func parseSentencePieceProto(data []byte, name string) (*sentencePieceProto, error) {
	m := &sentencePieceProto{
		modelType:  unigramModel,
		unkSurface: " \u2047 ",
		normalizer: defaultNormalizerSpec(),
		// Without a specification nothing is rewritten after decoding.
		denormalizer: defaultNormalizerSpec(),
	}
	err := eachField(name, data, 0, func(v field) error {
		if v.kind != protowire.BytesType {
			return nil
		}
		switch v.number {
		case 1:
			p, err := parsePiece(name, v)
			m.pieces = append(m.pieces, p)
			return err
		case 2:
			return m.parseTrainer(name, v)
		case 3:
			return m.normalizer.parse(name, v)
		case 5:
			return m.denormalizer.parse(name, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(m.pieces) > math.MaxInt32 {
		return nil, corruptByte(name, -1, "SentencePiece model: %d pieces", len(m.pieces))
	}
	return m, nil
}

func parsePiece(name string, message field) (sentencePiece, error) {
	p := sentencePiece{kind: normalPiece}
	err := eachField(name, message.bytes, message.inside(), func(v field) error {
		switch {
		case v.number == 1 && v.kind == protowire.BytesType:
			p.text = string(v.bytes)
		case v.number == 2 && v.kind == protowire.Fixed32Type:
			p.score = math.Float32frombits(uint32(v.number64))
		case v.number == 3 && v.kind == protowire.VarintType:
			if k := int32(v.number64); 1 <= k && k <= 6 { // other values are unknown to the format
				p.kind = pieceType(k)
			}
		}
		return nil
	})
	switch {
	case err != nil:
	case p.text == "":
		err = corruptByte(name, message.at, "SentencePiece model: a piece is empty")
	case p.score != p.score:
		err = corruptByte(name, message.at, "SentencePiece model: the score of piece %q is not a number", shorten(p.text))
	}
	return p, err
}

func (m *sentencePieceProto) parseTrainer(name string, message field) error {
	return eachField(name, message.bytes, message.inside(), func(v field) error {
		switch {
		case v.number == 3 && v.kind == protowire.VarintType:
			if k := int32(v.number64); 1 <= k && k <= 4 {
				m.modelType = int(k)
			} else {
				return &UnsupportedError{Name: name, What: fmt.Sprintf("SentencePiece model type %d", k)}
			}
		case v.number == 24 && v.kind == protowire.VarintType:
			m.spaceSuffix = v.number64 != 0
		case v.number == 35 && v.kind == protowire.VarintType:
			m.byteFallback = v.number64 != 0
		case v.number == 44 && v.kind == protowire.BytesType:
			m.unkSurface = string(v.bytes)
		}
		return nil
	})
}

func (s *normalizerSpec) parse(name string, message field) error {
	return eachField(name, message.bytes, message.inside(), func(v field) error {
		switch {
		case v.number == 2 && v.kind == protowire.BytesType:
			s.charsMap = v.bytes
		case v.number == 3 && v.kind == protowire.VarintType:
			s.addDummyPrefix = v.number64 != 0
		case v.number == 4 && v.kind == protowire.VarintType:
			s.removeExtraWhitespaces = v.number64 != 0
		case v.number == 5 && v.kind == protowire.VarintType:
			s.escapeWhitespaces = v.number64 != 0
		}
		return nil
	})
}
