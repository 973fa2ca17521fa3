package runtime_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"

	"memsizer/runtime"
)

// Open a model and translate a slice of strings.
func Example() {
	m, err := runtime.Open("../testdata/multi30k-en-de/model.msz")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	o := runtime.DefaultOptions() // fairseq's: beam 5, lenpen 1
	o.MaxLenA, o.MaxLenB = 1.2, 10
	t, err := runtime.NewTranslator(m, o, runtime.Resources{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()

	out, err := t.Translate(context.Background(), []string{
		"A man in an orange hat starring at something.",
		"",
		"People are fixing the roof of a house.",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, tr := range out {
		fmt.Printf("%q\n", tr.Text())
	}
	// Output:
	// "Ein Mann mit einem orangefarbenen Hut starrt auf etwas."
	// ""
	// "Menschen reparieren das Dach eines Hauses."
}

// Translate a stream of lines; the results come in order while later lines
// are still being read.
func ExampleTranslator_Stream() {
	m, err := runtime.Open("../testdata/multi30k-en-de/model.msz")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	o := runtime.DefaultOptions()
	o.Beam, o.MaxLenA, o.MaxLenB = 1, 1.2, 10
	t, err := runtime.NewTranslator(m, o, runtime.Resources{Workers: 2, Rows: 8})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()

	lines := strings.Lines("Two dogs run.\nA child sleeps.\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for tr, err := range t.Stream(ctx, lines) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tr.Line, tr.Text(), len(tr.Hypotheses[0].Tokens))
	}
	// Output:
	// 0 Zwei Hunde laufen. 5
	// 1 Ein Kind schläft. 5
}

// Continue prompts with a language model by beam search; the hypotheses begin
// with the prompt.
func ExampleGenerator() {
	m, err := runtime.Open("../testdata/lm-gelu/model.msz")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	o := runtime.DefaultOptions()
	o.Beam, o.MaxLenB = 4, 8
	g, err := runtime.NewGenerator(m, o, runtime.Resources{})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()

	prompt, _ := m.Text().EncodeTarget("w3 w14 w9")
	hyps, err := g.Generate(context.Background(), 0, prompt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Text().Decode(hyps[0].Tokens))
	// Output:
	// w3 w14 w9 w34 w34 w34 w34 w34
}

// Continue a prompt token by token, as long as wanted.
func ExampleModel_Continue() {
	m, err := runtime.Open("../testdata/lm-gelu/model.msz")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	prompt, _ := m.Text().EncodeTarget("w3 w14 w9")
	n := 0
	for tok, err := range m.Continue(context.Background(), 0, prompt, runtime.DefaultOptions()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Text().Target().Symbol(tok.ID))
		if n++; n == 3 {
			break
		}
	}
	// Output:
	// w34
	// w34
	// w34
}

// The perplexity of a text, read in blocks of 64 tokens.
func ExampleModel_ScoreText() {
	m, err := runtime.Open("../testdata/lm-gelu/model.msz")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	tokens, _ := m.Text().EncodeTarget("w3 w14 w9 w9 w14")
	sum, n := 0.0, 0
	err = m.ScoreText(context.Background(), slices.Values(tokens), runtime.Blocks{Tokens: 64}, 0, func(logProbs []float32) error {
		for _, p := range logProbs {
			sum += float64(p)
			n++
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d tokens, perplexity %.1f\n", n, math.Exp(-sum/float64(n)))
	// Output:
	// 5 tokens, perplexity 391.8
}
