package recognize

// expected says what could have followed the meanings that a node has for
// inputs.
func (r *rule) expected() string {
	if r.hint != "" {
		return r.hint
	}
	constants := true
	for _, v := range r.in {
		if v == nil || v.constant != nil {
			continue
		}
		constants = false
		if s := next(v.meaning); s != "" {
			return s
		}
	}
	if constants {
		return "a constant, or an operator that package eval knows"
	}
	return "an operator of a fairseq or MemSizer model"
}

func next(m meaning) string {
	switch m := m.(type) {
	case *tokens:
		return "an embedding look-up, a comparison with the pad, or their shape"
	case *padding, *mask, *count, *running, *positions, *length:
		return "masks, counts of tokens or position ids"
	case *embedding:
		return "a scale, or position embeddings to be added"
	case *base:
		return "a layer norm or the first layer's projections"
	case *encoded:
		return "the key and value projections of attention"
	case *linear:
		if m.bias == nil {
			return "a bias to be added"
		}
		return "an activation (relu, gelu, tanh, swish), heads, another linear layer, a layer norm (MemSizer's keys and values), or a residual sum"
	case *norm:
		if m.stage != normDone {
			return "the rest of a layer norm"
		}
		return "projections of the next block, or MemSizer's outer products"
	case *activated:
		return "the second layer of a feed-forward block, or the rest of the activation"
	case *slots:
		return "the mean over the heads, and a product with a memory"
	case *outer, *memory:
		return "a sum over positions, a scale by length^-½, or a product with slot weights"
	case *read, *context:
		return "an output projection or a residual sum"
	case *scores:
		return "a scale, masks and a softmax over the keys"
	case *probabilities:
		return "a product with the values"
	case *residual:
		return "a layer norm or the next block"
	}
	return ""
}
