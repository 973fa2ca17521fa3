package runtime

import (
	"context"
	"fmt"
	"time"
)

// StepTimes measures how fast a language model generates at a length: the
// time of each of n greedy tokens of one sequence that follow `past` others.
// The past is made up, not generated: a softmax cache is filled with numbers,
// a MemSizer's memory stays as it is after its first token. The work of a
// step does not depend on them.
func (m *Model) StepTimes(ctx context.Context, past, n int) ([]time.Duration, error) {
	switch limit := m.decoder.positions.limit(); {
	case m.encoder != nil:
		return nil, fmt.Errorf("runtime: a translation model does not continue prompts")
	case past < 0 || n < 1:
		return nil, fmt.Errorf("runtime: %d tokens after %d, want 1 or more after 0 or more", n, past)
	case limit > 0 && past+n > limit:
		return nil, fmt.Errorf("runtime: the model's positions end at %d tokens", limit)
	}
	o := DefaultOptions()
	b := newContinuer(m, &o, 1, func(int, Token, error) bool { return true })
	b.add(0, nil)
	if past > 0 {
		b.step() // the state's first token
		for _, s := range b.state.causal {
			if s, ok := s.(*softmaxState); ok {
				s.cache.Fill(0, past, past+n)
			}
		}
		b.active[0].t = past
	}
	var times []time.Duration
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		b.step()
		times = append(times, time.Since(start))
	}
	return times, nil
}

// StateBytes is the size of what decoding keeps of one sequence after so many
// tokens, in all layers: the memories of a MemSizer decoder, whatever the
// length, or the keys and values of softmax attention. Cross-attention is not
// counted.
func (m *Model) StateBytes(tokens int) int64 {
	d := &m.header.Config.Decoder
	return stateBytes(&d.Self, d, int64(tokens))
}
