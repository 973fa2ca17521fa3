package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memsizer/runtime"
)

// translateOptions are the flags of run translate.
type translateOptions struct {
	model  string
	output string
	format string
	search runtime.Options
	topK   int
	topP   float64
	long   string

	prefix       string
	prefixColumn bool

	resume      bool
	interactive bool
	quiet       bool
	progress    bool
	warnings    bool
	stats       string

	threads, rows, batchTokens int
	maxMemory                  byteSize
}

func newTranslateCommand(env environment) *cobra.Command {
	o := &translateOptions{search: runtime.DefaultOptions()}
	c := &cobra.Command{
		Use:   "translate -m MODEL [flags] [FILE...]",
		Short: "Translate text, line by line",
		Long: `Translate the lines of the files, or of stdin: input line i gives output line i.
Files that are compressed with gzip or zstd are read as they are; an output whose
name ends in .gz or .zst is compressed. "-" is stdin or stdout.`,
		Example: `  run translate -m model.msz < in.txt > out.txt
  run translate -m model.msz --beam 5 --lenpen 1 --max-len-a 1.2 --max-len-b 10 -o out.txt.zst --resume part1.gz part2.gz
  run translate -m model.msz --format fairseq < in.txt | grep ^D | cut -f 3-`,
		RunE: func(c *cobra.Command, files []string) error {
			return o.run(c.Context(), env, c.Flags(), files)
		},
	}
	o.addFlags(c.Flags())
	return c
}

func (o *translateOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.model, "model", "m", "", "model file (.msz)")
	f.StringVarP(&o.output, "output", "o", "-", "write the translations to this `file`")
	f.StringVar(&o.format, "format", "text", "text, fairseq (S-, H-, D-, P- lines, scores in base 2) or jsonl")
	f.BoolVar(&o.resume, "resume", false, "continue the output where an earlier run of the same command was stopped")
	f.StringVar(&o.prefix, "prefix", "", "`file` whose lines the translations begin with")
	f.BoolVar(&o.prefixColumn, "prefix-column", false, "what follows the first tab of a line is what its translation begins with")
	f.StringVar(&o.long, "long", "split", "lines too long for the model: split, truncate or fail")

	s := &o.search
	f.IntVar(&s.Beam, "beam", s.Beam, "hypotheses kept at each step")
	f.IntVar(&s.NBest, "nbest", s.NBest, "translations per line; as text each has the line's number and the score before it")
	f.Float64Var(&s.LenPen, "lenpen", s.LenPen, "length penalty: above 1 favours long translations")
	f.BoolVar(&s.NoNormalize, "unnormalized", s.NoNormalize, "compare scores that are not divided by the length")
	f.Float64Var(&s.MaxLenA, "max-len-a", s.MaxLenA, "at most a*S + b tokens for a source of S tokens")
	f.Float64Var(&s.MaxLenB, "max-len-b", s.MaxLenB, "see --max-len-a")
	f.BoolVar(&s.MatchSourceLen, "match-source-len", s.MatchSourceLen, "at most as many tokens as the source has")
	f.IntVar(&s.MinLen, "min-len", s.MinLen, "at least so many tokens")
	f.Float64Var(&s.UnkPen, "unkpen", s.UnkPen, "penalty of unknown words")
	f.BoolVar(&s.ReplaceUnk, "replace-unk", s.ReplaceUnk, "replace unknown words by the source words they are aligned to")
	f.IntVar(&s.NoRepeatNgram, "no-repeat-ngram-size", s.NoRepeatNgram, "repeat no sequence of so many tokens; 0 for no limit")
	f.Float64Var(&s.Temperature, "temperature", s.Temperature, "divide the logits by this")
	f.BoolVar(&s.Sampling, "sampling", s.Sampling, "draw at random instead of searching")
	f.IntVar(&o.topK, "sampling-topk", -1, "draw from the likeliest k tokens")
	f.Float64Var(&o.topP, "sampling-topp", -1, "draw from the smallest set of tokens with this probability")
	f.Uint64Var(&s.Seed, "seed", 1, "start of the random numbers")

	f.BoolVar(&o.interactive, "interactive", false, "answer every line at once; on by itself at a terminal")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no warnings and no progress on stderr")
	f.BoolVar(&o.progress, "progress", false, "show progress though stderr is no terminal")
	f.BoolVar(&o.warnings, "warnings", false, "list every warning with its line number")
	f.StringVar(&o.stats, "stats", "", "statistics on stderr at the end: text or json")

	f.IntVar(&o.threads, "threads", 0, "threads; by default one for each core")
	f.IntVar(&o.rows, "rows", 0, "decoder rows (sentences times beam) of each thread; by default 160 if memory allows")
	f.IntVar(&o.batchTokens, "batch-tokens", 0, "source tokens that are encoded together (default 1024)")
	f.Var(&o.maxMemory, "max-memory", "use about this much memory, such as 800M or 4G; by default half of what is free")
}

// check completes the options and finds contradictions.
func (o *translateOptions) check(files []string) error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	o.search.TopK, o.search.TopP = max(o.topK, 0), max(o.topP, 0)
	o.search.Long = runtime.LongPolicy(o.long)
	if o.output == "/dev/stdout" { // which opening would empty, if it is a file
		o.output = "-"
	}
	switch {
	case o.model == "":
		return withHint(fail("no model given"), "run translate -m MODEL.msz < in.txt > out.txt")
	case o.format != "text" && o.format != "fairseq" && o.format != "jsonl":
		return fail("--format is %q, want text, fairseq or jsonl", o.format)
	case o.stats != "" && o.stats != "text" && o.stats != "json":
		return fail("--stats is %q, want text or json", o.stats)
	case o.long == "":
		return fail("--long is %q, want split, truncate or fail", o.long)
	case o.prefix != "" && o.prefixColumn:
		return fail("--prefix and --prefix-column exclude each other")
	case o.resume && (o.output == "-" || o.output == ""):
		return fail("--resume needs -o FILE")
	case o.output == "":
		return fail("-o is empty")
	case o.threads < 0 || o.threads > 1<<12:
		return fail("--threads is %d, want 1 to 4096", o.threads)
	case o.rows < 0 || o.rows > 1<<16:
		return fail("--rows is %d, want 1 to 65536", o.rows)
	case o.batchTokens < 0 || o.batchTokens > 1<<20:
		return fail("--batch-tokens is %d, want 1 to 1048576", o.batchTokens)
	case o.prefix == "-" && len(files) == 0:
		return fail("stdin cannot be the input and the prefixes")
	}
	if err := o.search.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

// identity is the part of the options that decides what is written.
func (o *translateOptions) identity(flags *pflag.FlagSet) map[string]string {
	id := map[string]string{}
	for _, name := range []string{
		"format", "prefix-column", "long", "beam", "nbest", "lenpen", "unnormalized", "max-len-a", "max-len-b",
		"match-source-len", "replace-unk", "min-len", "unkpen", "no-repeat-ngram-size", "temperature", "sampling",
		"sampling-topk", "sampling-topp", "seed",
	} {
		id[name] = flags.Lookup(name).Value.String()
	}
	id["prefix"] = strconv.FormatBool(o.prefix != "")
	return id
}

// run does all of run translate.
func (o *translateOptions) run(ctx context.Context, env environment, flags *pflag.FlagSet, names []string) error {
	if err := o.check(names); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, signals, release := catchInterrupts(ctx)
	defer release()
	f, err := o.openFeed(env, names)
	if err != nil {
		return err
	}
	f.stop = signals.stop
	if err := o.refuseOverwriting(env, f); err != nil {
		return err
	}
	begun := time.Now()
	m, err := runtime.Open(o.model)
	if err != nil {
		return err
	}
	defer m.Close()
	t, err := o.newTranslator(m)
	if err != nil {
		return err
	}
	defer t.Close()
	settleMemory()
	loaded := time.Since(begun)
	write, _ := newForm(o.format, o.search.NBest, m.Text().Source(), m.Text().Target())
	s := &session{feed: f, translate: t.StreamLines, form: write}
	if s.out, err = o.openOutput(env, flags, f); err != nil {
		return err
	}
	s.progress = o.newProgress(env, f)
	s.warnings = &warnings{w: s.progress, each: o.warnings && !o.quiet, files: len(f.in.files) > 1}
	err = s.run(ctx, signals.caught)
	if errors.Is(err, errReaderGone) {
		return nil
	}
	if !o.quiet {
		s.warnings.summary()
	}
	st := newStatistics(s.progress, s.warnings, t.Stats(), time.Now())
	st.Model, st.LoadSeconds, st.Interrupted = o.model, loaded.Seconds(), signals.caught()
	switch o.stats {
	case "json":
		st.writeJSON(env.err)
	case "text":
		st.writeText(env.err)
	}
	return o.outcome(err, s, signals)
}

// outcome explains how the run ended.
func (o *translateOptions) outcome(err error, s *session, signals *interrupt) error {
	var w *writeError
	switch {
	case errors.As(err, &w) && o.resume:
		return withHint(err, "the same command continues where the output is safe, when there is room again")
	case errors.As(err, &w):
		return withHint(err, "the translations of the first %d lines are complete", w.lines)
	case err != nil:
		return err
	case !signals.caught():
		return nil
	}
	text := fmt.Sprintf("stopped after %d lines", s.out.lines)
	if o.resume {
		text += ", the same command continues"
	}
	if o.quiet {
		text = ""
	}
	return statusError{int(signals.status.Load()), text}
}

func (o *translateOptions) openFeed(env environment, names []string) (*feed, error) {
	files, err := openInputs(names, env.in)
	if err != nil {
		return nil, err
	}
	f := &feed{in: &input{files: files}, column: o.prefixColumn}
	if o.prefix != "" {
		for _, in := range files {
			if in.name == "-" && o.prefix == "-" {
				return nil, usageError{errors.New("stdin cannot be the input and the prefixes")}
			}
		}
		p, err := openInputs([]string{o.prefix}, env.in)
		if err != nil {
			return nil, err
		}
		f.prefix = &input{files: p}
	}
	return f, nil
}

// refuseOverwriting finds an output that is one of the inputs.
func (o *translateOptions) refuseOverwriting(env environment, f *feed) error {
	var out, model os.FileInfo
	name := o.output
	if o.output == "-" {
		name = "stdout"
		if h, ok := env.out.(*os.File); ok {
			out, _ = h.Stat()
		}
	} else {
		out, _ = os.Stat(o.output)
	}
	journal, _ := os.Stat(o.output + journalSuffix)
	files := f.in.files
	if f.prefix != nil {
		files = append(files[:len(files):len(files)], f.prefix.files...)
	}
	for _, in := range files {
		switch {
		case same(out, in.info):
			return usageError{fmt.Errorf("%s is both input and output", in.describe())}
		case o.resume && same(journal, in.info):
			return usageError{fmt.Errorf("%s is an input, and the name of the output's journal", in.describe())}
		}
	}
	if model, _ = os.Stat(o.model); same(out, model) {
		return usageError{fmt.Errorf("%s is the model", name)}
	}
	return nil
}

// same reports whether both are one regular file.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && a.Mode().IsRegular() && os.SameFile(a, b)
}

// newTranslator sizes the translator for the machine and the model.
func (o *translateOptions) newTranslator(m *runtime.Model) (*runtime.Translator, error) {
	used, limit := residentMemory(), int64(o.maxMemory)
	if limit > 0 {
		limitMemory(limit)
	} else if n := availableMemory(); n > 0 {
		limit = used + n/2
	}
	threads, rows, err := fitRows(m.Footprint(&o.search, o.batchTokens), o.search.Beam, o.threads, o.rows, used, limit)
	if err != nil {
		return nil, err
	}
	return runtime.NewTranslator(m, o.search, runtime.Resources{Workers: threads, Rows: rows, BatchTokens: o.batchTokens})
}

// atOnce reports whether every line is answered at once.
func (o *translateOptions) atOnce(f *feed) bool {
	return o.interactive || len(f.in.files) == 1 && terminal(f.in.files[0].stdin)
}

// openOutput opens the output, and with --resume its journal, and reads over
// the lines that an earlier run has translated.
func (o *translateOptions) openOutput(env environment, flags *pflag.FlagSet, f *feed) (*output, error) {
	each := o.atOnce(f)
	if o.output == "-" {
		out := newOutput("stdout", env.out, nil)
		out.each = each
		return out, nil
	}
	if !o.resume {
		if err := removeStale(o.output + journalSuffix); err != nil {
			return nil, err
		}
		out, err := openFresh(o.output)
		if err == nil {
			out.each = each
		}
		return out, err
	}
	id, err := o.jobIdentity(flags, f)
	if err != nil {
		return nil, err
	}
	out, at, err := openJournalled(o.output, id)
	if err != nil {
		return nil, err
	}
	if at.Line > 0 {
		if !o.quiet {
			fmt.Fprintf(env.err, "run: continuing %s after line %d\n", o.output, at.Line)
		}
		if err := f.skip(at.Line, out.input, at.Input); err != nil {
			out.abandon()
			return nil, withHint(err, "to translate everything again, remove %s", o.output+journalSuffix)
		}
	}
	out.each = each
	return out, nil
}

func (o *translateOptions) jobIdentity(flags *pflag.FlagSet, f *feed) (*jobIdentity, error) {
	id := &jobIdentity{Version: journalVersion, Options: o.identity(flags)}
	var err error
	if id.Model, err = digestFile(o.model); err != nil {
		return nil, err
	}
	if id.Inputs, err = identify(f.in.files); err != nil {
		return nil, err
	}
	if f.prefix != nil {
		p, err := identify(f.prefix.files)
		if err != nil {
			return nil, err
		}
		id.Inputs = append(id.Inputs, p...)
	}
	return id, nil
}

func (o *translateOptions) newProgress(env environment, f *feed) *progress {
	tty := terminal(env.err)
	return &progress{
		skipped: int64(f.number), part: f.part, begun: time.Now(), begunAt: f.part(),
		w: env.err, over: tty, show: !o.quiet && (o.progress || tty && !o.atOnce(f)),
	}
}
