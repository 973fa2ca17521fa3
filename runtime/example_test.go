package runtime_test

import (
	"context"
	"fmt"
	"log"
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
