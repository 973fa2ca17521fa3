/*
Package format reads and writes .msz files: one file that holds everything
needed to run a model. [Open] maps a file, [Create] writes one; [Config] and
[Tokenization] are the canonical description of a model that importers
produce and package runtime executes.

What follows specifies container version 1, architecture revision 1 and
quantisation revision 1 to the byte.

# Overview

	offset  size  content
	0       32    preamble
	32      H     header: JSON
	        0…    zero bytes up to the next multiple of 256
	              first section
	        0…    zero bytes up to the next multiple of 256
	              second section
	              …
	              last section, which ends the file

All integers in the preamble and in sections are little-endian. A file
without sections ends with its header. Nothing is aligned after the last
section. Every padding byte is zero.

# Preamble

	offset  size  content
	0       8     magic: 89 4D 53 5A 0D 0A 1A 0A ("\x89MSZ\r\n\x1a\n")
	8       4     u32 container version: 1
	12      4     u32 CRC-32C of the bytes 16 … 32+H−1 (sizes and header)
	16      8     u64 H, the header's length in bytes, at most 104,857,600
	24      8     u64 length of the whole file in bytes

CRC-32C is the checksum with the Castagnoli polynomial (reflected 0x82F63B78,
initial value and final xor 0xFFFFFFFF), as in iSCSI. Any change to the
layout changes the container version; a reader refuses versions that it does
not know.

# Header

The header is one JSON object (RFC 8259, UTF-8) with exactly these keys in
this order:

	architecture  integer ≥ 1: revision of the meaning of "config" and of the tensors' names
	quantization  integer ≥ 1: revision of the element types and their layout
	config        object: the model, see below
	tokenization  object: from raw text to tokens and back, see below
	provenance    object: where the model comes from, see below
	sections      array of section entries: named files, such as dictionaries
	tensors       array of tensor entries

A reader looks at the two revisions first and refuses a newer one than it
knows before it looks at anything else; a file carries the lowest revisions
that describe it.

There is exactly one valid JSON text for given contents. A reader rejects
any other (it decodes, encodes again and compares). The rules:

  - No white space outside strings. Keys in the order of the tables here. A key
    marked "omitted" is left out when it has that value, and never written with
    it; all other keys are always there. There are no further keys, no null.
  - Integers are decimal without leading zeros, exponent or fraction.
  - Numbers marked f32 are binary32 values, written with the fewest digits that
    read back to the same binary32 value, in the form of ECMAScript's
    Number.prototype.toString: an exponent only below 1e-6 or from 1e21 on.
    Examples: 2, 11.313708, 0.00001, 1e-7.
  - Strings escape only the quotation mark and the backslash (\" and \\), the
    control characters U+0000…U+001F (\b \f \n \r \t, else \u00XX with lower-case
    digits) and U+2028 and U+2029 (\u2028, \u2029). Everything else stands for
    itself. Strings are valid UTF-8.

The values of config, tokenization and provenance are at most 1 MiB of JSON
each, an entry of sections or tensors at most 1,024 bytes.

A section entry is an object:

	name    string: 1 to 255 printable ASCII characters (0x21…0x7E) without " and \, unique among sections
	size    integer ≥ 0: bytes of the content
	stored  integer: bytes in the file when compressed; omitted when it is stored plain
	crc     string: CRC-32C of the bytes in the file, eight lower-case hexadecimal digits

A tensor entry is an object:

	name    string as for sections, unique among tensors
	dtype   "f32", "f16", "bf16" or "i8"
	shape   array of 1 to 8 integers ≥ 1; exactly 2 for i8
	stored  as for sections
	crc     as for sections

Offsets are not stored: they follow from the order. The file's sections are
those of "sections" and then those of "tensors", in the order of the entries.
The first one starts at the first multiple of 256 at or after 32+H; each
other one at the first multiple of 256 at or after the end of the one before.
So nothing can overlap, and there are no holes but the padding. An empty
section has its place, and the padding before it, too.

# Tensor contents

The size of a tensor's content follows from dtype and shape: the product of
the shape times 4 (f32), 2 (f16, bf16), or as below (i8). It must be below
2^60. Elements are in row-major order (the last dimension is contiguous);
linear weights are [out, in].

	f32   IEEE 754 binary32
	f16   IEEE 754 binary16, subnormal numbers included
	bf16  the upper 16 bits of a binary32

An i8 matrix of shape [rows, cols] has

	offset  size       content
	0       4·rows     one f32 scale per row, positive and finite
	4·rows  P − 4·rows zero bytes; P = 4·rows rounded up to a multiple of 256
	P       rows·cols  the values, signed bytes −127 … 127 (never −128), row after row

and element [i, j] is scale[i] · value[i, j]. Whether a tensor is i8 is
decided tensor by tensor; other tensors of the same file may be f16.

The converter's policies f32, f16 and bf16 give every tensor that type. Its
policy i8 makes linear weights i8 and what the output layer multiplies by
([RoleOutput]: an output projection, the words of an adaptive softmax, and the
embedding tables that serve as such), and leaves biases, norm weights and
tables that are only looked up f16. What the policies cost a trained
translation model (BLEU of 1,000 sentences, beam 5; nats per token of the
reference translations) and a trained language model (perplexity):

	        BLEU    nats     perplexity
	f32     33.61   1.79458  40.912
	f16     33.64   1.79461  40.912
	bf16    33.62   1.79478  40.911
	i8      33.75   1.79524  40.928
	        33.55   1.79483  40.924     the output layer's matrices f16
	        33.45   1.79492  40.922     the same, rounded to 8 bits for the product only

So a file in i8 holds each matrix once, in the form in which it is multiplied.

# Compression

A section with "stored" is one zstd frame (RFC 8878) of that many bytes: no
skippable frame, nothing after it, no dictionary, with a Frame_Content_Size
equal to the content's size, and a Window_Size of at most 8 MiB (the
Window_Size of a Single_Segment frame is its content's size). A content
checksum is allowed. The content has at least 256 bytes (shorter content is
stored plain); "stored" is at least 1, less than the content's size,
and at least a 256th of it: so no file unpacks to more than 256 times its
length. Compressed sections are copied from file to file as they are; a
writer need not produce the same frames as another. This package compresses
named sections wherever that follows the rules, and tensors on demand
([CompressTensors]).

# Config

	encoder           Stack; omitted for a language model
	decoder           Stack
	output            Output
	share_embeddings  true: the decoder embeds with encoder.embed_tokens.weight; omitted when false

Stack:

	layers           integer
	dim              integer: D
	ffn_dim          integer: F
	activation       "relu", "gelu" (erf), "gelu_accurate", "gelu_fast" (tanh), "tanh", "linear", "swish"
	pre_norm         boolean
	final_norm       boolean: a layer norm after the last layer
	embedding        Embedding
	positions        Positions
	embed_scale      f32: factor of the token embedding
	embed_norm       true: a layer norm after token and position embedding were added; omitted when false
	norm_eps         f32: epsilon of every layer norm
	self_attention   Attention
	cross_attention  Attention; omitted in an encoder and in a language model
	output_dim       integer: width of project_out_dim; omitted when 0

Embedding: kind ("plain", "adaptive"), vocab (V), dim (integer; omitted when
0), bands (array of Band; omitted when empty). Band: size, dim (integers).
Positions: kind ("none", "sinusoidal", "learned"), offset (position of the
first token), rows (of a learned table; omitted when 0), max (tokens).
Attention: kind ("memsizer", "softmax"), heads (H), slots (K; omitted when
0), source_dim (width of what keys and values are computed from). Output:
kind ("plain", "adaptive"), tied_embedding (true; omitted when false), bias
(likewise), bands (array of Band; omitted when empty), tied_bands and
tied_projections (true; omitted when false). [Config.Validate] says which
combinations there are; a reader rejects others.

# Tensors

The container does not require that a file's tensors are the ones that its
configuration needs; a program that runs the model does. They are, in this
order, P being "encoder" or "decoder" (a w or b stands for .weight, .bias):

	P.embed_tokens.weight [V, dim]                       plain, not when shared
	P.embed_tokens.bands.i.weight [size, dim], …bands.i.projection [D, dim]   adaptive
	P.project_in_dim.weight [D, dim]                     plain, dim ≠ D
	P.embed_positions.weight [rows, D]                   learned
	P.layernorm_embedding w b [D]                        embed_norm
	P.layers.i.self_attn.…                               see below
	P.layers.i.self_attn_layer_norm w b [D]
	P.layers.i.encoder_attn.…, P.layers.i.encoder_attn_layer_norm w b [D]     cross_attention
	P.layers.i.fc1 w [F, D] b [F], P.layers.i.fc2 w [D, F] b [D]
	P.layers.i.final_layer_norm w b [D]
	P.layer_norm w b [D]                                 final_norm
	P.project_out_dim.weight [output_dim, D]             output_dim ≠ D

Attention "memsizer": q_proj w [H·K, D] b, k_proj w [K, S] b, v_proj w [D, S]
b, k_layer_norm w b [K], v_layer_norm w b [D]; "softmax": q_proj w [D, D] b,
k_proj w [D, S] b, v_proj w [D, S] b, out_proj w [D, D] b; S is source_dim.

After both stacks comes the output layer, which reads X = output_dim or D
values: plain, decoder.output_projection w [V, X] (not when tied) and b [V]
(when biased); adaptive, under decoder.adaptive_softmax, head.weight
[size₀, X], head.class.weight [bands−1, X], and for each tail i ≥ 0 (band
i+1) tails.i.projection.weight [dim, X] and tails.i.weight [size, dim],
without those that tied_bands and tied_projections take from the embedding.

# Tokenization and named sections

	source_lang, target_lang     strings; omitted when empty
	tokenizer                    "moses", "space", "nltk", "none"
	moses_no_dash_splits, moses_no_escape, normalize_punctuation    true; omitted when false
	bpe                          "subword_nmt", "fastbpe", "sentencepiece", "gpt2", "bytes", "byte_bpe", "characters", "none"
	bpe_separator                string; omitted when empty (then "@@")
	bpe_vocabulary_threshold     integer; omitted when 0
	bpe_glossaries               array of strings; omitted when empty

Sections with a meaning, each the bytes of the file as it was given:

	dict.source, dict.target     fairseq dictionaries; when dict.target is absent it equals dict.source;
	                             a language model has dict.target alone
	bpe.codes, bpe.vocab         codes of subword-nmt or fastBPE; vocabulary of the threshold
	sentencepiece.model          SentencePiece model
	gpt2.encoder.json, gpt2.vocab.bpe

# Provenance

	source        string: base name of the converted file, no folder; omitted when empty
	sha256        string: SHA-256 of its bytes, 64 lower-case hexadecimal digits; omitted when empty
	sources       array of {"name", "sha256"} instead of these two when there were several files (averaged
	              checkpoints, graphs with external data); omitted when empty
	model         string: the architecture's name in the training code; omitted when empty
	converter     string: program and version; omitted when empty
	dtype_policy  string: how element types were chosen; omitted when empty

There is no time, user or folder in a file: the same input gives the same
bytes.
*/
package format
