package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memsizer/format"
)

// synthesis is one run of convert synth.
type synthesis struct {
	output   string
	preset   string
	seed     uint64
	dtype    string
	compress bool
	sizes    sizes
}

func newSynthCommand() *cobra.Command {
	var s synthesis
	var names strings.Builder
	for _, p := range presets {
		fmt.Fprintf(&names, "  %-13s %s\n", p.name, p.about)
	}
	c := quietly(&cobra.Command{
		Use:   "synth -o m.msz --preset NAME",
		Short: "Write a model of a given size with random weights",
		Long: `Write a model of a given size with random weights, for measurements. The same
seed gives the same weights. Presets:

` + strings.TrimSuffix(names.String(), "\n"),
		Example: `  convert synth -o mt.msz --preset mt
  convert synth -o lm.msz --preset lm --dtype i8 --seed 7
  convert synth -o small.msz --preset mt --layers 2 --dim 256 --ffn-dim 512 --heads 4`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%d arguments (%s), want none", len(args), strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return s.run(c.Context(), c.OutOrStdout()) },
	})
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&s.output, "output", "o", "", "`file` to write")
	f.StringVar(&s.preset, "preset", "mt", "`name` of the size")
	f.Uint64Var(&s.seed, "seed", 1, "of the random weights")
	f.StringVar(&s.dtype, "dtype", "f16", "element type of the weights: f16, f32, bf16 or i8")
	f.BoolVar(&s.compress, "compress", false, "compress the tensors too")
	f.IntVar(&s.sizes.layers, "layers", 0, "layers of each stack instead of the preset's")
	f.IntVar(&s.sizes.dim, "dim", 0, "model dimension")
	f.IntVar(&s.sizes.ffn, "ffn-dim", 0, "feed-forward dimension")
	f.IntVar(&s.sizes.heads, "heads", 0, "attention heads")
	f.IntVar(&s.sizes.vocab, "vocab", 0, "vocabulary")
	f.IntVar(&s.sizes.causal, "causal-slots", 0, "memory slots of decoder self-attention")
	f.IntVar(&s.sizes.cross, "cross-slots", 0, "memory slots of cross- and encoder attention")
	return c
}

func (s *synthesis) config() (format.Config, error) {
	for _, p := range presets {
		if p.name != s.preset {
			continue
		}
		c := p.config()
		resize(&c, s.sizes)
		if err := c.Validate(); err != nil {
			return c, &usageError{err}
		}
		return c, nil
	}
	err := usagef("--preset %q is not known", s.preset)
	return format.Config{}, hint(err, "convert synth --help lists them")
}

func (s *synthesis) run(ctx context.Context, stdout io.Writer) error {
	start := time.Now()
	policy, err := parsePolicy(s.dtype)
	if err != nil {
		return err
	}
	if s.output == "" || s.output == "-" {
		return hint(usagef("no output file"), "name it with -o")
	}
	c, err := s.config()
	if err != nil {
		return err
	}
	if err := s.write(ctx, c, policy); err != nil {
		return err
	}
	fi, err := os.Stat(s.output)
	if err != nil {
		return err
	}
	printConfig(stdout, &c)
	line(stdout, "parameters", "%s", grouped(c.Parameters()))
	line(stdout, "wrote", "%s: %s, %s bytes, %.2f s", s.output, policy.name, grouped(fi.Size()), time.Since(start).Seconds())
	return nil
}

func (s *synthesis) write(ctx context.Context, c format.Config, policy policy) error {
	h := format.Header{
		Config:       c,
		Tokenization: format.Tokenization{Tokenizer: "space", BPE: "none"},
		Provenance: format.Provenance{
			Model:     fmt.Sprintf("synthetic %s, seed %d", s.preset, s.seed),
			Converter: version, DTypePolicy: policy.name,
		},
	}
	var opts []format.WriteOption
	if s.compress {
		opts = append(opts, format.CompressTensors())
	}
	w, err := format.Create(s.output, h, append(opts, format.ExpectDTypes(policy.dtype))...)
	if err != nil {
		return err
	}
	defer w.Abort()
	if c.Encoder != nil {
		if err := w.AddSection(format.SectionSourceDict, dictionary(c.Encoder.Embedding.Vocab)); err != nil {
			return err
		}
	}
	if c.Encoder == nil || c.Encoder.Embedding.Vocab != c.Decoder.Embedding.Vocab {
		if err := w.AddSection(format.SectionTargetDict, dictionary(c.Decoder.Embedding.Vocab)); err != nil {
			return err
		}
	}
	for _, t := range c.TensorSpecs() {
		if err := addTensor(ctx, w, t, policy.dtype(t), s.weights(t)); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Close()
}

// dictionary has the words w4, w5, … after the four special symbols.
func dictionary(vocab int) []byte {
	var b bytes.Buffer
	for i := 4; i < vocab; i++ {
		fmt.Fprintf(&b, "w%d %d\n", i, 1+1_000_000/i)
	}
	return b.Bytes()
}

// weights are uniform random numbers of a magnitude as in training's start:
// Glorot's bound for matrices, deviation 1/√dim for tables, 1 ± 0.1 for norm
// weights and ± 0.1 for biases. They depend on the seed and the name alone.
func (s *synthesis) weights(t format.TensorSpec) readFunc {
	h := fnv.New64a()
	io.WriteString(h, t.Name)
	mean, bound := float32(0), 0.1
	switch {
	case t.Role == format.RoleMatrix:
		bound = math.Sqrt(6 / float64(t.Shape[0]+t.Shape[1]))
	case t.Role == format.RoleEmbedding, t.Role == format.RoleOutput:
		bound = math.Sqrt(3 / float64(t.Shape[len(t.Shape)-1]))
	case strings.HasSuffix(t.Name, "norm.weight"), strings.HasSuffix(t.Name, "embedding.weight"):
		mean = 1
	}
	step := float32(bound / (1 << 23))
	return func(fn func([]float32) error) error {
		r := rand.New(rand.NewPCG(s.seed, h.Sum64()))
		chunk := make([]float32, 1<<16)
		for left := t.Elements(); left > 0; left -= int64(len(chunk)) {
			chunk = chunk[:min(left, int64(len(chunk)))]
			for i := 0; i < len(chunk); i += 2 {
				// 2 × 24 bits: k − 2²³ for k in 0 … 2²⁴−1.
				u := r.Uint64()
				chunk[i] = mean + float32(int32(u&0xffffff)-1<<23)*step
				if i+1 < len(chunk) {
					chunk[i+1] = mean + float32(int32(u>>40)-1<<23)*step
				}
			}
			if err := fn(chunk); err != nil {
				return err
			}
		}
		return nil
	}
}
