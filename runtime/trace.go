package runtime

import "memsizer/ops"

// Trace receives hidden states as a forced pass computes them: name is
// "encoder_layer" (after layer i), "encoder_out" (i = -1), or
// "decoder_inner" (i = 0 the embedding, i after layer i-1, before any final
// norm). Row r of the result belongs to the r-th token given; the slices are
// valid only during the call.
type Trace func(name string, i int, rows [][]float32)

func (t Trace) record(name string, i int, x ops.Matrix) {
	if t == nil {
		return
	}
	rows := make([][]float32, x.Rows)
	for r := range rows {
		rows[r] = x.Row(r)
	}
	t(name, i, rows)
}
