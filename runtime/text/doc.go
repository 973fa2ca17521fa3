// Package text turns raw lines into token ids and token ids into raw lines,
// as fairseq's interactive translation does: tokenizer, BPE, dictionary, and
// back.
package text
