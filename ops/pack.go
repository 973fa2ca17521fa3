package ops

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"memsizer/simd"
)

// packChunk is the bytes of stored weights that are packed at a time, about.
const packChunk = 1 << 20

// chunk is rows of a part of a linear layer.
type chunk struct {
	part   *Weights
	lo, hi int // rows of the part
	row    int // of the layer that lo becomes
}

// pack packs all parts, one below the other, on all cores. Of the stored
// weights only a few chunks are looked at at any time.
func pack(l *Linear, parts []*Weights) {
	var chunks []chunk
	row := 0
	for _, p := range parts {
		step := max(packChunk/max(len(p.Data)/max(p.Rows, 1), 1)/simd.Panel, 1) * simd.Panel
		for lo := 0; lo < p.Rows; {
			// Chunks end where a panel ends: two do not share one.
			hi := min(lo+step-(row+lo)%simd.Panel, p.Rows)
			chunks = append(chunks, chunk{p, lo, hi, row + lo})
			lo = hi
		}
		row += p.Rows
	}
	workers := min(goruntime.GOMAXPROCS(0), len(chunks))
	if workers < 2 {
		for i := range chunks {
			l.packRows(&chunks[i])
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(chunks)); i = next.Add(1) - 1 {
				l.packRows(&chunks[i])
			}
		})
	}
	wg.Wait()
}

// packRows packs the rows of one chunk and says that they are done.
func (l *Linear) packRows(c *chunk) {
	n, k, p := l.Out, l.In, c.part
	lo, hi := c.lo*k, c.hi*k
	switch l.dtype {
	case F32:
		if p.DType == F32 {
			simd.PackF32(l.f32, n, k, c.row, p.floats()[lo:hi])
			break
		}
		wide := make([]float32, hi-lo)
		for i := c.lo; i < c.hi; i++ {
			p.Row(wide[i*k-lo:(i+1)*k-lo], i)
		}
		simd.PackF32(l.f32, n, k, c.row, wide)
	case F16:
		simd.PackF16(l.half, n, k, c.row, p.halfs()[lo:hi])
	case BF16:
		simd.PackBF16(l.half, n, k, c.row, p.halfs()[lo:hi])
	case I8:
		simd.PackI8(l.i8, l.comp, n, k, c.row, p.bytes()[lo:hi])
		copy(l.scale[c.row:], p.Scales[c.lo:c.hi])
	}
	if p.Done != nil {
		p.Done(c.lo, c.hi)
	}
}
