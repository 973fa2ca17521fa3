package recognize

import (
	"math"

	"memsizer/format/onnx/eval"
)

// sinusoidBound is how far a baked or computed position embedding may be from
// fairseq's, in float32.
const sinusoidBound = 1e-4

// isSinusoid reports whether the rows of a table [n, D] are fairseq's
// sinusoids at the positions from first on: sin ‖ cos of position ×
// 10000^(−i/(D/2−1)). A row of zeros stands for the pad and any position.
func isSinusoid(table *eval.Tensor, first int) bool {
	n, d := table.Shape[0], table.Shape[1]
	half := d / 2
	if half < 1 {
		return false
	}
	x, err := table.Values()
	if err != nil {
		return false
	}
	step := math.Log(10000) / float64(max(half-1, 1))
	for r := range n {
		row := x[r*d : (r+1)*d]
		if isZero(row) && first+r <= 1 {
			continue
		}
		for i := range half {
			freq := float32(math.Exp(float64(float32(i) * float32(-step))))
			arg := float64(float32(first+r) * freq)
			bound := sinusoidBound * (1 + math.Abs(arg)/1000)
			if math.Abs(float64(row[i])-math.Sin(arg)) > bound || math.Abs(float64(row[half+i])-math.Cos(arg)) > bound {
				return false
			}
		}
		if d%2 == 1 && row[d-1] != 0 {
			return false
		}
	}
	return true
}

func isZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// sinusoid is Sin or Cos of positions times frequencies.
func sinusoid(r *rule) []*value {
	a, ok := r.in[0].meaning.(*angles)
	if !ok || r.in[0].scale != 1 || a.fn != "" {
		return nil
	}
	b := *a
	b.fn = r.node.OpType
	return r.make(&b, r.in[0].layout)
}

// angles are positions times frequencies, and then their sines or cosines.
type angles struct {
	positions *positions
	freqs     weight
	fn        string
	dim       *symbol
}

func (a *angles) String() string { return "position angles" }

// makeAngles multiplies positions [.., 1] with frequencies.
func (r *rule) makeAngles(c, v *value) []*value {
	p, ok := v.meaning.(*positions)
	if !ok || v.scale != 1 || len(c.constant.Shape) == 0 || !c.constant.DType.IsFloat() {
		return nil
	}
	n := c.constant.Shape[len(c.constant.Shape)-1]
	freqs, ok := c.vector(n)
	if !ok || len(v.layout) == 0 || len(v.layout[len(v.layout)-1]) != 0 {
		return nil
	}
	s := &symbol{kind: featureAxis, size: n}
	l := append(layout{}, v.layout...)
	l[len(l)-1] = s.dimension()
	return r.make(&angles{positions: p, freqs: freqs, dim: s}, l)
}

// concatSinusoids joins sines and cosines to a position embedding.
func (r *rule) concatSinusoids() []*value {
	if len(r.in) != 2 {
		return nil
	}
	sin, ok1 := r.in[0].meaning.(*angles)
	cos, ok2 := r.in[1].meaning.(*angles)
	a := int(r.node.Int("axis", 0))
	l := append(layout{}, r.in[0].layout...)
	if !ok1 || !ok2 || sin.fn != "Sin" || cos.fn != "Cos" || a != -1 && a != len(l)-1 || *sin.positions != *cos.positions {
		return nil
	}
	half := sin.dim.size
	f, err := sin.freqs.Values()
	g, err2 := cos.freqs.Values()
	if err != nil || err2 != nil || cos.dim.size != half {
		return nil
	}
	step := math.Log(10000) / float64(max(half-1, 1))
	for i := range half {
		want := math.Exp(-step * float64(i))
		if math.Abs(float64(f[i])-want) > 1e-5*want || f[i] != g[i] {
			r.hint = "fairseq's frequencies of sinusoids"
			return nil
		}
	}
	s := &symbol{kind: featureAxis, size: 2 * half}
	l[len(l)-1] = s.dimension()
	p := sin.positions
	return r.make(&placed{offset: int(p.offset), computed: true, stream: p.stream, dim: s, at: r.at}, l)
}
