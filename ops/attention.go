package ops

import (
	"fmt"
	"math"

	"memsizer/simd"
)

// attend is softmax attention of one query row q [D] over runs of key and
// value rows: y [D] = Σ_i softmax_i(q·k_i · d^-½) v_i per head, d = D/H; head
// h owns columns h·d … of all. Keys and values of a run lie stride apart.
func (c *CPU) attend(y, q []float32, heads int, runs []run) {
	d := len(q) / heads
	n := 0
	for _, r := range runs {
		n += r.n
	}
	scale := float32(1 / math.Sqrt(float64(d)))
	s := growTo(&c.scores, n+d)
	part := s[n:]
	s = s[:n]
	for h := range heads {
		lo, hi := h*d, (h+1)*d
		i := 0
		for _, r := range runs {
			simd.Scores(s[i:i+r.n], q[lo:hi], r.keys[lo:], r.stride, scale)
			i += r.n
		}
		simd.Softmax(s, s)
		out := y[lo:hi]
		i = 0
		for j, r := range runs {
			p := s[i : i+r.n]
			if j == 0 {
				simd.WeightedSum(out, p, r.values[lo:], r.stride, 1)
			} else {
				simd.WeightedSum(part, p, r.values[lo:], r.stride, 1)
				simd.Add(out, out, part)
			}
			i += r.n
		}
	}
}

// run is n consecutive positions whose keys and values lie at equal
// distances.
type run struct {
	keys, values []float32
	n, stride    int
}

// SelfAttention is softmax attention inside each sequence of a ragged batch:
// rows starts[i] to starts[i+1] are one sequence and see each other. qkv [R,
// 3·D] holds the projections side by side, dst is [R, D].
func (c *CPU) SelfAttention(dst, qkv Matrix, starts []int, heads int) {
	d := dst.Cols
	wantShape("self attention", qkv, dst.Rows, 3*d)
	c.Begin(PhaseAttention)
	defer c.End()
	for s := range len(starts) - 1 {
		seq := qkv.Slice(starts[s], starts[s+1])
		if seq.Rows == 0 {
			continue
		}
		c.runs = append(c.runs[:0], run{seq.Data[d:], seq.Data[2*d:], seq.Rows, seq.Stride})
		for r := range seq.Rows {
			c.attend(dst.Row(starts[s]+r), seq.Row(r)[:d], heads, c.runs)
		}
	}
}

// SourceAttention is softmax attention over a source: row r of q [R, D] sees
// all rows of sources[r] [S, 2·D], keys and values side by side.
func (c *CPU) SourceAttention(dst, q Matrix, sources []Matrix, heads int) {
	sameShape("source attention", dst, q)
	c.Begin(PhaseAttention)
	defer c.End()
	d := q.Cols
	for r := range q.Rows {
		kv := sources[r]
		if kv.Cols != 2*d {
			panic(fmt.Sprintf("ops: source attention: %d columns, want %d", kv.Cols, 2*d))
		}
		c.runs = append(c.runs[:0], run{kv.Data, kv.Data[d:], kv.Rows, kv.Stride})
		c.attend(dst.Row(r), q.Row(r), heads, c.runs)
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
	c.Begin(PhaseAttention)
	defer c.End()
	for r := range qkv.Rows {
		cache.put(slots[r], int(t[r])-1, qkv.Row(r)[d:])
	}
	for r := range qkv.Rows {
		c.runs = cache.runs(c.runs[:0], history[r], slots[r], int(t[r]))
		c.attend(dst.Row(r), qkv.Row(r)[:d], heads, c.runs)
	}
}

// runs appends the cells of t positions: (history[i], i), the last one in
// slot. Positions that share a slot are one run.
func (c *Cache) runs(dst []run, history []int32, slot int32, t int) []run {
	n := 2 * c.d
	for lo := 0; lo < t; {
		s, hi := slot, lo+1
		if lo < t-1 {
			s = history[lo]
		}
		for hi < t && (hi < t-1 && history[hi] == s || hi == t-1 && slot == s) {
			hi++
		}
		cells := c.rows[s][lo*n:]
		dst = append(dst, run{cells, cells[c.d:], hi - lo, n})
		lo = hi
	}
	return dst
}
