package fairseq

// computed holds values made by a function, one row at a time.
type computed struct {
	dims []int
	typ  string
	// start prepares a function that writes the next row.
	start func() (func(row []float64) error, error)
}

func (c *computed) shape() []int  { return c.dims }
func (c *computed) dtype() string { return c.typ }

func (c *computed) open() (elements, error) {
	next, err := c.start()
	if err != nil {
		return nil, err
	}
	return &rowElements{next: next, row: make([]float64, count(c.dims[1:]))}, nil
}

type rowElements struct {
	next func(row []float64) error
	row  []float64
	left []float64 // the part of row not yet read
	wide []float64
}

func (r *rowElements) read64(dst []float64) error {
	for len(dst) > 0 {
		if len(r.left) == 0 {
			if err := r.next(r.row); err != nil {
				return err
			}
			r.left = r.row
		}
		n := copy(dst, r.left)
		dst, r.left = dst[n:], r.left[n:]
	}
	return nil
}

func (r *rowElements) read32(dst []float32) error {
	if cap(r.wide) < len(dst) {
		r.wide = make([]float64, len(dst))
	}
	if err := r.read64(r.wide[:len(dst)]); err != nil {
		return err
	}
	return narrow(dst, r.wide[:len(dst)])
}

func readAll(s source) ([]float64, error) {
	e, err := s.open()
	if err != nil {
		return nil, err
	}
	v := make([]float64, count(s.shape()))
	for lo := 0; lo < len(v); lo += chunkElements {
		if err := e.read64(v[lo:min(lo+chunkElements, len(v))]); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// transposed is the matrix s [n, m] as [m, n]; it is held in memory while read.
func transposed(s source) source {
	n, m := s.shape()[0], s.shape()[1]
	return &computed{
		dims: []int{m, n},
		typ:  s.dtype(),
		start: func() (func([]float64) error, error) {
			v, err := readAll(s)
			if err != nil {
				return nil, err
			}
			j := 0
			return func(row []float64) error {
				for i := range row {
					row[i] = v[i*m+j]
				}
				j++
				return nil
			}, nil
		},
	}
}

// product is a·b for matrices a [n, k] and b [k, m], accumulated in float64; b
// is held in memory while read.
func product(a, b source) source {
	n, k, m := a.shape()[0], a.shape()[1], b.shape()[1]
	return &computed{
		dims: []int{n, m},
		typ:  a.dtype(),
		start: func() (func([]float64) error, error) {
			v, err := readAll(b)
			if err != nil {
				return nil, err
			}
			e, err := a.open()
			if err != nil {
				return nil, err
			}
			left := make([]float64, k)
			return func(row []float64) error {
				if err := e.read64(left); err != nil {
					return err
				}
				clear(row)
				for i, x := range left {
					for j, y := range v[i*m : (i+1)*m] {
						row[j] += x * y
					}
				}
				return nil
			}, nil
		},
	}
}

// mean is the elementwise mean of tensors of one shape, summed in float64 in
// the order given.
func mean(of []source) source {
	return &meanSource{of}
}

type meanSource struct{ of []source }

func (m *meanSource) shape() []int { return m.of[0].shape() }

func (m *meanSource) dtype() string { return m.of[0].dtype() }

func (m *meanSource) open() (elements, error) {
	es := make([]elements, len(m.of))
	for i, s := range m.of {
		e, err := s.open()
		if err != nil {
			return nil, err
		}
		es[i] = e
	}
	return &meanElements{of: es}, nil
}

type meanElements struct {
	of   []elements
	one  []float64
	wide []float64
}

func (m *meanElements) read64(dst []float64) error {
	if cap(m.one) < len(dst) {
		m.one = make([]float64, len(dst))
	}
	one := m.one[:len(dst)]
	clear(dst)
	for _, e := range m.of {
		if err := e.read64(one); err != nil {
			return err
		}
		for i, v := range one {
			dst[i] += v
		}
	}
	n := float64(len(m.of))
	for i := range dst {
		dst[i] /= n
	}
	return nil
}

func (m *meanElements) read32(dst []float32) error {
	if cap(m.wide) < len(dst) {
		m.wide = make([]float64, len(dst))
	}
	if err := m.read64(m.wide[:len(dst)]); err != nil {
		return err
	}
	return narrow(dst, m.wide[:len(dst)])
}
