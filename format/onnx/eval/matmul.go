package eval

import "slices"

// matMul multiplies stacks of matrices with numpy's rules.
func matMul(c *call) []*Tensor {
	a, b := c.input(0), c.input(1)
	if len(a.Shape) == 0 || len(b.Shape) == 0 || a.DType != b.DType || !a.DType.IsFloat() {
		c.fail("inputs of %v %d and %v %d", a.DType, a.Shape, b.DType, b.Shape)
	}
	as, bs := a.Shape, b.Shape
	if len(as) == 1 {
		as = []int{1, as[0]}
	}
	if len(bs) == 1 {
		bs = []int{bs[0], 1}
	}
	m, k, n := as[len(as)-2], as[len(as)-1], bs[len(bs)-1]
	if bs[len(bs)-2] != k {
		c.fail("shapes %d and %d do not multiply", a.Shape, b.Shape)
	}
	batch := c.broadcast(as[:len(as)-2], bs[:len(bs)-2])
	shape := slices.Clone(batch)
	if len(a.Shape) > 1 {
		shape = append(shape, m)
	}
	if len(b.Shape) > 1 {
		shape = append(shape, n)
	}
	out := c.like(a, shape)
	if len(b.Shape) == 2 { // one product of all rows
		c.product(out.Floats, product(batch)*m, n, k, c.floats(0), b)
		return []*Tensor{out}
	}
	x, y := c.floats(0), c.floats(1)
	i := 0
	walk(batch, func(off []int) {
		multiplyInto(out.Floats[i*m*n:][:m*n], m, n, k, x[off[0]*m*k:], y[off[1]*k*n:])
		i++
	}, strides(as[:len(as)-2], batch), strides(bs[:len(bs)-2], batch))
	return []*Tensor{out}
}

// product is out[m,n] = x[m,k] · b[k,n]; b passes by if it is in a file.
func (c *call) product(out []float32, m, n, k int, x []float32, b *Tensor) {
	if b.view == nil {
		multiplyInto(out, m, n, k, x, b.Floats)
		return
	}
	acc := make([]float64, m*n)
	at := 0
	if t := b.view.Transpose([]int{1, 0}); t.Contiguous() {
		c.must(t.Stream(func(w []float32) error { // [n,k]
			for len(w) > 0 {
				col, row := at/k, at%k
				part := w[:min(len(w), k-row)]
				for i := range m {
					sum := acc[i*n+col]
					xs := x[i*k+row:][:len(part)]
					for j, v := range part {
						sum += float64(xs[j]) * float64(v)
					}
					acc[i*n+col] = sum
				}
				at, w = at+len(part), w[len(part):]
			}
			return nil
		}))
	} else {
		c.must(b.view.Stream(func(w []float32) error { // [k,n]
			for len(w) > 0 {
				row, col := at/n, at%n
				part := w[:min(len(w), n-col)]
				for i := range m {
					f := float64(x[i*k+row])
					sums := acc[i*n+col:][:len(part)]
					for j, v := range part {
						sums[j] += f * float64(v)
					}
				}
				at, w = at+len(part), w[len(part):]
			}
			return nil
		}))
	}
	for i, v := range acc {
		out[i] = float32(v)
	}
}

func multiplyInto(out []float32, m, n, k int, x, y []float32) {
	acc := make([]float64, n)
	for i := range m {
		clear(acc)
		for p := range k {
			v := float64(x[i*k+p])
			for j, w := range y[p*n : (p+1)*n] {
				acc[j] += v * float64(w)
			}
		}
		for j, v := range acc {
			out[i*n+j] = float32(v)
		}
	}
}

// gemm is alpha·A·B + beta·C of matrices, either transposed.
func gemm(c *call) []*Tensor {
	a, b := c.input(0), c.input(1)
	if len(a.Shape) != 2 || len(b.Shape) != 2 || a.DType != b.DType || !a.DType.IsFloat() {
		c.fail("inputs of %v %d and %v %d", a.DType, a.Shape, b.DType, b.Shape)
	}
	x := a
	if c.node.Int("transA", 0) != 0 {
		x = c.transposed(a, []int{1, 0})
	}
	y := b
	if c.node.Int("transB", 0) != 0 {
		y = c.transposed(b, []int{1, 0})
	}
	m, k, n := x.Shape[0], x.Shape[1], y.Shape[1]
	if y.Shape[0] != k {
		c.fail("shapes %d and %d do not multiply", a.Shape, b.Shape)
	}
	out := c.like(a, []int{m, n})
	xs, err := x.Values()
	c.must(err)
	c.product(out.Floats, m, n, k, xs, y)
	alpha, beta := c.node.Float("alpha", 1), c.node.Float("beta", 1)
	for i := range out.Floats {
		out.Floats[i] *= alpha
	}
	if !c.has(2) {
		return []*Tensor{out}
	}
	z := c.input(2)
	if s := c.broadcast(out.Shape, z.Shape); !slices.Equal(s, out.Shape) {
		c.fail("shape %d does not broadcast to %d", z.Shape, out.Shape)
	}
	zs, i := c.floats(2), 0
	walk(out.Shape, func(off []int) { out.Floats[i] += beta * zs[off[0]]; i++ }, strides(z.Shape, out.Shape))
	return []*Tensor{out}
}
