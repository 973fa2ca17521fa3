// Package runtime runs converted models: it loads an .msz file, encodes
// source sentences, decodes them recurrently under greedy, beam or sampling
// search, and turns text into token ids and back.
//
// [Model] holds configuration and weights and is shared by goroutines;
// [State] is what decoding accumulates, one per worker; a [Translator] runs
// workers over a stream of sentences. Results for a sentence do not depend on
// the sentences around it, on the number of rows, or on the number of
// workers.
//
// Letters in shapes: B sentences, W beam width, R = B·W rows, S source
// length, T target length, D model dimension, H heads, K memory slots, V
// vocabulary.
package runtime
