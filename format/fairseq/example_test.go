package fairseq_test

import (
	"fmt"
	"log"

	"memsizer/format/fairseq"
)

// A checkpoint, its dictionaries and what it says about tokenisation become a
// configuration and tensors under canonical names.
func ExampleLoad() {
	m, err := fairseq.Load("testdata/config/checkpoint.pt", fairseq.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	fmt.Println(m.Found.Summary)
	fmt.Println(m.Tokenization.Tokenizer, m.Tokenization.BPE)
	for _, s := range m.Sections {
		fmt.Println(s.Name, len(s.Data), "bytes")
	}
	t := &m.Tensors[0]
	n := 0
	if err := t.Read(func(chunk []float32) error { n += len(chunk); return nil }); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Spec.Name, t.Spec.Shape, t.SourceDType, n)
	// Output:
	// translation model: vocabulary 14 → 14; encoder: 1 layer of 8/12, post-norm, relu, sinusoidal positions, self-attention softmax with 2 heads; decoder: 2 layers of 8/10, post-norm, relu, sinusoidal positions, self-attention MemSizer with 3 slots and 4 heads, cross-attention MemSizer with 5 slots and 4 heads
	// moses subword_nmt
	// dict.source 61 bytes
	// bpe.codes 18 bytes
	// encoder.embed_tokens.weight [14 8] float32 112
}

// A file that cannot be converted gives one error with everything in the way.
func ExampleLoad_refused() {
	_, err := fairseq.Load("testdata/half/checkpoint.pt", fairseq.Options{BPE: "fastbpe"})
	fmt.Println(err)
	// Output:
	// fairseq: "testdata/half/checkpoint.pt" cannot be converted:
	//   the checkpoint does not say how text was tokenised; give --tokenizer moses|space|nltk|none
	//   fastbpe needs a file; give it with --bpe-codes
}

// Inspect reports on a file, also on one that is not supported.
func ExampleInspect() {
	r, err := fairseq.Inspect("testdata/containers/fsdp.pt", fairseq.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Container, r.TensorCount)
	for _, u := range r.Unsupported {
		fmt.Println(u)
	}
	// Output:
	// pytorch zip 1
	// "fsdp_metadata": one shard of a fully sharded (FSDP) checkpoint; consolidate the shards first (fairseq/scripts/consolidate_fsdp_shards.py)
}
