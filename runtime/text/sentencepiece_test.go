package text

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// modelBuilder writes .model files.
type modelBuilder []byte

func (b *modelBuilder) message(number protowire.Number, body []byte) {
	*b = protowire.AppendBytes(protowire.AppendTag(*b, number, protowire.BytesType), body)
}

func (b *modelBuilder) number(number protowire.Number, v uint64) {
	*b = protowire.AppendVarint(protowire.AppendTag(*b, number, protowire.VarintType), v)
}

func (b *modelBuilder) piece(text string, score float32, kind pieceType) {
	var p modelBuilder
	p.message(1, []byte(text))
	p = protowire.AppendFixed32(protowire.AppendTag(p, 2, protowire.Fixed32Type), math.Float32bits(score))
	p.number(3, uint64(kind))
	b.message(1, p)
}

// settings appends a trainer or normaliser specification of numbers.
func (b *modelBuilder) settings(number protowire.Number, values map[protowire.Number]uint64) {
	var s modelBuilder
	for n, v := range values {
		s.number(n, v)
	}
	b.message(number, s)
}

// smallModel is a BPE model in whose vocabulary "ab" is a control symbol.
func smallModel() modelBuilder {
	var b modelBuilder
	b.piece("<unk>", 0, unknownPiece)
	b.piece("<s>", 0, controlPiece)
	b.piece("ab", 0, controlPiece)
	b.piece("\u2581", -3, normalPiece)
	b.piece("a", -4, normalPiece)
	b.piece("b", -5, normalPiece)
	b.piece("<x>", 0, userDefinedPiece)
	b.piece("bb", -1, normalPiece)
	b.piece("\u2581a", -2, normalPiece)
	return b
}

func TestSentencePieceControlSymbols(t *testing.T) {
	b := smallModel()
	b.settings(2, map[protowire.Number]uint64{3: bpeModel})
	sp, err := ParseSentencePiece(bytes.NewReader(b), "model")
	if err != nil {
		t.Fatal(err)
	}
	ids, pieces := sp.Encode("ab <s> b<x>bbb \xffc")
	want := []string{"\u2581a", "b", "\u2581", "<s>", "\u2581", "b", "<x>", "bb", "b", "\u2581", "\ufffdc"}
	if !slices.Equal(pieces, want) {
		t.Errorf("pieces %q, want %q", pieces, want)
	}
	if want := []int32{8, 5, 3, 0, 3, 5, 6, 7, 5, 3, 0}; !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
	if got, want := sp.Decode([]int32{1, 8, 2, 5, 0, 99, 3, 6}), "ab \u2047  \u2047  <x>"; got != want {
		t.Errorf("decoded %q, want %q", got, want)
	}
	if got := sp.Len(); got != 9 {
		t.Errorf("%d pieces, want 9", got)
	}
}

func TestSentencePieceErrors(t *testing.T) {
	build := func(change func(b *modelBuilder)) []byte {
		b := smallModel()
		change(&b)
		return b
	}
	charsMap := func(data string) []byte {
		return build(func(b *modelBuilder) {
			var s modelBuilder
			s.message(2, []byte(data))
			b.message(3, s)
		})
	}
	for _, c := range []struct {
		name        string
		data        []byte
		unsupported bool
		want        string
	}{
		{"empty", nil, false, "none of 0 pieces stands for unknown text"},
		{"a web page", []byte("<!DOCTYPE html><html>"), false, `text: "model" byte 0: SentencePiece model:`},
		{"cut", smallModel()[:40], false, `text: "model" byte 30: SentencePiece model: field 1: unexpected EOF`},
		{"endless group", bytes.Repeat([]byte{0x0b}, 100000), false, "SentencePiece model: field 1:"},
		{"cut in a piece", build(func(b *modelBuilder) { b.message(1, []byte{0x0a, 9, 'x'}) }), false, "field 1: unexpected EOF"},
		{"empty piece", build(func(b *modelBuilder) { b.piece("", 0, normalPiece) }), false, "a piece is empty"},
		{"score", build(func(b *modelBuilder) { b.piece("z", float32(math.NaN()), normalPiece) }), false, `the score of piece "z" is not a number`},
		{"duplicate", build(func(b *modelBuilder) { b.piece("bb", 0, unusedPiece) }), false, `pieces 7 and 9 are both "bb"`},
		{"two unknown pieces", build(func(b *modelBuilder) { b.piece("?", 0, unknownPiece) }), false, "pieces 0 and 9 both stand for unknown text"},
		{"byte without fallback", build(func(b *modelBuilder) { b.piece("<0x41>", 0, bytePiece) }), false, "byte_fallback is false"},
		{"no byte", build(func(b *modelBuilder) {
			b.settings(2, map[protowire.Number]uint64{35: 1})
			b.piece("<0x4g>", 0, bytePiece)
		}), false, `piece 9 is the byte "<0x4g>"`},
		{"few bytes", build(func(b *modelBuilder) {
			b.settings(2, map[protowire.Number]uint64{35: 1})
			b.piece("<0x4A>", 0, bytePiece)
		}), false, "1 byte pieces, want 256"},
		{"model type", build(func(b *modelBuilder) { b.settings(2, map[protowire.Number]uint64{3: 9}) }), true, "SentencePiece model type 9"},
		{"short rules", charsMap("\x00\x00\x00\x00"), false, "4 bytes of normalisation rules"},
		{"rules beyond", charsMap("\xff\xff\xff\xffxxxx"), false, "the trie of the normalisation rules is 4294967295 bytes, but 4 are there"},
		{"huge rule", charsMap("\x04\x00\x00\x00xxxxab\x00" + strings.Repeat("y", maxReplacement+1)), true, "writes 4097 bytes (at byte 3 of the replacements), want at most 4096"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseSentencePiece(bytes.NewReader(c.data), "model")
			var corrupt *CorruptError
			var unsupported *UnsupportedError
			if !errors.As(err, &corrupt) && !c.unsupported || !errors.As(err, &unsupported) && c.unsupported {
				t.Fatalf("error %v is of type %T", err, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q in it", err, c.want)
			}
		})
	}
}

// A line of 256 KiB without a space is no problem for any model type.
func TestSentencePieceLongLine(t *testing.T) {
	const n = 1 << 16
	line := strings.Repeat("abbb", n)
	for _, kind := range []uint64{unigramModel, bpeModel, wordModel, charModel} {
		b := smallModel()
		b.settings(2, map[protowire.Number]uint64{3: kind})
		sp, err := ParseSentencePiece(bytes.NewReader(b), "model")
		if err != nil {
			t.Fatal(err)
		}
		_, pieces := sp.Encode(line)
		if got := strings.Join(pieces, ""); got != spaceSymbol+line {
			t.Errorf("type %d: %d pieces of %d bytes, want %d bytes", kind, len(pieces), len(got), len(line)+3)
		}
	}
}

func TestTrie(t *testing.T) {
	var keys []trieKey
	for i := range 256 { // a node with a table
		keys = append(keys, trieKey{"k" + string([]byte{byte(i)}) + "z", int32(i)})
	}
	keys = append(keys, trieKey{"k", 300}, trieKey{"abc", 301}, trieKey{"ab", 302}, trieKey{"b", 303})
	tr := newTrie(keys)
	for _, k := range keys {
		n := int32(0)
		for i := range len(k.key) {
			n = tr.step(n, k.key[i])
		}
		if got := tr.nodes[n].value; got != k.value {
			t.Errorf("%q has value %d, want %d", k.key, got, k.value)
		}
		if got := tr.longest(k.key + "zz"); got != len(k.key) && k.key != "k" {
			t.Errorf("longest of %q is %d, want %d", k.key+"zz", got, len(k.key))
		}
	}
	for in, want := range map[string]int{"": 0, "x": 0, "a": 0, "abd": 2, "abcd": 3, "k": 1, "kxy": 1, "kxz": 3} {
		if got := tr.longest(in); got != want {
			t.Errorf("longest of %q is %d, want %d", in, got, want)
		}
	}
}

func FuzzSentencePiece(f *testing.F) {
	for _, name := range []string{"sp-unigram", "sp-bpe-unused", "sp-bpe-rules", "sp-word"} {
		data, err := os.ReadFile("testdata/segmentation/" + name + "/model")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "The walk <ent> \u4e00\ufb01\xff  x")
	}
	for _, kind := range []uint64{unigramModel, bpeModel, wordModel, charModel} {
		b := smallModel()
		b.settings(2, map[protowire.Number]uint64{3: kind, 24: 1})
		b.settings(3, map[protowire.Number]uint64{3: 0, 4: 0, 5: 0})
		f.Add([]byte(b), "ab bb<x>")
	}
	f.Fuzz(func(t *testing.T, model []byte, line string) {
		sp, err := ParseSentencePiece(bytes.NewReader(model), "model")
		if err != nil || len(line) > 1000 {
			return
		}
		ids, pieces := sp.Encode(line)
		normalized := sp.normalizer.normalize(line)
		if got := strings.Join(pieces, ""); got != normalized && !sp.byteFallback {
			t.Errorf("%q: pieces %q, want those of %q", line, pieces, normalized)
		}
		if len(ids) != len(pieces) {
			t.Errorf("%q: %d ids and %d pieces", line, len(ids), len(pieces))
		}
		sp.Decode(ids)
		sp.DecodePieces(pieces)
		sp.Decode([]int32{0, 1, 2, 3, -1, math.MaxInt32})
	})
}

// TestSentencePieceUnknownRun: neighbouring unknown characters are one piece,
// however many they are.
func TestSentencePieceUnknownRun(t *testing.T) {
	for _, model := range []uint64{1, uint64(bpeModel)} {
		b := smallModel()
		b.settings(2, map[protowire.Number]uint64{3: model})
		sp, err := ParseSentencePiece(bytes.NewReader(b), "model")
		if err != nil {
			t.Fatal(err)
		}
		run := strings.Repeat("\u2603", 50_000)
		_, pieces := sp.Encode("a" + run + "bb" + run + "\u2604" + run)
		want := []string{"\u2581a", run, "bb", run + "\u2604" + run}
		if !slices.Equal(pieces, want) {
			t.Errorf("model type %d: %d pieces, want %d", model, len(pieces), len(want))
		}
	}
}
