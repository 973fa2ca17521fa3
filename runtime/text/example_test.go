package text_test

import (
	"fmt"
	"io/fs"
	"log"
	"strings"

	"memsizer/format"
	"memsizer/runtime/text"
)

// A pipeline for a model that was trained on Moses tokens and subword-nmt's
// pieces. In a .msz file the sections come from its Reader.
func ExamplePipeline() {
	sections := map[string]string{
		format.SectionSourceDict: "the 9\nlow@@ 5\ner 4\nhouse 3\n. 2\n",
		format.SectionTargetDict: "das 9\nHaus 5\n. 4\n",
		format.SectionBPECodes:   "#version: 0.2\nl o\nlo w\ne r</w>\nt h\nth e</w>\nh o\nu s\nho us\nhous e</w>\n",
	}
	p, err := text.NewPipeline(format.Tokenization{
		SourceLang: "en", TargetLang: "de", Tokenizer: "moses", BPE: "subword_nmt",
	}, func(name string) ([]byte, error) {
		s, ok := sections[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(s), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	ids, pieces := p.EncodeSource("the lower house.")
	fmt.Println(ids, strings.Join(pieces, " "))
	fmt.Println(p.DecodePieces([]int32{4, 5, 3, 6, format.EOS}))
	fmt.Println(p.Decode([]int32{4, 5, 6, format.EOS}))
	// Output:
	// [4 5 6 7 8] the low@@ er house .
	// das Haus <unk> .
	// das Haus.
}

func ExampleParseDictionary() {
	d, err := text.ParseDictionary(strings.NewReader("house 12\ntree 7\n"), "dict.en.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Len(), d.Index("tree"), d.Symbol(4), d.Index("unheard-of"))

	_, err = text.ParseDictionary(strings.NewReader("house 12\ntree\n"), "dict.en.txt")
	fmt.Println(err)
	// Output:
	// 6 5 house 3
	// text: "dict.en.txt" line 2: "tree", want "symbol count"
}

func ExampleNewSubwordNMT() {
	codes := "#version: 0.2\nl o\nlo w\ne r</w>\n"
	bpe, err := text.NewSubwordNMT(strings.NewReader(codes), "bpe.codes", text.BPEOptions{Glossaries: []string{`<\w+>`}})
	if err != nil {
		log.Fatal(err)
	}
	line := bpe.Encode("low lower <name>")
	fmt.Println(line)
	fmt.Println(bpe.Decode(line))
	// Output:
	// lo@@ w low@@ er <name>
	// low lower <name>
}

func ExampleNeeds() {
	needs, err := text.Needs(format.Tokenization{Tokenizer: "none", BPE: "gpt2"})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range needs {
		fmt.Println(n.Section, n.Option)
	}
	// Output:
	// gpt2.encoder.json --gpt2-encoder-json
	// gpt2.vocab.bpe --gpt2-vocab-bpe
}
