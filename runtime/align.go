package runtime

import (
	"context"
	"strings"

	"memsizer/format"
	"memsizer/ops"
)

// Alignment returns, for each token of tgt (ending with eos), the weights of
// the tokens of src (with eos) in the last decoder layer's cross-attention
// when the token was predicted: [T][S]. For softmax attention they are the
// mean over the heads of the softmax, which is what fairseq aligns by; for
// MemSizer the part that each source token's key has in what the query reads,
//
//	w_j = S^-½ · Σ_k α_k κ_j,k
//
// which may be negative.
func (s *Scorer) Alignment(ctx context.Context, src, tgt []int32) ([][]float32, error) {
	if s.m.encoder == nil {
		return nil, errNoSource
	}
	prev := append([]int32{s.m.header.Config.Start()}, tgt...)
	if err := s.m.checkTokens(src, prev); err != nil {
		return nil, err
	}
	prev = prev[:len(tgt)]
	out := s.source(src, nil)
	d := s.m.decoder
	last := d.layers[len(d.layers)-1].cross
	var w scratch // the encoder's output stays where it is
	keys := last.keys(s.c, &w, out)
	weights := make([][]float32, 0, len(tgt))
	s.observe = func(in ops.Matrix) {
		for r := range in.Rows {
			row := make([]float32, len(src))
			last.align(s.c, &w, row, in.Slice(r, r+1), keys)
			weights = append(weights, row)
		}
	}
	defer func() { s.observe = nil }()
	_, err := s.window(ctx, nil, prev, tgt, len(prev))
	return weights, err
}

// replaceUnknown is a hypothesis' text with each <unk> replaced by the source
// piece that it is aligned to most; pieces are those of src without eos.
func (t *Translator) replaceUnknown(src []int32, pieces []string, tgt []int32) (string, error) {
	s, _ := t.scorers.Get().(*Scorer)
	if s == nil {
		s = NewScorer(t.m)
	}
	defer t.scorers.Put(s)
	weights, err := s.Alignment(context.Background(), src, tgt)
	if err != nil {
		return "", err
	}
	dict := t.m.text.Target()
	var symbols []string
	for i, id := range tgt {
		switch {
		case id == format.EOS || id == format.Pad || id == format.BOS:
		case id == format.Unk:
			symbols = append(symbols, pieces[strongest(weights[i][:len(pieces)])])
		default:
			symbols = append(symbols, dict.Symbol(id))
		}
	}
	return t.m.text.Detokenize(strings.Join(symbols, " ")), nil
}

// strongest is the index of the largest weight.
func strongest(w []float32) int {
	best := 0
	for i, v := range w {
		if v > w[best] {
			best = i
		}
	}
	return best
}
