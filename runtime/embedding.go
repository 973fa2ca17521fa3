package runtime

import (
	"memsizer/format"
	"memsizer/ops"
)

// embedding looks tokens up: x = scale · E[token], by one table or, for
// adaptive input, by frequency bands with a projection each.
type embedding struct {
	scale float32
	table *ops.Weights // [V, dim]; nil for bands
	bands []band
	// project is project_in_dim [D, dim], nil where the table has width D.
	project *ops.Linear
}

// band is one frequency band: ids first … first+Rows-1.
type band struct {
	first   int32
	table   *ops.Weights // [size, dim]
	project *ops.Linear  // [D, dim], no bias
}

// lookup writes the embedding of ids to x [len(ids), D], without positions.
// narrow is scratch for rows of a smaller dimension.
func (e *embedding) lookup(c *ops.CPU, x ops.Matrix, ids []int32, narrow ops.Matrix) {
	switch {
	case e.table == nil:
		for i, id := range ids {
			b := e.band(id)
			n := narrow.Slice(i, i+1).Columns(0, b.table.Cols)
			b.table.Row(n.Row(0), int(id-b.first))
			c.Linear(x.Slice(i, i+1), b.project, n)
		}
	case e.project != nil:
		n := narrow.Head(len(ids)).Columns(0, e.table.Cols)
		for i, id := range ids {
			row := n.Row(i)
			e.table.Row(row, int(id))
			scaleRow(row, e.scale)
		}
		c.Linear(x, e.project, n)
		return
	default:
		for i, id := range ids {
			e.table.Row(x.Row(i), int(id))
		}
	}
	if e.scale != 1 {
		for i := range ids {
			scaleRow(x.Row(i), e.scale)
		}
	}
}

func (e *embedding) band(id int32) *band {
	b := len(e.bands) - 1
	for e.bands[b].first > id {
		b--
	}
	return &e.bands[b]
}

// narrow is the widest row that lookup needs beside x; 0 for none.
func (e *embedding) narrow() int {
	if e.project != nil {
		return e.table.Cols
	}
	w := 0
	for _, b := range e.bands {
		w = max(w, b.table.Cols)
	}
	return w
}

func scaleRow(x []float32, s float32) {
	for i := range x {
		x[i] *= s
	}
}

func (l *loader) embedding(p string, t *format.Stack, shared string) *embedding {
	e := &embedding{scale: t.EmbedScale}
	if t.Embedding.Kind == format.Adaptive {
		first := int32(0)
		for i, b := range t.Embedding.Bands {
			name := bandName(p, i)
			e.bands = append(e.bands, band{first, l.weights(name + "weight"), l.linear(nil, name+"projection")})
			first += int32(b.Size)
		}
		return e
	}
	if shared == "" {
		shared = p + ".embed_tokens.weight"
	}
	e.table = l.weights(shared)
	if t.Embedding.Dim != t.Dim {
		e.project = l.linear(nil, p+".project_in_dim.weight")
	}
	return e
}
