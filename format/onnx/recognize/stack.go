package recognize

import (
	"fmt"

	"memsizer/format"
)

// NotUnderstoodError reports the first node of a graph that is not part of a
// model this package knows, or not where it stands.
type NotUnderstoodError struct {
	File     string
	Node     int    // position in the graph, −1 for its inputs
	Name     string // of the node
	OpType   string
	Place    string // the node's operator, name and position in words
	Expected string // what is wrong with it and what was expected there
}

// Error names the node and what was expected there.
func (e *NotUnderstoodError) Error() string {
	return fmt.Sprintf("recognize: %q: %s: %s", e.File, e.Place, e.Expected)
}

func (p place) error(format string, args ...any) error {
	e := &NotUnderstoodError{Node: p.node, Expected: fmt.Sprintf(format, args...), Place: p.String()}
	if p.graph != nil {
		e.File = p.graph.file.Name
		if p.node >= 0 {
			n := &p.graph.file.Graph.Nodes[p.node]
			e.Name, e.OpType = n.Name, n.OpType
		}
	}
	return e
}

// positionOf is the node that made a meaning.
func positionOf(m meaning) place {
	switch m := m.(type) {
	case *embedding:
		return m.at
	case *placed:
		return m.at
	case *base:
		return m.at
	case *linear:
		return m.at
	case *norm:
		return m.at
	case *activated:
		return m.at
	case *slots:
		return m.at
	case *outer:
		return m.at
	case *memory:
		return m.at
	case *read:
		return m.at
	case *scores:
		return m.at
	case *context:
		return m.at
	case *residual:
		return m.at
	case *bandRows:
		return m.at
	case *columns:
		return m.at
	case *joined:
		return m.at
	case *opaque:
		return m.at
	}
	return place{node: -1}
}

// sublayer is one attention or feed-forward block with its layer norm.
type sublayer struct {
	norm *norm
	from meaning // what it is computed from
	at   place

	fc1, fc2   *linear // feed-forward
	activation string

	attention *attentionBlock
}

// attentionBlock is one attention.
type attentionBlock struct {
	kind               string
	heads, slots       int
	query, key, value  *linear
	out                *linear // softmax
	keyNorm, valueNorm *norm   // MemSizer
	source             meaning // of keys and values
	causal             bool    // sees the past only, or a state of it
	pads               *stream // whose pads are not seen
	given              *external
}

// stack is an encoder or a decoder taken apart.
type stack struct {
	start     *base
	embedNorm *norm
	blocks    []sublayer
	finalNorm *norm
	preNorm   bool
}

// newStack takes apart what leads to a stack's last value.
func newStack(last meaning) (*stack, error) {
	s := &stack{}
	cur := last
	n, isNorm := cur.(*norm)
	r, isSum := cur.(*residual)
	if isNorm {
		r, isSum = n.x.(*residual)
	}
	if !isSum {
		return nil, positionOf(last).error("this is %s; expected the end of the last layer here", last)
	}
	block, err := newSublayer(r)
	if err != nil {
		return nil, err
	}
	if m, ok := block.from.(*norm); ok && m.x == r.x {
		s.preNorm = true
		if isNorm {
			s.finalNorm, cur = n, r
		}
	}
	for {
		if b, ok := start(cur); ok {
			s.start = b
			break
		}
		if n, ok := cur.(*norm); ok {
			if b, ok := start(n.x); ok {
				s.start, s.embedNorm = b, n
				break
			}
		}
		var block sublayer
		if block, cur, err = s.block(cur); err != nil {
			return nil, err
		}
		s.blocks = append([]sublayer{block}, s.blocks...)
	}
	return s, nil
}

// start returns a meaning as the start of a stack.
func start(m meaning) (*base, bool) {
	switch m := m.(type) {
	case *base:
		return m, true
	case *linear: // without positions
		if b, ok := m.x.(*base); ok && b.placed == nil && b.project == nil && m.bias == nil {
			return &base{embedding: b.embedding, scale: b.scale, project: m, at: b.at}, true
		}
	}
	return nil, false
}

// block takes the last block off a stack, and returns what is in front of it.
func (s *stack) block(cur meaning) (b sublayer, rest meaning, err error) {
	r, ok := cur.(*residual)
	if s.preNorm {
		if !ok {
			return b, nil, positionOf(cur).error("this is %s; expected a residual sum, as layers normalise their input", cur)
		}
		if b, err = newSublayer(r); err != nil {
			return b, nil, err
		}
		n, ok := b.from.(*norm)
		if !ok || n.x != r.x {
			return b, nil, r.at.error("this adds to another value than the block's input before its layer norm")
		}
		b.norm = n
		return b, r.x, nil
	}
	n, isNorm := cur.(*norm)
	if isNorm {
		r, ok = n.x.(*residual)
	}
	if !isNorm || !ok {
		return b, nil, positionOf(cur).error("this is %s; expected a layer norm of a residual sum, as layers normalise their output", cur)
	}
	if b, err = newSublayer(r); err != nil {
		return b, nil, err
	}
	if b.from != r.x {
		return b, nil, r.at.error("this adds to another value than the block's input")
	}
	b.norm = n
	return b, r.x, nil
}

// newSublayer takes apart what a residual sum adds.
func newSublayer(r *residual) (b sublayer, err error) {
	b.at = r.at
	switch m := r.sub.(type) {
	case *read:
		b.attention, err = memSizerBlock(m)
		if err == nil {
			b.from = m.slots.query.x
		}
		return b, err
	case *linear:
		switch x := m.x.(type) {
		case *context:
			b.attention, err = softmaxBlock(x, m)
			b.from = x.scores.query.x
			return b, err
		case *activated:
			b.fc1, b.fc2, b.activation, b.from = x.x, m, x.fn, x.x.x
			return b, known(x)
		case *linear:
			if complete(x) {
				b.fc1, b.fc2, b.activation, b.from = x, m, "linear", x.x
				return b, nil
			}
		}
		return b, m.at.error("this is a linear layer of %s; expected the second layer of a feed-forward block or an attention's output projection", m.x)
	}
	return b, positionOf(r.sub).error("this is %s; expected a feed-forward or attention block", r.sub)
}

// known checks that an activation is a whole one.
func known(a *activated) error {
	for _, name := range format.Activations {
		if a.fn == name {
			return nil
		}
	}
	return a.at.error("this is %s; expected one of the activations %q", a, format.Activations)
}

func memSizerBlock(m *read) (*attentionBlock, error) {
	if !m.memory.scaled {
		return nil, m.at.error("this reads a memory that is not scaled by length^-½")
	}
	b := &attentionBlock{kind: format.MemSizer, heads: m.slots.heads, slots: m.slots.size, query: m.slots.query,
		keyNorm: m.memory.keys, valueNorm: m.memory.values, given: m.memory.given,
		causal: m.memory.causal || m.memory.state != nil, pads: m.memory.pads}
	if b.given != nil {
		return b, nil
	}
	return b, b.fromMemory(m.memory)
}

// fromMemory takes keys and values from a memory.
func (b *attentionBlock) fromMemory(m *memory) error {
	b.keyNorm, b.valueNorm, b.pads = m.keys, m.values, m.pads
	b.key, b.value = m.keys.x.(*linear), m.values.x.(*linear)
	if b.key.x != b.value.x {
		return m.at.error("keys and values are computed from different values")
	}
	b.source = b.key.x
	return nil
}

func softmaxBlock(c *context, out *linear) (*attentionBlock, error) {
	s := c.scores
	if s.key.x != c.value.x {
		return nil, c.at.error("keys and values are computed from different values")
	}
	return &attentionBlock{kind: format.Softmax, heads: s.heads, query: s.query, key: s.key, value: c.value, out: out,
		source: s.key.x, causal: s.causal || s.cached, pads: s.pads}, nil
}
