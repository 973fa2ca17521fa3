package runtime

import (
	"context"
	"fmt"

	"memsizer/format"
)

// forwardRows is the number of target positions that a forced pass computes
// together.
const forwardRows = 128

// Logits runs src (source ids with eos; nil for a language model) and prev
// (the decoder's inputs, normally eos followed by the target) through the
// model and calls yield with the scores over the vocabulary that follow each
// input: logits, or log-probabilities for an adaptive softmax. The slice is
// valid during the call. With stepwise, every token is a step of its own, as
// in a search; otherwise positions are computed together. Both agree bit for
// bit. trace may be nil.
func (m *Model) Logits(src, prev []int32, stepwise bool, trace Trace, yield func(pos int, scores []float32)) error {
	if err := m.checkTokens(src, prev); err != nil {
		return err
	}
	s := NewScorer(m)
	if m.encoder != nil {
		s.source(src, trace)
	}
	chunk := forwardRows
	switch {
	case stepwise:
		chunk = 1
	case trace != nil:
		chunk = len(prev) // one call per layer, with all rows
	}
	return s.forced(context.Background(), prev, chunk, 0, trace, yield)
}

func (m *Model) checkTokens(src, prev []int32) error {
	switch {
	case (m.encoder == nil) != (src == nil):
		return fmt.Errorf("runtime: a source of %d tokens for a model with encoder: %v", len(src), m.encoder != nil)
	case m.encoder != nil && len(src) == 0:
		return fmt.Errorf("runtime: the source is empty")
	case len(prev) == 0:
		return fmt.Errorf("runtime: the target is empty")
	}
	if m.encoder != nil {
		if err := checkIDs("source", src, m.encoder.vocab, m.encoder.positions.limit()); err != nil {
			return err
		}
	}
	return checkIDs("target", prev, m.decoder.vocab, m.decoder.positions.limit())
}

func checkIDs(what string, ids []int32, vocab, limit int) error {
	if limit > 0 && len(ids) > limit {
		return fmt.Errorf("runtime: %s has %d tokens, the model's positions end at %d", what, len(ids), limit)
	}
	for i, id := range ids {
		if id < 0 || int(id) >= vocab || id == format.Pad {
			return fmt.Errorf("runtime: %s token %d has id %d, want 0 to %d and not pad", what, i, id, vocab-1)
		}
	}
	return nil
}

// maxTarget is the largest number of target tokens, eos included, that the
// model's settings allow.
func (m *Model) maxTarget() int { return m.header.Config.Decoder.Positions.Max }
