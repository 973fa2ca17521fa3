package fairseq

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"memsizer/format"
)

// network computes a model in the plainest way, in float64 and one sentence at
// a time, from the canonical configuration and tensors: what this package says
// a checkpoint means is right when the recorded outputs come out.
type network struct {
	cfg format.Config
	w   map[string][]float64
}

func newNetwork(t *testing.T, m *Model) *network {
	t.Helper()
	n := &network{cfg: m.Config, w: make(map[string][]float64)}
	for i := range m.Tensors {
		v := make([]float64, 0, m.Tensors[i].Spec.Elements())
		if err := m.Tensors[i].Read(func(c []float32) error {
			for _, x := range c {
				v = append(v, float64(x))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		n.w[m.Tensors[i].Spec.Name] = v
	}
	return n
}

// times is x·Wᵀ + b; w is [out, in] and b may be nil.
func times(x [][]float64, w, b []float64) [][]float64 {
	y := make([][]float64, len(x))
	for t := range x {
		in := len(x[t])
		y[t] = make([]float64, len(w)/in)
		for o := range y[t] {
			for i, v := range x[t] {
				y[t][o] += v * w[o*in+i]
			}
			if b != nil {
				y[t][o] += b[o]
			}
		}
	}
	return y
}

func (n *network) linear(name string, x [][]float64) [][]float64 {
	return times(x, n.w[name+".weight"], n.w[name+".bias"])
}

func (n *network) norm(name string, x [][]float64) [][]float64 {
	y := make([][]float64, len(x))
	for t, row := range x {
		mean, variance := 0.0, 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / float64(len(row))
		}
		y[t] = make([]float64, len(row))
		for i, v := range row {
			y[t][i] = (v-mean)/math.Sqrt(variance+1e-5)*n.w[name+".weight"][i] + n.w[name+".bias"][i]
		}
	}
	return y
}

func softmax(x []float64) []float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = math.Max(top, v)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Exp(v - top)
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y
}

func (n *network) embed(side string, s *format.Stack, tokens []int64) [][]float64 {
	table := side
	if n.cfg.ShareEmbeddings {
		table = "encoder"
	}
	x := make([][]float64, len(tokens))
	for t, id := range tokens {
		if s.Embedding.Kind == format.Adaptive {
			first := int64(0)
			for b, band := range s.Embedding.Bands {
				if id < first+int64(band.Size) {
					p := fmt.Sprintf("%s.embed_tokens.bands.%d.", side, b)
					row := n.w[p+"weight"][(id-first)*int64(band.Dim):][:band.Dim]
					x[t] = times([][]float64{row}, n.w[p+"projection"], nil)[0]
					break
				}
				first += int64(band.Size)
			}
		} else {
			x[t] = append([]float64(nil), n.w[table+".embed_tokens.weight"][int(id)*s.Embedding.Dim:][:s.Embedding.Dim]...)
		}
		for i := range x[t] {
			x[t][i] *= float64(s.EmbedScale)
		}
	}
	if w := n.w[side+".project_in_dim.weight"]; w != nil {
		x = times(x, w, nil)
	}
	for t := range x {
		for i := range x[t] {
			x[t][i] += n.position(side, s, t, i)
		}
	}
	if s.EmbedNorm {
		x = n.norm(side+".layernorm_embedding", x)
	}
	return x
}

func (n *network) position(side string, s *format.Stack, t, i int) float64 {
	p, half := s.Positions.Offset+t, s.Dim/2
	switch s.Positions.Kind {
	case format.LearnedPositions:
		return n.w[side+".embed_positions.weight"][p*s.Dim+i]
	case format.SinusoidalPositions:
		if i >= 2*half {
			return 0
		}
		angle := float32(p) * float32(math.Exp(float64(float32(i%half)*float32(-math.Log(10000)/float64(half-1)))))
		if i < half {
			return math.Sin(float64(angle))
		}
		return math.Cos(float64(angle))
	}
	return 0
}

// attend is one attention of x over source; causal is self-attention of a decoder.
func (n *network) attend(p string, a *format.Attention, x, source [][]float64, causal bool) [][]float64 {
	q, k, v := n.linear(p+".q_proj", x), n.linear(p+".k_proj", source), n.linear(p+".v_proj", source)
	if a.Kind == format.MemSizer {
		k, v = n.norm(p+".k_layer_norm", k), n.norm(p+".v_layer_norm", v)
		return remember(a, q, k, v, causal)
	}
	d := len(q[0])
	h := d / a.Heads
	y := make([][]float64, len(x))
	for t := range x {
		y[t] = make([]float64, d)
		seen := len(source)
		if causal {
			seen = t + 1
		}
		for at := 0; at < d; at += h {
			scores := make([]float64, seen)
			for s := range scores {
				for i := at; i < at+h; i++ {
					scores[s] += q[t][i] * k[s][i] / math.Sqrt(float64(h))
				}
			}
			for s, w := range softmax(scores) {
				for i := at; i < at+h; i++ {
					y[t][i] += w * v[s][i]
				}
			}
		}
	}
	return n.linear(p+".out_proj", y)
}

func remember(a *format.Attention, q, k, v [][]float64, causal bool) [][]float64 {
	y := make([][]float64, len(q))
	for t := range q {
		seen := len(k)
		if causal {
			seen = t + 1
		}
		slot := make([]float64, a.Slots)
		for h := range a.Heads {
			for j, w := range softmax(q[t][h*a.Slots:][:a.Slots]) {
				slot[j] += w / float64(a.Heads)
			}
		}
		y[t] = make([]float64, len(v[0]))
		for s := range seen {
			w := 0.0
			for j := range slot {
				w += slot[j] * k[s][j] / math.Sqrt(float64(seen))
			}
			for i := range y[t] {
				y[t][i] += w * v[s][i]
			}
		}
	}
	return y
}

func activate(name string, v float64) float64 {
	switch name {
	case "relu":
		return math.Max(v, 0)
	case "gelu":
		return v * (1 + math.Erf(v/math.Sqrt2)) / 2
	case "gelu_accurate", "gelu_fast":
		return v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
	case "tanh":
		return math.Tanh(v)
	case "swish":
		return v / (1 + math.Exp(-v))
	}
	return v
}

func (n *network) stack(side string, s *format.Stack, x, encoded [][]float64) [][]float64 {
	for i := range s.Layers {
		p := fmt.Sprintf("%s.layers.%d.", side, i)
		residual := func(norm string, f func([][]float64) [][]float64) {
			in := x
			if s.PreNorm {
				in = n.norm(p+norm, x)
			}
			out := f(in)
			for t := range out {
				for j := range out[t] {
					out[t][j] += x[t][j]
				}
			}
			if x = out; !s.PreNorm {
				x = n.norm(p+norm, x)
			}
		}
		residual("self_attn_layer_norm", func(in [][]float64) [][]float64 {
			return n.attend(p+"self_attn", &s.Self, in, in, side == "decoder")
		})
		if s.Cross != nil {
			residual("encoder_attn_layer_norm", func(in [][]float64) [][]float64 {
				return n.attend(p+"encoder_attn", s.Cross, in, encoded, false)
			})
		}
		residual("final_layer_norm", func(in [][]float64) [][]float64 {
			f := n.linear(p+"fc1", in)
			for t := range f {
				for j := range f[t] {
					f[t][j] = activate(s.Activation, f[t][j])
				}
			}
			return n.linear(p+"fc2", f)
		})
	}
	if s.FinalNorm {
		x = n.norm(side+".layer_norm", x)
	}
	if w := n.w[side+".project_out_dim.weight"]; w != nil {
		x = times(x, w, nil)
	}
	return x
}

// run gives logits, or log-probabilities where the output is adaptive.
func (n *network) run(source, tokens []int64) [][]float64 {
	var encoded [][]float64
	if n.cfg.Encoder != nil {
		encoded = n.stack("encoder", n.cfg.Encoder, n.embed("encoder", n.cfg.Encoder, source), nil)
	}
	x := n.stack("decoder", &n.cfg.Decoder, n.embed("decoder", &n.cfg.Decoder, tokens), encoded)
	if n.cfg.Output.Kind == format.Adaptive {
		return n.adaptive(x)
	}
	w := n.w["decoder.output_projection.weight"]
	if n.cfg.Output.TiedEmbedding {
		if w = n.w["decoder.embed_tokens.weight"]; n.cfg.ShareEmbeddings {
			w = n.w["encoder.embed_tokens.weight"]
		}
	}
	return times(x, w, n.w["decoder.output_projection.bias"])
}

func (n *network) adaptive(x [][]float64) [][]float64 {
	const p = "decoder.adaptive_softmax."
	o := &n.cfg.Output
	table := func(i int) []float64 {
		if o.TiedBands {
			return n.w[fmt.Sprintf("decoder.embed_tokens.bands.%d.weight", i)]
		}
		if i == 0 {
			return n.w[p+"head.weight"]
		}
		return n.w[fmt.Sprintf("%stails.%d.weight", p, i-1)]
	}
	y := make([][]float64, len(x))
	for t := range x {
		row := x[t : t+1]
		head := logSoftmax(append(times(row, table(0), nil)[0], times(row, n.w[p+"head.class.weight"], nil)[0]...))
		y[t] = append(y[t], head[:o.Bands[0].Size]...)
		for i, band := range o.Bands[1:] {
			var low []float64
			if o.TiedProjections {
				low = make([]float64, band.Dim)
				w := n.w[fmt.Sprintf("decoder.embed_tokens.bands.%d.projection", i+1)]
				for d, v := range row[0] {
					for j := range low {
						low[j] += v * w[d*band.Dim+j]
					}
				}
			} else {
				low = times(row, n.w[fmt.Sprintf("%stails.%d.projection.weight", p, i)], nil)[0]
			}
			for _, v := range logSoftmax(times([][]float64{low}, table(i+1), nil)[0]) {
				y[t] = append(y[t], v+head[o.Bands[0].Size+i])
			}
		}
	}
	return y
}

func logSoftmax(x []float64) []float64 {
	top, sum := slices.Max(x), 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v - top - math.Log(sum)
	}
	return y
}
