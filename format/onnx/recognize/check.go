package recognize

import (
	"fmt"
	"math"
	"math/rand/v2"

	"memsizer/format"
	"memsizer/format/onnx"
	"memsizer/format/onnx/eval"
)

// Forward runs one sentence through an imported model: source ids that end
// with eos (nil for a language model) and target, the decoder's inputs. It
// calls yield with the logits over the vocabulary after each of these.
type Forward func(source, target []int32, yield func(pos int, logits []float32)) error

// CheckError reports that the imported model computes something else than its
// graph.
type CheckError struct {
	Difference, Bound float64
	Sentence, Pos     int // of the random input
	Token             int // whose logits differ most
}

// Error says how far apart the logits are and where.
func (e *CheckError) Error() string {
	return fmt.Sprintf("recognize: the imported model does not compute what the graph does: logits differ by %.3g, want at most %.3g (sentence %d, position %d, token %d of a random input)",
		e.Difference, e.Bound, e.Sentence, e.Pos, e.Token)
}

// checkInput is a batch of random sentences.
type checkInput struct {
	source, target [][]int32
	srcLen, tgtLen int // with pads
}

// Check compares, on random inputs, the logits that the graph says with those
// of forward, and returns the largest difference, relative to the largest
// logit if that is more than 1. More than bound is a *CheckError. The graph is
// executed in the lengths that it works for; a decoder's step from the first
// token on, with its states.
func (m *Model) Check(forward Forward, bound float64) (float64, error) {
	in := m.randomInput(rand.New(rand.NewPCG(3, 5)))
	rows, err := m.graphLogits(in)
	if err != nil {
		return 0, fmt.Errorf("recognize: executing the graph: %w", err)
	}
	worst := &CheckError{Bound: bound}
	for b, tgt := range in.target {
		var src []int32
		if in.source != nil {
			src = in.source[b]
		}
		err := forward(src, tgt, func(pos int, logits []float32) {
			worst.compare(rows[b][pos], logits, m.found.logs, b, pos)
		})
		if err != nil {
			return 0, fmt.Errorf("recognize: executing the imported model: %w", err)
		}
	}
	if !(worst.Difference <= bound) {
		return worst.Difference, worst
	}
	return worst.Difference, nil
}

func (e *CheckError) compare(want, got []float32, logs bool, sentence, pos int) {
	if len(want) != len(got) {
		e.Difference, e.Sentence, e.Pos, e.Token = math.Inf(1), sentence, pos, -1
		return
	}
	shift, size := 0.0, 1.0
	if logs {
		shift = logSum(got)
	}
	for _, v := range want {
		size = max(size, math.Abs(float64(v)))
	}
	for i := range want {
		d := math.Abs(float64(want[i])-(float64(got[i])-shift)) / size
		if d > e.Difference || d != d {
			e.Difference, e.Sentence, e.Pos, e.Token = d, sentence, pos, i
		}
	}
}

func logSum(x []float32) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, float64(v))
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

// randomInput makes sentences of the sizes that the graph was understood
// with; shorter ones too if it knows about pads.
func (m *Model) randomInput(r *rand.Rand) checkInput {
	g := m.found.graphs[len(m.found.graphs)-1]
	target := g.streams[len(g.streams)-1]
	if t := m.found.decoder.start.stream(); t != nil {
		target = t
	}
	in := checkInput{tgtLen: max(target.length, 1)}
	if target.length == 1 {
		in.tgtLen = trialLength
	}
	var enc *stream
	if m.found.encoder != nil {
		enc = m.found.encoder.start.stream()
		in.srcLen = enc.length
		if len(m.found.graphs) > 1 && g.sourceLength > 0 {
			in.srcLen = g.sourceLength
		}
	}
	sentences := func(n, length, vocab int, shorter, isSource bool) (list [][]int32) {
		for b := range n {
			k := length
			if shorter {
				k = max(1, length-b)
			}
			ids := make([]int32, k)
			for i := range ids {
				ids[i] = int32(format.Unk + 1 + r.IntN(max(1, vocab-format.Unk-1)))
			}
			if isSource {
				ids[k-1] = format.EOS
			} else {
				ids[0] = format.EOS
			}
			list = append(list, ids)
		}
		return list
	}
	n := g.batch.size
	if enc != nil {
		in.source = sentences(n, in.srcLen, m.Config.Encoder.Embedding.Vocab, m.found.masksPads(), true)
	}
	in.target = sentences(n, in.tgtLen, m.Config.Decoder.Embedding.Vocab, len(g.states()) == 0, false)
	return in
}

// stream is where a stack's tokens come from.
func (b *base) stream() *stream { return b.embedding.stream }

// masksPads reports whether no attention to the source sees its pads.
func (f *found) masksPads() bool {
	for _, s := range []*stack{f.encoder, f.decoder} {
		for i := range s.blocks {
			if a := s.blocks[i].attention; a != nil && (s == f.encoder || a.source != s.blocks[i].from) && a.pads == nil {
				return false
			}
		}
	}
	p := f.encoder.start.placed
	return p == nil || p.stream != nil
}

// batch lays sentences out as tokens [B, length], padded on the left or right.
func batch(sentences [][]int32, length int, left bool) *eval.Tensor {
	ids := make([]int64, len(sentences)*length)
	for i := range ids {
		ids[i] = format.Pad
	}
	for b, s := range sentences {
		row := ids[b*length : (b+1)*length]
		if left {
			row = row[length-len(s):]
		}
		for i, id := range s {
			row[i] = int64(id)
		}
	}
	return eval.Ints(ids, len(sentences), length)
}

func (t *checkInput) sourceBatch() *eval.Tensor { return batch(t.source, t.srcLen, true) }

// as gives a tensor the element type that an input wants.
func as(t *eval.Tensor, v *onnx.Value) *eval.Tensor {
	out := *t
	out.DType = v.DType
	return &out
}

// graphLogits executes the graph and returns the logits of each sentence
// after each of its target tokens.
func (m *Model) graphLogits(in checkInput) ([][][]float32, error) {
	f := m.found
	g := f.graphs[len(f.graphs)-1]
	inputs := make(map[string]*eval.Tensor)
	if len(f.graphs) == 2 {
		if err := m.runEncoder(in, inputs); err != nil {
			return nil, err
		}
	}
	p, err := eval.New(g.file)
	if err != nil {
		return nil, err
	}
	free := g.file.Graph.FreeInputs()
	target := f.decoder.start.stream()
	for i := range free {
		v := &free[i]
		switch x := g.values[v.Name].meaning.(type) {
		case *tokens:
			if x.stream != target {
				inputs[v.Name] = as(in.sourceBatch(), v)
			} else {
				inputs[v.Name] = as(batch(in.target, in.tgtLen, false), v)
			}
		}
	}
	if len(g.states()) > 0 {
		return m.runSteps(p, in, inputs)
	}
	if err := g.fillExternals(inputs, 0); err != nil {
		return nil, err
	}
	out, err := p.Run(inputs, f.scores)
	if err != nil {
		return nil, err
	}
	rows := make([][][]float32, len(in.target))
	for b, s := range in.target {
		for t := range s {
			row, err := logitsAt(out[f.scores], g.values[f.scores].layout, b, t)
			if err != nil {
				return nil, err
			}
			rows[b] = append(rows[b], row)
		}
	}
	return rows, nil
}

// logitsAt returns the row of a sentence and position.
func logitsAt(t *eval.Tensor, l layout, b, pos int) ([]float32, error) {
	data, err := t.Values()
	if err != nil {
		return nil, err
	}
	if len(t.Shape) != len(l) || len(l) == 0 {
		return nil, fmt.Errorf("logits of shape %d", t.Shape)
	}
	at := 0
	for i, d := range l[:len(l)-1] {
		index := 0
		for _, a := range d {
			switch a.kind {
			case batchAxis:
				index = index*a.size + b
			case timeAxis:
				index = index*a.size + pos
			}
		}
		if index >= t.Shape[i] {
			return nil, fmt.Errorf("logits of shape %d", t.Shape)
		}
		at = at*t.Shape[i] + index
	}
	n := t.Shape[len(l)-1]
	return data[at*n : (at+1)*n], nil
}

// runEncoder executes the encoder's file and passes its outputs on to the
// inputs of the decoder's.
func (m *Model) runEncoder(in checkInput, inputs map[string]*eval.Tensor) error {
	f := m.found
	enc, dec := f.graphs[0], f.graphs[1]
	p, err := eval.New(enc.file)
	if err != nil {
		return err
	}
	src := make(map[string]*eval.Tensor)
	free := enc.file.Graph.FreeInputs()
	for i := range free {
		if _, ok := enc.values[free[i].Name].meaning.(*tokens); ok {
			src[free[i].Name] = as(in.sourceBatch(), &free[i])
		}
	}
	if err := enc.fillExternals(src, 0); err != nil {
		return err
	}
	want := []string{f.encoded}
	for _, name := range f.given {
		want = append(want, name)
	}
	out, err := p.Run(src, want...)
	if err != nil {
		return err
	}
	free = dec.file.Graph.FreeInputs()
	for i := range free {
		v := &free[i]
		switch dec.values[v.Name].meaning.(type) {
		case *encoded:
			from, to := enc.values[f.encoded].layout, dec.values[v.Name].layout
			t := out[f.encoded]
			if len(from) == 3 && len(to) == 3 && batchFirst(from) != batchFirst(to) {
				if t, err = swap(t); err != nil {
					return err
				}
			}
			inputs[v.Name] = t
		case *padding:
			inputs[v.Name] = padMask(in.sourceBatch(), v.DType)
		case *external:
			if name, ok := f.given[i]; ok {
				inputs[v.Name] = out[name]
			}
		}
	}
	return nil
}

func batchFirst(l layout) bool { return len(l[0]) == 1 && l[0][0].kind == batchAxis }

// swap exchanges the first two dimensions of three.
func swap(t *eval.Tensor) (*eval.Tensor, error) {
	x, err := t.Values()
	if err != nil {
		return nil, err
	}
	a, b, d := t.Shape[0], t.Shape[1], t.Shape[2]
	y := make([]float32, len(x))
	for i := range a {
		for j := range b {
			copy(y[(j*a+i)*d:], x[(i*b+j)*d:(i*b+j+1)*d])
		}
	}
	return eval.Floats(y, b, a, d), nil
}

// padMask is 1 at pads.
func padMask(ids *eval.Tensor, d onnx.DType) *eval.Tensor {
	out := &eval.Tensor{DType: d, Shape: ids.Shape}
	for _, id := range ids.Ints {
		one := int64(0)
		if id == format.Pad {
			one = 1
		}
		if d.IsFloat() {
			out.Floats = append(out.Floats, float32(one))
		} else {
			out.Ints = append(out.Ints, one)
		}
	}
	return out
}
