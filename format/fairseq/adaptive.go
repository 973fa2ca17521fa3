package fairseq

import (
	"fmt"

	"memsizer/format"
)

const softmaxPrefix = "decoder.adaptive_softmax."

// adaptiveOutput derives an adaptive softmax. Its tensors are stored once where
// the whole of it is tied to the adaptive input, all tables or all projections;
// otherwise it gets tensors of its own.
func (d *derivation) adaptiveOutput() error {
	o := &d.cfg.Output
	o.Kind = format.Adaptive
	width := d.cfg.OutputInputDim()
	tails := d.tailCount()
	d.headTensors(tails, width)
	for i := range tails {
		d.tailTensors(i, width)
	}
	if d.cfg.Decoder.Embedding.Kind != format.Adaptive {
		return nil
	}
	return d.adaptiveTies(tails)
}

// tailCount: as many as the tail tensors or, where a writer dropped the tied
// ones, the class projection say.
func (d *derivation) tailCount() int {
	n := 0
	for n < 63 && d.hasPrefix(fmt.Sprintf("%stail.%d.", softmaxPrefix, n)) {
		n++
	}
	if e := d.st.entries[softmaxPrefix+"head.class_proj.weight"]; n == 0 && e.is(2) && e.data.dims[0] < 64 {
		n = e.data.dims[0]
	}
	return n
}

// inputBand is a band of the adaptive input, if there is one.
func (d *derivation) inputBand(i int) (format.Band, bool) {
	if b := d.cfg.Decoder.Embedding.Bands; i < len(b) {
		return b[i], true
	}
	return format.Band{}, false
}

// tieWeights and tieProjections are the settings; a file without the tensors
// concerned depends on them.
func (d *derivation) tieWeights() bool {
	return d.setting("tie_adaptive_weights", d.arch.tieAdaptive)
}

func (d *derivation) tieProjections() bool {
	if v, old := d.set.lookup("no_tie_adaptive_proj"); old && v == false {
		return true
	}
	return d.setting("tie_adaptive_proj", d.arch.tieAdaptive)
}

// headTensors finds the head: words and classes in one matrix, or apart when
// it is tied.
func (d *derivation) headTensors(tails, width int) {
	o := &d.cfg.Output
	const words, classes = softmaxPrefix + "head.weight", softmaxPrefix + "head.class.weight"
	if e := d.st.entries[softmaxPrefix+"head.weight"]; e.is(2) && e.data.dims[0] > tails {
		cut := e.data.dims[0] - tails
		d.used[softmaxPrefix+"head.weight"] = true
		d.origins[words] = origin{fmt.Sprintf("%s[0:%d]", e.source, cut), e.data.rows(0, cut)}
		if tails > 0 {
			d.origins[classes] = origin{fmt.Sprintf("%s[%d:%d]", e.source, cut, cut+tails), e.data.rows(cut, cut+tails)}
		}
		o.Bands = append(o.Bands, format.Band{Size: cut, Dim: width})
		return
	}
	d.rename(classes, softmaxPrefix+"head.class_proj.weight")
	if e := d.st.entries[softmaxPrefix+"head.class_proj.weight"]; tails == 0 && e != nil && count(e.data.dims) == 0 {
		delete(d.origins, classes)
	}
	const word = softmaxPrefix + "head.word_proj."
	inner, table := d.st.entries[word+"0.weight"], d.st.entries[word+"1.weight"]
	switch {
	case inner.is(2) && table.is(2) && table.data.dims[1] == inner.data.dims[0]:
		// The tied table is narrower than the head's input: its product with
		// the projection in front is an ordinary head.
		d.used[word+"0.weight"], d.used[word+"1.weight"] = true, true
		d.origins[words] = origin{table.source + " · " + inner.source, product(table.data, inner.data)}
		o.Bands = append(o.Bands, format.Band{Size: table.data.dims[0], Dim: width})
		d.note("the head's words go through a projection: multiplied into one matrix")
	case d.has(word + "weight"):
		d.rename(words, word+"weight")
		size := 1
		if e := d.st.entries[word+"weight"]; e.is(2) {
			size = e.data.dims[0]
		}
		o.Bands = append(o.Bands, format.Band{Size: size, Dim: width})
	default:
		d.origins[words] = origin{name: word + "weight"}
		b, _ := d.inputBand(0)
		o.Bands = append(o.Bands, format.Band{Size: max(b.Size, 1), Dim: width})
	}
}

// tailTensors finds tail i: a projection, perhaps stored transposed, and a table.
func (d *derivation) tailTensors(i, width int) {
	o := &d.cfg.Output
	table := fmt.Sprintf("%stail.%d.2.weight", softmaxPrefix, i)
	projection := fmt.Sprintf("%stail.%d.0.weight", softmaxPrefix, i)
	band, _ := d.inputBand(i + 1)
	if e := d.st.entries[table]; e.is(2) {
		band = format.Band{Size: e.data.dims[0], Dim: e.data.dims[1]}
	}
	o.Bands = append(o.Bands, band)
	d.rename(fmt.Sprintf("%stails.%d.weight", softmaxPrefix, i), table)
	canonical := fmt.Sprintf("%stails.%d.projection.weight", softmaxPrefix, i)
	d.rename(canonical, projection)
	e := d.st.entries[projection]
	if !e.is(2) {
		return
	}
	asTied := e.data.dims[0] == width && e.data.dims[1] == band.Dim
	if square := width == band.Dim; asTied && (!square || d.tieWeights() && d.tieProjections()) {
		d.origins[canonical] = origin{e.source + " transposed", transposed(e.data)}
	}
}

// adaptiveTies finds out whether tables and projections are those of the input.
func (d *derivation) adaptiveTies(tails int) error {
	o := &d.cfg.Output
	in := d.cfg.Decoder.Embedding.Bands
	if len(in) != tails+1 || len(in) != len(o.Bands) {
		return nil
	}
	tables, projections := d.tieWeights(), d.tieWeights() && d.tieProjections()
	tied, err := d.tied(softmaxPrefix+"head.word_proj.weight", "decoder.embed_tokens.embeddings.0.0.weight", tables)
	if err != nil {
		return err
	}
	tied = tied && in[0].Dim == d.cfg.OutputInputDim() && d.origins[softmaxPrefix+"head.weight"].isFile()
	tiedProjections := true
	for i := range tails {
		t, err := d.tied(fmt.Sprintf("%stail.%d.2.weight", softmaxPrefix, i), fmt.Sprintf("decoder.embed_tokens.embeddings.%d.0.weight", i+1), tables)
		if err != nil {
			return err
		}
		tied = tied && t
		name := fmt.Sprintf("%stail.%d.0.weight", softmaxPrefix, i)
		p, err := d.tied(name, fmt.Sprintf("decoder.embed_tokens.embeddings.%d.1.weight", i+1), projections)
		if err != nil {
			return err
		}
		if in[i+1].Dim == d.cfg.OutputInputDim() && !projections {
			p = false // a square matrix that is not tied is not transposed
		}
		tiedProjections = tiedProjections && p
	}
	o.TiedBands = tied
	o.TiedProjections = tiedProjections && tails > 0 && bandsEqual(in, o.Bands)
	d.consumeTies(tails)
	if tables && !tied {
		d.note("%q is set, but the output's tables are not the input's: kept apart", "tie_adaptive_weights")
	}
	if projections && !o.TiedProjections && tails > 0 {
		d.note("%q is set, but the output's projections are not the input's: kept apart", "tie_adaptive_proj")
	}
	return nil
}

func bandsEqual(a, b []format.Band) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func (o origin) isFile() bool {
	_, ok := o.data.(fileTensor)
	return ok || o.data == nil
}

// tied: equal bytes, or a name that is missing where the settings tie it.
func (d *derivation) tied(name, input string, bySettings bool) (bool, error) {
	if !d.has(name) {
		return bySettings && d.has(input), nil
	}
	return d.same(name, input)
}

// consumeTies accounts for the entries that are copies of the input's tensors.
func (d *derivation) consumeTies(tails int) {
	drop := func(canonical, name string) {
		delete(d.origins, canonical)
		d.used[name] = true
	}
	if d.cfg.Output.TiedBands {
		drop(softmaxPrefix+"head.weight", softmaxPrefix+"head.word_proj.weight")
	}
	for i := range tails {
		if d.cfg.Output.TiedBands {
			drop(fmt.Sprintf("%stails.%d.weight", softmaxPrefix, i), fmt.Sprintf("%stail.%d.2.weight", softmaxPrefix, i))
		}
		if d.cfg.Output.TiedProjections {
			drop(fmt.Sprintf("%stails.%d.projection.weight", softmaxPrefix, i), fmt.Sprintf("%stail.%d.0.weight", softmaxPrefix, i))
		}
	}
}
