package text_test

import (
	"fmt"
	"log"
	"strings"

	"memsizer/runtime/text"
)

// Raw text to tokens and back, as fairseq does with --tokenizer moses.
func ExampleMosesTokenizer() {
	tok, err := text.NewMosesTokenizer("en", text.MosesOptions{AggressiveDashSplits: true, Escape: true})
	if err != nil {
		log.Fatal(err)
	}
	words := tok.Tokenize(`Mr. Smith didn't buy a well-known "thing".`)
	fmt.Println(strings.Join(words, " "))
	fmt.Println(text.NewMosesDetokenizer("en", true).Detokenize(words))
	// Output:
	// Mr. Smith didn &apos;t buy a well @-@ known &quot; thing &quot; .
	// Mr. Smith didn't buy a well-known "thing".
}

func ExamplePunctuationNormalizer() {
	n := text.NewPunctuationNormalizer("de")
	fmt.Println(n.Normalize("Er sagte: „Ja… – heute“ ( 10 % )."))
	// Output:
	// Er sagte: "Ja... - heute" (10%).
}

func ExampleNLTKTokenizer() {
	fmt.Println(strings.Join(text.NewNLTKTokenizer().Tokenize(`Dr. Who can't pay. "Why?"`), " "))
	// Output:
	// Dr. Who ca n't pay . `` Why ? ''
}
