package ops

import (
	"fmt"
	"math"
)

// attend is softmax attention of one query row: q [D], and for every past
// position i < n the key and value rows [D]; head h owns columns h·d … of
// all. y [D] = Σ_i softmax_i(q·k_i · d^-½) v_i per head, d = D/H.
func (c *CPU) attend(y, q []float32, n, heads int, key, value func(i int) []float32) {
	d := len(q) / heads
	scale := float32(1 / math.Sqrt(float64(d)))
	for h := range heads {
		lo, hi := h*d, (h+1)*d
		s := grow(&c.scores, n)
		top := float32(math.Inf(-1))
		for i := range n {
			k := key(i)[lo:hi]
			var dot float32
			for j, v := range q[lo:hi] {
				dot += v * scale * k[j]
			}
			s[i] = dot
			top = max(top, dot)
		}
		var sum float32
		for i, v := range s {
			s[i] = float32(math.Exp(float64(v - top)))
			sum += s[i]
		}
		out := y[lo:hi]
		clear(out)
		for i, w := range s {
			w /= sum
			for j, v := range value(i)[lo:hi] {
				out[j] += w * v
			}
		}
	}
}

// SelfAttention is softmax attention inside each sequence of a ragged batch:
// rows starts[i] to starts[i+1] are one sequence and see each other. qkv [R,
// 3·D] holds the projections side by side, dst is [R, D].
func (c *CPU) SelfAttention(dst, qkv Matrix, starts []int, heads int) {
	d := dst.Cols
	wantShape("self attention", qkv, dst.Rows, 3*d)
	for s := range len(starts) - 1 {
		lo, hi := starts[s], starts[s+1]
		key := func(i int) []float32 { return qkv.Row(lo + i)[d : 2*d] }
		value := func(i int) []float32 { return qkv.Row(lo + i)[2*d:] }
		for r := lo; r < hi; r++ {
			c.attend(dst.Row(r), qkv.Row(r)[:d], hi-lo, heads, key, value)
		}
	}
}

// SourceAttention is softmax attention over a source: row r of q [R, D] sees
// all rows of sources[r] [S, 2·D], keys and values side by side.
func (c *CPU) SourceAttention(dst, q Matrix, sources []Matrix, heads int) {
	sameShape("source attention", dst, q)
	d := q.Cols
	for r := range q.Rows {
		kv := sources[r]
		if kv.Cols != 2*d {
			panic(fmt.Sprintf("ops: source attention: %d columns, want %d", kv.Cols, 2*d))
		}
		c.attend(dst.Row(r), q.Row(r), kv.Rows, heads,
			func(i int) []float32 { return kv.Row(i)[:d] },
			func(i int) []float32 { return kv.Row(i)[d:] })
	}
}

// Cache holds the keys and values [T, 2·D] of causal softmax attention, one
// sequence per slot. A slot's history may continue in another slot's cells:
// see [CPU.CacheAttention].
type Cache struct {
	d    int
	rows [][]float32 // per slot, T·2·D values
}

// NewCache returns empty caches for n slots of dimension d.
func NewCache(n, d int) *Cache { return &Cache{d: d, rows: make([][]float32, n)} }

// cell is the key and value of one position of one slot.
func (c *Cache) cell(slot int32, pos int) []float32 {
	n := 2 * c.d
	return c.rows[slot][pos*n : (pos+1)*n]
}

func (c *Cache) put(slot int32, pos int, kv []float32) {
	n := 2 * c.d
	if need := (pos + 1) * n; len(c.rows[slot]) < need {
		grown := make([]float32, max(need, 2*len(c.rows[slot])))
		copy(grown, c.rows[slot])
		c.rows[slot] = grown
	}
	copy(c.cell(slot, pos), kv)
}

// CacheAttention is causal softmax attention with cached keys and values.
// Row r stands at 1-based position t[r] and writes its key and value into
// the cell of (slots[r], t[r]-1); it then sees the cells (history[r][i], i)
// for i < t[r]-1 and its own. Beams that were copied share cells through
// history, so nothing is moved when hypotheses are reordered. qkv [R, 3·D],
// dst [R, D].
func (c *CPU) CacheAttention(dst, qkv Matrix, cache *Cache, slots, t []int32, history [][]int32, heads int) {
	d := cache.d
	wantShape("cache attention", qkv, dst.Rows, 3*d)
	for r := range qkv.Rows {
		cache.put(slots[r], int(t[r])-1, qkv.Row(r)[d:])
	}
	for r := range qkv.Rows {
		h, last := history[r], int(t[r])-1
		cell := func(i int) []float32 {
			if i == last {
				return cache.cell(slots[r], i)
			}
			return cache.cell(h[i], i)
		}
		c.attend(dst.Row(r), qkv.Row(r)[:d], int(t[r]), heads,
			func(i int) []float32 { return cell(i)[:d] },
			func(i int) []float32 { return cell(i)[d:] })
	}
}
