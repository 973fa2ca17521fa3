package recognize

import (
	"strings"

	"memsizer/format/onnx"
)

// trial is one way to take a graph's inputs.
type trial struct {
	batch   int
	length  int  // of the tokens
	encoded int  // the input that is the encoder's output, −1 for none
	swapped bool // it is [S,B,D], not [B,S,D]
}

const (
	trialBatch  = 3
	trialLength = 5
	trialSource = 7
	trialPast   = 4
	// For graphs over large vocabularies, whose constants grow with them.
	smallBatch  = 2
	smallLength = 3
	largeWidth  = 1 << 16
)

// trialSizes are the sizes that a graph's dynamic dimensions are given first.
func trialSizes(g *onnx.Graph) (batch, length int) {
	for i := range g.Initializers {
		for _, d := range g.Initializers[i].Dims {
			if d > largeWidth {
				return smallBatch, smallLength
			}
		}
	}
	return trialBatch, trialLength
}

// understand interprets a graph under every way to take its inputs until
// accept has no objection; otherwise the error is that of the trial which
// understood the most nodes.
func understand(file *onnx.File, enc *encoderGraph, accept func(*graph) error) (*graph, int, error) {
	var best error
	depth := -1
	for _, t := range trials(file, enc) {
		g, err := newGraph(file)
		if err != nil {
			return nil, 0, err
		}
		g.setInputs(t)
		if err = g.interpret(); err != nil {
			return nil, 0, err
		}
		if err = accept(g); err == nil {
			return g, g.depth, nil
		}
		if g.depth > depth {
			best, depth = err, g.depth
		}
	}
	return nil, depth, best
}

func trials(file *onnx.File, enc *encoderGraph) []trial {
	rows, length := trialSizes(file.Graph)
	lengths := []int{length}
	for _, n := range squares(file.Graph) {
		if n < length {
			lengths = append([]int{n}, lengths...)
		} else if n > length && n <= 64 {
			lengths = append(lengths, n)
		}
	}
	lengths = append(lengths, 1) // a decoder's step that is given the last token only
	inputs := file.Graph.FreeInputs()
	batch := ""
	for i := range inputs {
		if isTokens(&inputs[i]) && len(inputs[i].Dims) == 2 && batch == "" {
			batch = inputs[i].Dims[0].Param
		}
	}
	var list []trial
	if b, n := baked(file.Graph); b > 0 {
		list = append(list, trial{b, n, -1, false})
	}
	for _, n := range lengths {
		none := trial{batch: rows, length: n, encoded: -1}
		for i := range inputs {
			v := &inputs[i]
			if !v.DType.IsFloat() || len(v.Dims) != 3 {
				continue
			}
			swapped := batch != "" && v.Dims[1].Param == batch && v.Dims[0].Param != batch
			if enc != nil && len(enc.layout) == 3 && len(enc.layout[0]) == 1 {
				swapped = enc.layout[0][0].kind == timeAxis
			}
			list = append(list, trial{rows, n, i, swapped}, trial{rows, n, i, !swapped})
		}
		list = append(list, none)
	}
	if len(list) > 64 {
		list = list[:64]
	}
	return list
}

// squares lists the sizes of constant masks that are cut to a sequence's
// length: the graph works for no longer ones.
func squares(g *onnx.Graph) []int {
	size := make(map[string]int)
	add := func(name string, t *onnx.Tensor) {
		if n := len(t.Dims); n >= 2 && t.Dims[n-1] == t.Dims[n-2] && t.Elements() == t.Dims[n-1]*t.Dims[n-1] && t.Dims[n-1] >= 2 && t.Dims[n-1] < 1<<20 {
			size[name] = int(t.Dims[n-1])
		}
	}
	for i := range g.Initializers {
		add(g.Initializers[i].Name, &g.Initializers[i])
	}
	var found []int
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if a := n.Attribute("value"); n.OpType == "Constant" && a != nil && a.Tensor() != nil && len(n.Outputs) == 1 {
			add(n.Outputs[0], a.Tensor())
		}
		if n.OpType == "Slice" && len(n.Inputs) > 0 && size[n.Inputs[0]] > 0 {
			found = append(found, size[n.Inputs[0]])
			delete(size, n.Inputs[0])
		}
	}
	return found
}

// baked finds the sizes of a batch that an adaptive embedding was exported
// for: the graph works for no others.
func baked(g *onnx.Graph) (batch, length int) {
	shapes := make(map[string][]int64)
	for i := range g.Initializers {
		shapes[g.Initializers[i].Name] = g.Initializers[i].Dims
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if a := n.Attribute("value"); n.OpType == "Constant" && a != nil && a.Tensor() != nil && len(n.Outputs) == 1 {
			shapes[n.Outputs[0]] = a.Tensor().Dims
		}
		if n.OpType != "ScatterND" || len(n.Inputs) != 3 {
			continue
		}
		if d := shapes[n.Inputs[0]]; len(d) == 3 && d[0] > 0 && d[1] > 0 && d[0]*d[1] < 1<<12 {
			return int(d[0]), int(d[1])
		}
	}
	return 0, 0
}

// isTokens reports whether an input may be token ids: integers in rows.
func isTokens(v *onnx.Value) bool {
	return (v.DType == onnx.Int64 || v.DType == onnx.Int32) && len(v.Dims) == 2
}

// setInputs gives the inputs their meanings.
func (g *graph) setInputs(t trial) {
	g.values, g.starts, g.bands = make(map[string]*value), make(map[startKey]*base), make(map[band]*symbol)
	inputs := g.file.Graph.FreeInputs()
	size := t.batch
	for i := range inputs {
		if isTokens(&inputs[i]) && inputs[i].Dims[0].Size > 0 {
			size = int(inputs[i].Dims[0].Size)
			break
		}
	}
	g.batch = &symbol{kind: batchAxis, size: size}
	looked := g.lookedUp()
	var encodedTime *symbol
	if t.encoded >= 0 {
		d := inputs[t.encoded].Dims
		n := trialSource
		s := d[1].Size
		if t.swapped {
			s = d[0].Size
		}
		if s > 0 && s < 1<<20 {
			n = int(s)
		}
		encodedTime = &symbol{kind: timeAxis, size: n}
		g.sourceLength = n
	}
	for i := range inputs {
		v := &inputs[i]
		g.values[v.Name] = g.input(i, v, t, looked[v.Name], encodedTime, len(g.streams) == 0)
	}
}

func (g *graph) input(i int, v *onnx.Value, t trial, looked bool, source *symbol, first bool) *value {
	at := g.place(-1)
	switch {
	case isTokens(v) && looked:
		n := t.length
		if first && source == nil && g.tokenInputs() > 1 {
			n = trialSource // the encoder's, longer than the decoder's mask may allow
		}
		if s := v.Dims[1].Size; s > 0 && s < 1<<20 {
			n = int(s)
		}
		s := &stream{input: i, name: v.Name, time: &symbol{kind: timeAxis, size: n}, length: n}
		g.streams = append(g.streams, s)
		return &value{meaning: &tokens{s}, layout: layout{g.batch.dimension(), s.time.dimension()}, scale: 1, node: at}
	case i == t.encoded:
		d := v.Dims[2].Size
		if d <= 0 || d > 1<<24 {
			break
		}
		s := &symbol{kind: featureAxis, size: int(d)}
		l := layout{g.batch.dimension(), source.dimension(), s.dimension()}
		if t.swapped {
			l[0], l[1] = l[1], l[0]
		}
		return &value{meaning: &encoded{&external{i, v.Name}, s}, layout: l, scale: 1, node: at}
	case source != nil && len(v.Dims) == 2 && (v.DType == onnx.Bool || v.DType.IsInteger() || strings.Contains(v.Name, "mask")):
		s := &stream{input: i, name: v.Name, time: source, length: source.size}
		return &value{meaning: &padding{stream: s}, layout: layout{g.batch.dimension(), source.dimension()}, scale: 1, node: at}
	}
	return &value{meaning: &external{i, v.Name}, layout: g.externalLayout(v), scale: 1, node: at}
}

// externalLayout is a state's: sentences first, then whatever has its size.
func (g *graph) externalLayout(v *onnx.Value) layout {
	var l layout
	for i, d := range v.Dims {
		switch {
		case d.Size == int64(g.batch.size) && i == 0, d.Size < 0 && i == 0:
			l = append(l, g.batch.dimension())
		case d.Size < 0 || d.Size > 1<<24:
			s := &symbol{kind: repeatAxis, size: trialPast}
			l = append(l, s.dimension())
		default:
			s := &symbol{kind: featureAxis, size: int(d.Size)}
			l = append(l, s.dimension())
		}
	}
	return l
}

// tokenInputs counts the inputs of tokens.
func (g *graph) tokenInputs() int {
	n := 0
	looked := g.lookedUp()
	for _, v := range g.file.Graph.FreeInputs() {
		if isTokens(&v) && looked[v.Name] {
			n++
		}
	}
	return n
}

// lookedUp finds the inputs that are used, directly or cast, sliced or
// reshaped, to look up rows of a table.
func (g *graph) lookedUp() map[string]bool {
	from := make(map[string]string) // a view's origin
	found := make(map[string]bool)
	for _, i := range g.order {
		n := &g.file.Graph.Nodes[i]
		if len(n.Inputs) == 0 || len(n.Outputs) == 0 {
			continue
		}
		origin := func(name string) string {
			if o, ok := from[name]; ok {
				return o
			}
			return name
		}
		switch n.OpType {
		case "Identity", "Cast", "Slice", "Reshape", "Squeeze", "Unsqueeze", "Flatten":
			from[n.Outputs[0]] = origin(n.Inputs[0])
		case "GatherND":
			found[origin(n.Inputs[0])] = true
		case "Gather":
			if len(n.Inputs) > 1 {
				found[origin(n.Inputs[1])] = true
			}
			from[n.Outputs[0]] = origin(n.Inputs[0])
		}
	}
	return found
}
