package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"memsizer/format"
	"memsizer/runtime"
)

// benchBatching compares the scheduler, which refills the rows of finished
// sentences, with fixed batches of the same width: sentences sorted by the
// length of their sources, a batch decoded until its last sentence is
// finished.
type benchBatching struct {
	Threads   int `json:"threads"`
	Beam      int `json:"beam"`
	Rows      int `json:"rows"` // of each thread
	Sentences int `json:"sentences"`
	Passes    int `json:"passes"`
	// Tokens of the best hypotheses together, eos counted: the same both ways.
	Tokens     int64           `json:"tokens"`
	Continuous benchScheduling `json:"continuous"`
	Fixed      benchScheduling `json:"fixed"`
	// Ratio is the median over the passes of continuous by fixed tokens/s,
	// one after the other.
	Ratio float64 `json:"ratio"`
}

// benchScheduling is the speed of one of the two, a median of passes.
type benchScheduling struct {
	TokensPerSecond float64 `json:"tokens_per_second"` // of the best hypotheses, eos counted, encoding included
	RowsPerStep     float64 `json:"rows_per_step"`
	Occupancy       float64 `json:"occupancy"` // of the rows in the steps
}

func (o *benchOptions) measureBatching(ctx context.Context, env environment, r *benchReport, say func(string, ...any)) error {
	m, err := runtime.Open(o.models[0])
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Header().Config.Encoder == nil {
		return usageError{fmt.Errorf("%s is a language model; --batching is about translation", o.models[0])}
	}
	r.Model = newBenchModel(o.models[0], m)
	sentences, err := o.batchSentences(m, env.in)
	if err != nil {
		return err
	}
	for _, threads := range o.threads {
		for _, beam := range o.beams {
			for _, rows := range o.rows {
				if rows < beam {
					continue
				}
				say("%d threads, beam %d, %d rows", threads, beam, rows)
				p, err := o.compareBatching(ctx, m, sentences, threads, beam, rows)
				if err != nil {
					return err
				}
				r.Batching = append(r.Batching, p)
			}
		}
	}
	return nil
}

// batchSentences reads the sentences of --input, as many as --sentences, or
// makes them up: sources whose lengths spread as those of news text do
// (log-normal, median 24, σ 0.55), with translations of 0.8 to 1.25 times as
// many tokens (σ 0.22).
func (o *benchOptions) batchSentences(m *runtime.Model, stdin io.Reader) ([]runtime.Sentence, error) {
	if o.input != "" {
		return o.readSentences(m, stdin)
	}
	rng := rand.New(rand.NewPCG(o.seed, 2))
	c := &m.Header().Config
	most := min(c.Encoder.Positions.Max, c.Decoder.Positions.Max) - 1
	list := make([]runtime.Sentence, o.sentences)
	for i := range list {
		length := math.Exp(math.Log(24) + 0.55*rng.NormFloat64())
		n := min(max(int(length), 3), most, 200)
		ids := randomIDs(rng, n, c.Encoder.Embedding.Vocab)
		list[i] = runtime.Sentence{Tokens: ids, Limit: min(max(int(float64(n)*math.Exp(0.22*rng.NormFloat64())), 2), most)}
	}
	return list, nil
}

func (o *benchOptions) readSentences(m *runtime.Model, stdin io.Reader) ([]runtime.Sentence, error) {
	files, err := openInputs([]string{o.input}, stdin)
	if err != nil {
		return nil, err
	}
	in := &input{files: files}
	defer in.close()
	var list []runtime.Sentence
	most := m.Header().Config.Encoder.Positions.Max
	for len(list) < o.sentences {
		line, err := in.nextLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if ids, _ := m.Text().EncodeSource(line.text()); len(ids) > 0 && len(ids) < most {
			list = append(list, runtime.Sentence{Tokens: append(ids, format.EOS)})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no sentence that the model can take", files[0].describe())
	}
	return list, nil
}

// compareBatching measures both ways in turn.
func (o *benchOptions) compareBatching(ctx context.Context, m *runtime.Model, sentences []runtime.Sentence, threads, beam, rows int) (*benchBatching, error) {
	p := &benchBatching{Threads: threads, Beam: beam, Rows: rows, Sentences: len(sentences)}
	search := runtime.DefaultOptions()
	search.Beam = beam
	if o.input == "" { // every translation has the length of its limit
		search.MaxLenA, search.MaxLenB, search.MinLen = 0, math.MaxInt32, math.MaxInt32
	} else {
		search.MaxLenA, search.MaxLenB = 1.2, 10
	}
	sorted := slices.Clone(sentences)
	slices.SortStableFunc(sorted, func(a, b runtime.Sentence) int { return cmp.Compare(len(b.Tokens), len(a.Tokens)) })
	r := runtime.Resources{Workers: threads, Rows: rows}
	fixed := r
	fixed.Fixed = true
	warm := min(len(sentences), 2*threads*rows/beam)
	if _, err := timed(ctx, m, search, r, sentences[:warm]); err != nil {
		return nil, err
	}
	var a, b []schedulingPass
	var ratios []float64
	for begun := time.Now(); !o.enough(len(ratios), time.Since(begun)); {
		x, err := timed(ctx, m, search, r, sentences)
		if err != nil {
			return nil, err
		}
		y, err := timed(ctx, m, search, fixed, sorted)
		if err != nil {
			return nil, err
		}
		if x.tokens != y.tokens {
			return nil, fmt.Errorf("%d tokens with refilled rows, %d in fixed batches, want the same", x.tokens, y.tokens)
		}
		p.Tokens = x.tokens
		a, b, ratios = append(a, x), append(b, y), append(ratios, x.rate/y.rate)
	}
	p.Passes, p.Ratio = len(ratios), median(ratios)
	p.Continuous, p.Fixed = newBenchScheduling(a), newBenchScheduling(b)
	return p, nil
}

// schedulingPass is all sentences translated once.
type schedulingPass struct {
	tokens                int64
	rate, rows, occupancy float64
}

// newBenchScheduling takes the medians of passes.
func newBenchScheduling(passes []schedulingPass) benchScheduling {
	var rates, rows, occupancies []float64
	for _, p := range passes {
		rates, rows, occupancies = append(rates, p.rate), append(rows, p.rows), append(occupancies, p.occupancy)
	}
	return benchScheduling{median(rates), median(rows), median(occupancies)}
}

// timed translates all sentences once.
func timed(ctx context.Context, m *runtime.Model, o runtime.Options, r runtime.Resources, sentences []runtime.Sentence) (schedulingPass, error) {
	t, err := runtime.NewTranslator(m, o, r)
	if err != nil {
		return schedulingPass{}, err
	}
	defer t.Close()
	var p schedulingPass
	begun := time.Now()
	source := func(yield func(runtime.Sentence) bool) {
		for _, s := range sentences {
			if !yield(s) {
				break
			}
		}
		go t.Close() // so that the last batch, which is not full, is decoded
	}
	for hyps, err := range t.StreamTokens(ctx, source) {
		if err != nil {
			return p, err
		}
		if len(hyps) > 0 {
			p.tokens += int64(len(hyps[0].Tokens))
		}
	}
	seconds := time.Since(begun).Seconds()
	s := t.Stats()
	p.rate, p.rows, p.occupancy = float64(p.tokens)/seconds, float64(s.RowSteps)/float64(max(s.Steps, 1)), s.RowOccupancy()
	return p, nil
}

// printBatching writes a row per comparison.
func (r *benchReport) printBatching(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\nthreads\tbeam\trows\tsentences\tcontinuous\tin use\tfixed\tin use\tratio\t\n")
	for _, p := range r.Batching {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%.1f\t%s\t%.1f\t%s\t%.2f\t\n", p.Threads, p.Beam, p.Rows, p.Sentences,
			p.Continuous.TokensPerSecond, percent(p.Continuous.Occupancy), p.Fixed.TokensPerSecond, percent(p.Fixed.Occupancy), p.Ratio)
	}
	t.Flush()
}
