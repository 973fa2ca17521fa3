package pytorch

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// limits are the sizes, in bytes, that gathering keeps to.
type limits struct {
	block  int64 // of output gathered at once
	window int64 // of the file read at once
	gap    int64 // that are cheaper to read than to step over
}

var defaultLimits = limits{block: 32 << 20, window: 4 << 20, gap: 4 << 10}

// maxInflate is how many bytes of a compressed storage are held for gathering.
const maxInflate = 256 << 20

// axis is one dimension of a block: n elements, stride elements apart in the
// storage and out bytes apart in the output.
type axis struct {
	n, stride, out int64
}

// gatherer reads a tensor of any strides in row-major order, a block of output
// at a time.
type gatherer struct {
	limits
	at    io.ReaderAt
	base  int64 // offset in at of the tensor's first element
	size  int64 // of an element
	place Place

	shape, strides []int64 // neighbouring dimensions joined where possible
	split          int     // a block is rows of this dimension with all after it
	rows           int64   // of it in a block
	index          []int64 // of the next block; dimensions after split stay 0
	done           bool

	out, rest []byte // the current block and what of it has not been read
	buffer    []byte // a window of the file
	err       error
}

// gather returns a reader for a tensor that is not contiguous.
func (t *Tensor) gather(l limits) io.Reader {
	s := t.Storage
	g := &gatherer{limits: l, size: int64(t.DType.Size())}
	start := t.Offset * g.size
	g.place = s.place(start)
	if s.offset >= 0 {
		g.at, g.base = s.file.r, s.offset+start
	} else {
		end, _ := span(0, t.Shape, t.Strides)
		n := end * g.size
		if n > maxInflate {
			return errorReader{&UnsupportedError{g.place, fmt.Sprintf("a view of %d bytes of a compressed storage, at most %d; unpack the archive and zip it without compression", n, maxInflate)}}
		}
		b, err := io.ReadAll(&inflater{storage: s, skip: start, left: n})
		if err != nil {
			return errorReader{err}
		}
		g.at = bytes.NewReader(b)
	}
	for i, d := range t.Shape {
		n, stride := int64(d), int64(t.Strides[i])
		last := len(g.shape) - 1
		switch {
		case n == 1:
		case last >= 0 && g.strides[last] == n*stride:
			g.shape[last] *= n
			g.strides[last] = stride
		default:
			g.shape, g.strides = append(g.shape, n), append(g.strides, stride)
		}
	}
	g.index = make([]int64, len(g.shape))
	row := g.size
	g.split = len(g.shape) - 1
	for g.split > 0 && row*g.shape[g.split] <= g.block {
		row *= g.shape[g.split]
		g.split--
	}
	g.rows = max(1, min(g.block/row, g.shape[g.split]))
	return g
}

func (g *gatherer) Read(b []byte) (int, error) {
	for len(g.rest) == 0 {
		if g.err == nil && g.done {
			g.err = io.EOF
		}
		if g.err == nil {
			g.err = g.next()
		}
		if g.err != nil {
			g.out, g.buffer = nil, nil
			return 0, g.err
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// next gathers the block at index and moves index on.
func (g *gatherer) next() error {
	n := min(g.rows, g.shape[g.split]-g.index[g.split])
	axes := make([]axis, 0, len(g.shape))
	out := g.size
	for i := len(g.shape) - 1; i > g.split; i-- {
		axes = append(axes, axis{g.shape[i], g.strides[i], out})
		out *= g.shape[i]
	}
	axes = append(axes, axis{n, g.strides[g.split], out})
	slices.SortStableFunc(axes, func(a, b axis) int {
		if a.stride != b.stride {
			return int(max(-1, min(1, b.stride-a.stride)))
		}
		return 0
	})
	from := int64(0)
	for i, x := range g.index {
		from += x * g.strides[i]
	}
	if g.out == nil {
		g.out = make([]byte, out*g.rows)
	}
	g.rest = g.out[:out*n]
	if err := g.fill(g.rest, from, axes); err != nil {
		g.rest = nil
		return err
	}
	g.index[g.split] += n
	for i := g.split; g.index[i] == g.shape[i]; i-- {
		if i == 0 {
			g.done = true
			break
		}
		g.index[i] = 0
		g.index[i-1]++
	}
	return nil
}

// fill reads the elements of the axes, which are in the order of falling
// strides, from element from of the tensor on, to their places in dst. It
// reads windows of the file that are not much larger than what is wanted of
// them, rather than every element.
func (g *gatherer) fill(dst []byte, from int64, axes []axis) error {
	extent, runs := g.size, int64(1) // of the axes after the first
	for i := len(axes) - 1; i > 0; i-- {
		a := axes[i]
		if i < len(axes)-1 || a.stride != 1 {
			runs *= a.n
		}
		extent += (a.n - 1) * a.stride * g.size
	}
	first := axes[0]
	if extent > g.window && len(axes) > 1 {
		return g.fillEach(dst, from, axes)
	}
	step := first.stride * g.size
	n := int64(1)
	if step <= extent+g.gap*runs {
		n = min(first.n, 1+max(0, g.window-extent)/max(step, 1))
	}
	if n <= 1 && len(axes) > 1 {
		return g.fillEach(dst, from, axes)
	}
	for i := int64(0); i < first.n; i += n {
		part := axis{min(n, first.n-i), first.stride, first.out}
		length := (part.n-1)*step + extent
		if int64(len(g.buffer)) < length {
			g.buffer = make([]byte, max(length, min(g.window, 2*length)))
		}
		w := g.buffer[:length]
		if _, err := g.at.ReadAt(w, g.base+(from+i*first.stride)*g.size); err != nil {
			if err == io.EOF {
				return &CorruptError{g.place, "the file ends in a tensor; was it cut while open?"}
			}
			return fmt.Errorf("pytorch: %s: %w", g.place, err)
		}
		g.scatter(dst[i*first.out:], w, part, axes[1:])
	}
	return nil
}

// fillEach fills one index of the first axis after the other.
func (g *gatherer) fillEach(dst []byte, from int64, axes []axis) error {
	for i := range axes[0].n {
		if err := g.fill(dst[i*axes[0].out:], from+i*axes[0].stride, axes[1:]); err != nil {
			return err
		}
	}
	return nil
}

// scatter copies the elements of the axes from src to their places in dst.
func (g *gatherer) scatter(dst, src []byte, a axis, inner []axis) {
	step := a.stride * g.size
	if len(inner) > 0 {
		for i := range a.n {
			g.scatter(dst[i*a.out:], src[i*step:], inner[0], inner[1:])
		}
		return
	}
	switch {
	case a.stride == 1 && a.out == g.size:
		copy(dst[:a.n*g.size], src)
	case g.size == 4:
		for i := range a.n {
			copy(dst[i*a.out:][:4], src[i*step:][:4])
		}
	case g.size == 2:
		for i := range a.n {
			copy(dst[i*a.out:][:2], src[i*step:][:2])
		}
	default:
		for i := range a.n {
			copy(dst[i*a.out:][:g.size], src[i*step:])
		}
	}
}
