// Package text turns raw lines into token ids and token ids into raw lines,
// as fairseq-interactive does: tokenizer, BPE, dictionary, and back.
//
// [Pipeline] is the whole way, made from a [memsizer/format.Tokenization] and
// the sections of a .msz file. Its parts are exported too:
//
//   - [Dictionary], fairseq's dict.txt;
//   - [BPE], the byte-pair encodings of subword-nmt (codes 0.1 and 0.2, with
//     vocabulary and glossaries) and fastBPE; [GPT2BPE], the byte-level one of
//     GPT-2;
//   - [SentencePiece], models of the sentencepiece library of all four types,
//     with their normalisation rules, user-defined symbols and byte fallback;
//   - [MosesTokenizer], [MosesDetokenizer] and [PunctuationNormalizer], after
//     sacremoses.
//
// The results are those of the programs that fairseq calls, to the character,
// which the recorded cases in testdata and the reference tests hold; where
// versions of a program differ, the comment at the place says which one counts.
// What a line may hold is not restricted: bytes that are no UTF-8 count as
// U+FFFD. Files are checked completely when they are read: contents that break
// the rules are a [CorruptError], settings that are valid but not implemented
// an [UnsupportedError].
package text
