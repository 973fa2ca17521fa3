package runtime

import (
	"math"
	"sync"
	"sync/atomic"

	"memsizer/format"
	"memsizer/ops"
)

// positions adds position embeddings. The first token of a sequence stands
// at index offset (2 in fairseq).
type positions struct {
	kind   string
	offset int
	table  *ops.Weights // learned
	dim    int
	freq   []float32 // sinusoidal

	mu     sync.Mutex
	chunks [maxPositionChunks]atomic.Pointer[[]float32]
}

// Sinusoids are kept in chunks made on demand; beyond the last chunk each
// row is computed when it is needed, so that memory stays constant.
const (
	positionChunk     = 64
	maxPositionChunks = 64
)

func newPositions(t *format.Stack, table *ops.Weights) *positions {
	p := &positions{kind: t.Positions.Kind, offset: t.Positions.Offset, table: table, dim: t.Dim}
	if p.kind == format.SinusoidalPositions {
		p.freq = frequencies(t.Dim)
	}
	return p
}

// frequencies are exp(−i·ln(10000)/(d/2−1)) in float32, step by step as torch
// computes them.
func frequencies(d int) []float32 {
	half := d / 2
	step := float32(-(math.Log(10000) / float64(half-1)))
	f := make([]float32, half)
	for i := range f {
		f[i] = float32(math.Exp(float64(float32(i) * step)))
	}
	return f
}

// sinusoid writes [sin ‖ cos] of position pos (offset included); an odd last
// column is zero.
func (p *positions) sinusoid(row []float32, pos int) {
	half := len(p.freq)
	for i, f := range p.freq {
		a := float64(float32(pos) * f)
		row[i] = float32(math.Sin(a))
		row[half+i] = float32(math.Cos(a))
	}
	if len(row) > 2*half {
		row[2*half] = 0
	}
}

// add adds the embedding of the index-th token (from 0) to row, scratch is
// another row.
func (p *positions) add(row []float32, index int, scratch []float32) {
	switch p.kind {
	case format.NoPositions:
		return
	case format.LearnedPositions:
		p.table.Row(scratch, p.offset+index)
	default:
		if c := index / positionChunk; c < maxPositionChunks {
			lo := index % positionChunk * p.dim
			scratch = p.chunk(c)[lo : lo+p.dim]
		} else {
			p.sinusoid(scratch, p.offset+index)
		}
	}
	for i, v := range scratch {
		row[i] += v
	}
}

func (p *positions) chunk(c int) []float32 {
	if t := p.chunks[c].Load(); t != nil {
		return *t
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.chunks[c].Load(); t != nil {
		return *t
	}
	t := make([]float32, positionChunk*p.dim)
	for i := range positionChunk {
		p.sinusoid(t[i*p.dim:(i+1)*p.dim], p.offset+c*positionChunk+i)
	}
	p.chunks[c].Store(&t)
	return t
}

// limit is the number of tokens a sequence may have, 0 for any.
func (p *positions) limit() int {
	if p.kind == format.LearnedPositions {
		return p.table.Rows - p.offset
	}
	return 0
}
