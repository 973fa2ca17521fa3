package runtime

import (
	"context"
	"testing"

	"memsizer/ops"
)

// TestProfileOfTranslator wants the phases of both stages filled, as many
// output rows as tokens were computed, and nothing without asking.
func TestProfileOfTranslator(t *testing.T) {
	m := openBundled(t)
	for _, ask := range []bool{false, true} {
		o := DefaultOptions()
		o.Beam, o.MinLen, o.MaxLenB = 1, 6, 6
		tr, err := NewTranslator(m, o, Resources{Workers: 1, Rows: 4, Profile: ask})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.TranslateTokens(context.Background(), 0, []int32{4, 5, 6, 2}, nil); err != nil {
			t.Fatal(err)
		}
		tr.Close()
		p := tr.Profile()
		if !ask {
			if p.Busy != 0 || p.Encoder.Total() != 0 || p.Decoder.Total() != 0 {
				t.Errorf("got a profile %+v without asking", p)
			}
			continue
		}
		if p.Busy != 1 {
			t.Errorf("%d workers were busy, want 1", p.Busy)
		}
		for _, phase := range []ops.Phase{ops.PhaseEmbed, ops.PhaseLinear, ops.PhaseAttention, ops.PhaseNorm} {
			if p.Encoder.Times[phase] <= 0 || p.Decoder.Times[phase] <= 0 {
				t.Errorf("phase %v: %v and %v, want more than 0", phase, p.Encoder.Times[phase], p.Decoder.Times[phase])
			}
		}
		rows := 0
		for _, x := range p.Decoder.Products {
			if x.Phase == ops.PhaseOutput {
				rows += x.Rows * int(x.Calls)
			}
		}
		if rows != 7 { // 6 tokens and eos
			t.Errorf("%d rows of output, want 7", rows)
		}
		tr.ResetProfile()
		if p := tr.Profile(); p.Encoder.Total() != 0 || len(p.Decoder.Products) != 0 {
			t.Error("ResetProfile left something")
		}
	}
}
