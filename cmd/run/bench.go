package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memsizer/runtime"
)

// benchOptions are the flags of run bench.
type benchOptions struct {
	models    []string
	threads   []int
	beams     []int
	batches   []int
	length    int
	time      time.Duration
	passes    int
	seed      uint64
	noLimits  bool
	products  bool
	lengths   []int
	points    bool
	batching  bool
	rows      []int
	sentences int
	input     string
	json      bool
	quiet     bool
}

func newBenchCommand(env environment) *cobra.Command {
	o := &benchOptions{}
	c := &cobra.Command{
		Use:   "bench -m MODEL [flags]",
		Short: "Measure speed against the limits of this machine",
		Long: `Measure what the machine can do at most (multiply-adds, reads of its caches and its
memory), then how fast the model encodes and decodes, and the part of the limit
that is reached. Random sources of --length tokens (eos counted) are translated to
exactly as many tokens; a language model generates as many from nothing.

A batch is the sentences given at once, shared by the threads. "roof" compares with
the least time in which this machine could read the weights, or multiply by them,
summed over the matrix products; what else a step does counts against the model.
"best" is what the products alone reach, each as fast as its fastest call: on a
machine that others share, it tells the kernels from their neighbours.
Each figure is a median of passes after a warm-up. The limits are measured before
and after: where they differ, or other processes ran, the figures are too low.

With --lengths: the speed of a language model's single sequence at these lengths
and the memory it takes. What comes before is made up, not generated.

With --batching: a translation model's speed when the rows of finished sentences
are refilled, as translate does, and with fixed batches: the sentences sorted by
length, each batch decoded until its last sentence is finished (without padding,
and finished sentences leave the batch).

"convert synth" writes models of the paper's sizes with random weights.`,
		Example: `  convert synth -o mt.msz --preset mt && run bench -m mt.msz
  run bench -m mt.msz --threads 1 --batch 1,64 --beam 1 --products
  run bench --batching -m mt.msz --beam 5 --rows 8,40,160,320
  run bench --lengths -m lm.msz -m lm-softmax.msz --json > lengths.json`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("%d arguments, want none", len(args))}
			}
			return o.run(c.Context(), env)
		},
	}
	o.addFlags(c.Flags())
	return c
}

func (o *benchOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVarP(&o.models, "model", "m", nil, "model `file` (.msz); with --lengths several")
	f.IntSliceVar(&o.threads, "threads", nil, "numbers of threads; by default 1 and one for each core")
	f.IntSliceVar(&o.beams, "beam", []int{1, 5}, "beams; 1 is greedy")
	f.IntSliceVar(&o.batches, "batch", []int{1, 8, 64, 256}, "sentences given at once")
	f.IntVar(&o.length, "length", 30, "tokens of each source and of each output, eos counted")
	f.DurationVar(&o.time, "time", 2*time.Second, "repeat each measurement for this long, and three times unless that takes four times as long")
	f.IntVar(&o.passes, "passes", 0, "repeat each so many times instead")
	f.Uint64Var(&o.seed, "seed", 1, "of the random sources")
	f.BoolVar(&o.noLimits, "no-limits", false, "do not measure the machine's limits")
	f.BoolVar(&o.products, "products", false, "list the decoder's matrix products by shape, those of 1 % or more of its time")
	f.IntSliceVar(&o.lengths, "lengths", nil, "speed and memory of one sequence at these lengths instead; by default 64 to 65,536")
	f.Lookup("lengths").NoOptDefVal = "64,256,1024,4096,16384,65536"
	f.BoolVar(&o.batching, "batching", false, "compare refilling the rows of finished sentences with fixed batches of the same width")
	f.IntSliceVar(&o.rows, "rows", []int{8, 40, 160, 320}, "with --batching: decoder rows (sentences times beam) of each thread")
	f.IntVar(&o.sentences, "sentences", 512, "with --batching: how many")
	f.StringVar(&o.input, "input", "", "with --batching: `file` with a sentence per line, instead of made up ones")
	f.BoolVar(&o.points, "points", false, "measure the points that stdin names, a line of threads, beam and batch each, and answer with a line of JSON each")
	f.BoolVar(&o.json, "json", false, "write JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
}

func (o *benchOptions) check() error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	within := func(name string, values []int, lo, hi int) error {
		for _, v := range values {
			if v < lo || v > hi {
				return fail("--%s has %d, want %d to %d", name, v, lo, hi)
			}
		}
		return nil
	}
	switch {
	case len(o.models) == 0:
		return withHint(fail("no model given"), "run bench -m MODEL.msz; convert synth writes one")
	case len(o.models) > 1 && o.lengths == nil:
		return fail("%d models, want one, or --lengths", len(o.models))
	case o.points && o.lengths != nil, o.batching && (o.points || o.lengths != nil):
		return fail("--points, --lengths and --batching exclude each other")
	case o.sentences < 1 || o.sentences > 1<<24:
		return fail("--sentences is %d, want 1 to 16777216", o.sentences)
	case o.length < 2 || o.length > 1<<16:
		return fail("--length is %d, want 2 to 65536", o.length)
	case o.passes < 0:
		return fail("--passes is %d, want 1 or more", o.passes)
	case o.time < 0:
		return fail("--time is %v, want a duration such as 2s", o.time)
	case len(o.beams) == 0 || len(o.batches) == 0:
		return fail("--beam and --batch need at least one number")
	}
	for _, err := range []error{
		within("threads", o.threads, 1, 1<<12), within("beam", o.beams, 1, 1<<12),
		within("batch", o.batches, 1, 1<<16), within("lengths", o.lengths, 1, 1<<30), within("rows", o.rows, 1, 1<<16),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// benchReport is everything that a run found, and its JSON form.
type benchReport struct {
	Machine  *benchMachine    `json:"machine"`
	Model    *benchModel      `json:"model,omitempty"`
	Limits   []*benchLimit    `json:"limits,omitempty"`
	Text     *benchText       `json:"text,omitempty"`
	Points   []*benchPoint    `json:"points,omitempty"`
	Lengths  []*benchLength   `json:"lengths,omitempty"`
	Batching []*benchBatching `json:"batching,omitempty"`
}

func (o *benchOptions) run(ctx context.Context, env environment) error {
	err := o.check()
	if err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, signals, release := catchInterrupts(ctx)
	defer release()
	if o.points {
		if err = o.answerPoints(ctx, env); signals.caught() {
			return statusError{int(signals.status.Load()), "interrupted"}
		}
		return err
	}
	r := &benchReport{Machine: newBenchMachine()}
	if len(o.threads) == 0 {
		o.threads = []int{1}
		if r.Machine.Cores > 1 {
			o.threads = append(o.threads, r.Machine.Cores)
		}
	}
	say := func(format string, args ...any) {
		if !o.quiet && terminal(env.err) {
			fmt.Fprintf(env.err, "run: "+format+"\n", args...)
		}
	}
	switch {
	case o.lengths != nil:
		err = o.measureLengths(ctx, r, say)
	case o.batching:
		err = o.measureBatching(ctx, env, r, say)
	default:
		err = o.measureModel(ctx, r, say)
	}
	if err != nil {
		if signals.caught() {
			return statusError{int(signals.status.Load()), "interrupted"}
		}
		return err
	}
	r.Machine.finish()
	if o.json {
		e := json.NewEncoder(env.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(r)
	}
	return r.print(env.out, o.products)
}

// measureModel fills in the report on one model at all points.
func (o *benchOptions) measureModel(ctx context.Context, r *benchReport, say func(string, ...any)) error {
	m, err := runtime.Open(o.models[0])
	if err != nil {
		return err
	}
	defer m.Close()
	b, err := newBencher(m, o)
	if err != nil {
		return fmt.Errorf("%s: %w", o.models[0], err)
	}
	r.Model = newBenchModel(o.models[0], m)
	if r.Model.StepBytes, err = b.stepBytes(ctx); err != nil {
		return err
	}
	if !o.noLimits {
		say("limits of the machine")
		b.limits = newBenchLimits(r.Machine, o.threads, r.Model.StepBytes, 60*time.Millisecond)
		b.limits.measure()
	}
	for _, threads := range o.threads {
		for _, beam := range o.beams {
			for _, batch := range o.batches {
				say("%d threads, beam %d, batch %d", threads, beam, batch)
				p, err := b.point(ctx, threads, beam, batch)
				if err != nil {
					return err
				}
				r.Points = append(r.Points, p)
			}
		}
	}
	r.Text = b.text()
	if b.limits != nil {
		b.limits.measure()
		r.Limits = b.limits.list
	}
	for _, p := range r.Points {
		p.compare(b.limits)
	}
	return nil
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
