package fairseq

import (
	"fmt"

	"memsizer/format"
)

// summary is one line about a configuration.
func summary(cfg *format.Config) string {
	kind := func(a *format.Attention) string {
		if a.Kind == format.MemSizer {
			return fmt.Sprintf("MemSizer with %d slots and %s", a.Slots, plural(a.Heads, "head"))
		}
		return "softmax with " + plural(a.Heads, "head")
	}
	stack := func(t *format.Stack) string {
		norm := "post-norm"
		if t.PreNorm {
			norm = "pre-norm"
		}
		s := fmt.Sprintf("%s of %d/%d, %s, %s, %s positions, self-attention %s",
			plural(t.Layers, "layer"), t.Dim, t.FFNDim, norm, t.Activation, t.Positions.Kind, kind(&t.Self))
		if t.Cross != nil {
			s += ", cross-attention " + kind(t.Cross)
		}
		return s
	}
	dec := &cfg.Decoder
	if cfg.Encoder == nil {
		return fmt.Sprintf("language model: vocabulary %d, %s input, %s output, %s", dec.Embedding.Vocab, dec.Embedding.Kind, cfg.Output.Kind, stack(dec))
	}
	return fmt.Sprintf("translation model: vocabulary %d → %d; encoder: %s; decoder: %s", cfg.Encoder.Embedding.Vocab, dec.Embedding.Vocab, stack(cfg.Encoder), stack(dec))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
