package runtime

import "memsizer/format"

// Footprint is an estimate of the memory that decoding takes besides the
// model, in bytes.
type Footprint struct {
	Worker int64 // of each worker, whatever its rows
	Row    int64 // of each of its decoder rows
}

// Lengths that the estimate of softmax attention assumes, in tokens; a
// MemSizer's state has one size.
const (
	typicalTarget = 128
	typicalSource = 64
)

// Footprint estimates what workers with these options take.
func (m *Model) Footprint(o *Options, batchTokens int) Footprint {
	if batchTokens <= 0 {
		batchTokens = defaultBatchTokens
	}
	d := &m.header.Config.Decoder
	width := int64(min(max(o.Beam, 1), m.decoder.vocab-1))
	scratch := func(s *format.Stack) int64 { return 4 * int64(s.FFNDim+8*s.Dim) }
	f := Footprint{
		Worker: 4 * outputRows * int64(m.output.vocab),
		Row:    scratch(d) + stateBytes(&d.Self, d, typicalTarget) + 16*typicalTarget,
	}
	if d.Cross != nil {
		source := stateBytes(d.Cross, d, typicalSource)
		f.Row += source / width
		f.Worker += encodeGroup * source
	}
	if e := m.header.Config.Encoder; e != nil {
		f.Worker += int64(batchTokens) * scratch(e)
	}
	return f
}

// stateBytes is the state of an attention in all layers, for sequences of n
// tokens where that matters.
func stateBytes(a *format.Attention, s *format.Stack, n int64) int64 {
	if a.Kind == format.MemSizer {
		n = int64(a.Slots)
	} else {
		n *= 2 // keys and values
	}
	return 4 * int64(s.Layers) * int64(s.Dim) * n
}
