package recognize

import (
	"errors"
	"fmt"

	"memsizer/format/onnx"
)

// found is what the graphs turned out to be.
type found struct {
	graphs     []*graph
	encoder    *stack
	decoder    *stack
	output     *linear
	adaptive   *adaptiveOutput // instead of output
	projectOut *linear
	// For the check: the names of the outputs of the decoder's scores and of
	// the encoder's last layer, and whether the scores are log-probabilities.
	scores, encoded string
	logs            bool
	given           map[int]string // the encoder's outputs, by inputs of the decoder
}

// find understands one whole graph, or an encoder's and a decoder's.
func find(files []*onnx.File) (*found, error) {
	var errs []error
	orders := [][]*onnx.File{files}
	if len(files) == 2 {
		orders = append(orders, []*onnx.File{files[1], files[0]})
	}
	var best error
	depth := -1
	for _, order := range orders {
		f, d, err := findInOrder(order)
		if err == nil {
			return f, nil
		}
		if d > depth {
			best, depth = err, d
		}
		errs = append(errs, err)
	}
	if best == nil {
		best = errors.Join(errs...)
	}
	return nil, best
}

// findInOrder takes the last file for the decoder, one before it for the
// encoder. depth says how many nodes were understood.
func findInOrder(files []*onnx.File) (f *found, depth int, err error) {
	f = &found{}
	var enc *encoderGraph
	if len(files) == 2 {
		if enc, depth, err = findEncoder(files[0]); err != nil {
			return nil, depth, err
		}
		f.encoder = enc.stack
		f.graphs = append(f.graphs, enc.graph)
		f.encoded = enc.name
	}
	d, deep, err := findDecoder(files[len(files)-1], enc)
	depth += deep
	if err != nil {
		return nil, depth, err
	}
	f.graphs = append(f.graphs, d.graph)
	f.decoder, f.output, f.adaptive, f.projectOut = d.stack, d.output, d.adaptive, d.projectOut
	f.scores, f.logs, f.given = d.name, d.logs, d.given
	if f.encoder == nil {
		f.encoder = d.encoder
	}
	return f, depth, nil
}

// encoderGraph is the graph of an encoder alone.
type encoderGraph struct {
	graph    *graph
	stack    *stack
	name     string // of the output
	last     meaning
	layout   layout
	memories []*memory // other outputs, for the decoder's layers
	names    []string
}

func findEncoder(file *onnx.File) (*encoderGraph, int, error) {
	g, depth, err := understand(file, nil, func(g *graph) error {
		_, err := g.encoder()
		return err
	})
	if err != nil {
		return nil, depth, err
	}
	e, err := g.encoder()
	return e, depth, err
}

// encoder finds an encoder's last value among the outputs.
func (g *graph) encoder() (*encoderGraph, error) {
	e := &encoderGraph{graph: g}
	var first error
	for i := range g.file.Graph.Outputs {
		name := g.file.Graph.Outputs[i].Name
		v := g.values[name]
		if v == nil || v.constant != nil {
			continue
		}
		if m, ok := v.meaning.(*memory); ok && v.scale == 1 {
			e.memories, e.names = append(e.memories, m), append(e.names, name)
			continue
		}
		if e.stack != nil {
			continue
		}
		s, err := stackOf(v)
		if err == nil {
			err = s.checkEncoder()
		}
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		e.stack, e.name, e.last, e.layout = s, name, v.meaning, v.layout
	}
	if e.stack == nil {
		if first == nil {
			first = fmt.Errorf("recognize: %q: no output is an encoder's last layer", g.file.Name)
		}
		return nil, first
	}
	return e, nil
}

func stackOf(v *value) (*stack, error) {
	if o, ok := v.meaning.(*opaque); ok {
		return nil, o.at.error("%s", o.why)
	}
	if v.scale != 1 {
		return nil, v.node.error("the last layer's output is multiplied by %g", v.scale)
	}
	return newStack(v.meaning)
}

// checkEncoder checks that every attention of an encoder is over itself and
// sees everything.
func (s *stack) checkEncoder() error {
	for i := range s.blocks {
		b := &s.blocks[i]
		if a := b.attention; a != nil && (a.given != nil || a.source != b.from || a.causal) {
			return b.at.error("attention of a decoder; expected an encoder's, over all of its own input")
		}
	}
	return nil
}

// decoderGraph is a graph with a decoder, and perhaps an encoder.
type decoderGraph struct {
	graph      *graph
	stack      *stack
	encoder    *stack
	output     *linear
	adaptive   *adaptiveOutput
	projectOut *linear
	name       string // of the output
	logs       bool   // it is of log-probabilities
	given      map[int]string
}

func findDecoder(file *onnx.File, enc *encoderGraph) (*decoderGraph, int, error) {
	g, depth, err := understand(file, enc, func(g *graph) error {
		_, err := g.decoder(enc)
		return err
	})
	if err != nil {
		return nil, depth, err
	}
	d, err := g.decoder(enc)
	return d, depth, err
}

// decoder finds the scores over the vocabulary among the outputs.
func (g *graph) decoder(enc *encoderGraph) (*decoderGraph, error) {
	var first error
	for i := range g.file.Graph.Outputs {
		v := g.values[g.file.Graph.Outputs[i].Name]
		if v == nil || v.constant != nil {
			continue
		}
		d, err := g.scoresOf(v, enc)
		if err == nil {
			d.name = g.file.Graph.Outputs[i].Name
			return d, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("recognize: %q: no output depends on the inputs", g.file.Name)
	}
	return nil, first
}

func (g *graph) scoresOf(v *value, enc *encoderGraph) (*decoderGraph, error) {
	var out *symbol
	var last meaning
	d := &decoderGraph{graph: g, given: make(map[int]string)}
	switch m := v.meaning.(type) {
	case *opaque:
		return nil, m.at.error("%s", m.why)
	case *linear:
		d.output = m
	case *logProbabilities:
		d.output, d.logs = m.linear, true
	case *columns:
		var err error
		if d.adaptive, err = m.adaptive(); err != nil {
			return nil, err
		}
		out, last, d.logs = m.out, d.adaptive.x, true
	default:
		return nil, positionOf(v.meaning).error("this is %s; expected an output of logits over the vocabulary", v.meaning)
	}
	if d.output != nil {
		out, last = d.output.out, d.output.x
	}
	if s, ok := v.lastFeature(); !ok || s != out || v.scale != 1 {
		return nil, v.node.error("the logits are not over the last dimension as a whole")
	}
	if m, ok := last.(*linear); ok && m.bias == nil {
		d.projectOut, last = m, m.x
	}
	var err error
	if d.stack, err = newStack(last); err != nil {
		return nil, err
	}
	return d, d.link(enc)
}

// link finds the encoder that the decoder attends to.
func (d *decoderGraph) link(enc *encoderGraph) error {
	var source meaning
	given := 0
	for i := range d.stack.blocks {
		b := &d.stack.blocks[i]
		a := b.attention
		switch {
		case a == nil:
		case a.given != nil:
			if err := d.give(a, b, enc, given); err != nil {
				return err
			}
			given++
		case a.source == b.from:
			if !a.causal {
				return b.at.error("self-attention that sees the future; expected a causal mask, a sum over the past, or a state")
			}
		case source == nil:
			source = a.source
		case source != a.source:
			return b.at.error("attention to another value than the layers before attend to")
		}
	}
	switch m := source.(type) {
	case nil:
		return nil
	case *encoded:
		if enc == nil {
			return d.graph.place(-1).error("the decoder attends to the input %q; give the encoder's file as well", m.external.name)
		}
		if m.dim.size != enc.last.(hidden).features() {
			return d.graph.place(-1).error("the decoder attends to %d features, the encoder makes %d", m.dim.size, enc.last.(hidden).features())
		}
		return nil
	}
	s, err := newStack(source)
	if err != nil {
		return err
	}
	d.encoder = s
	return s.checkEncoder()
}

// hidden is a meaning that knows its number of features.
type hidden interface{ features() int }

func (n *norm) features() int     { return n.dim.size }
func (r *residual) features() int { return r.x.(hidden).features() }
func (b *base) features() int {
	if b.project != nil {
		return b.project.out.size
	}
	return b.embedding.dim.size
}

// give finds the memory that a layer is given among the encoder's outputs: by
// name, else in order.
func (d *decoderGraph) give(a *attentionBlock, b *sublayer, enc *encoderGraph, nth int) error {
	if enc == nil {
		return b.at.error("this reads the memory %q, an input; give the file that makes it as well", a.given.name)
	}
	at := -1
	for i, name := range enc.names {
		if name == a.given.name {
			at = i
		}
	}
	if at < 0 {
		at = nth
	}
	if at >= len(enc.memories) {
		return b.at.error("this reads the memory %q, an input; the encoder's file makes %d memories", a.given.name, len(enc.memories))
	}
	m := enc.memories[at]
	if !m.scaled || m.causal || m.state != nil {
		return b.at.error("this reads the memory %q; the encoder's file makes one that is not of a whole sequence, scaled", a.given.name)
	}
	if m.keys.dim.size != a.slots {
		return b.at.error("this reads %d slots of the memory %q; the encoder's file makes %d", a.slots, a.given.name, m.keys.dim.size)
	}
	d.given[a.given.index] = enc.names[at]
	return a.fromMemory(m)
}
