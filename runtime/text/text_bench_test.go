package text

import (
	"bytes"
	"strings"
	"testing"

	"memsizer/format"
)

// benchLines are sentences in which words repeat as they do in text: those of
// the reference cases where they are, else of the recorded ones.
func benchLines(b *testing.B) (lines []string, size int64) {
	b.Helper()
	for line := range strings.Lines(string(readReference(b, "multi30k-en-de/test_2016_flickr.en"))) {
		lines = append(lines, strings.TrimSpace(line))
		size += int64(len(line))
	}
	return lines, size
}

func benchEncode(b *testing.B, encode func(string)) {
	lines, size := benchLines(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			encode(line)
		}
	}
}

func BenchmarkBPE(b *testing.B) {
	codes := readReference(b, "multi30k-en-de/bpe.codes")
	bpe, err := NewSubwordNMT(bytes.NewReader(codes), "bpe.codes", BPEOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("cached", func(b *testing.B) { benchEncode(b, func(line string) { bpe.Encode(line) }) })
	b.Run("uncached", func(b *testing.B) {
		benchEncode(b, func(line string) {
			for _, w := range strings.Fields(line) {
				bpe.segment(w)
			}
		})
	})
}

func BenchmarkSentencePiece(b *testing.B) {
	for _, name := range []string{"unigram", "bpe"} {
		b.Run(name, func(b *testing.B) {
			sp, err := ParseSentencePiece(bytes.NewReader(readReference(b, "sentencepiece/"+name+".model")), name)
			if err != nil {
				b.Fatal(err)
			}
			benchEncode(b, func(line string) { sp.Encode(line) })
		})
	}
}

func BenchmarkPipeline(b *testing.B) {
	files := map[string][]byte{
		format.SectionTargetDict: readReference(b, "multi30k-en-de/dict.en.txt"),
		format.SectionBPECodes:   readReference(b, "multi30k-en-de/bpe.codes"),
	}
	p, err := NewPipeline(format.Tokenization{
		SourceLang: "en", TargetLang: "de",
		Tokenizer: "moses", MosesNoDashSplits: true, NormalizePunctuation: true, BPE: "subword_nmt",
	}, sectionsOf(files))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) { benchEncode(b, func(line string) { p.EncodeSource(line) }) })
	b.Run("decode", func(b *testing.B) {
		lines, _ := benchLines(b)
		var ids [][]int32
		size := 0
		for _, line := range lines {
			line, _ := p.EncodeSource(line)
			ids = append(ids, line)
			size += len(p.Decode(line))
		}
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, line := range ids {
				p.Decode(line)
			}
		}
	})
}
