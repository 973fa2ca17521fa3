package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memsizer/runtime"
)

// scoreOptions are the flags of run score.
type scoreOptions struct {
	model    string
	source   string
	target   string
	block    int
	context  int
	perToken bool
	format   string
	threads  int
}

func newScoreCommand(env environment) *cobra.Command {
	o := &scoreOptions{}
	c := &cobra.Command{
		Use:   "score -m MODEL [flags] [FILE...]",
		Short: "Score a text under a language model, or translations under a translation model",
		Long: `With a language model: the perplexity of the files' text, read as one stream of
tokens with eos after each line. It is cut into blocks of --tokens-per-sample
tokens; --context-window of them are read again from the block before, not scored.
With a translation model: the log-probability of each line of --target given the
same line of --source.`,
		Example: `  run score -m lm.msz test.txt
  run score -m lm.msz --tokens-per-sample 512 --context-window 256 test.txt   # the paper's protocol
  run score -m lm.msz --per-token test.txt > scores.tsv
  run score -m model.msz --source test.en --target test.de > scores.txt`,
		RunE: func(c *cobra.Command, files []string) error { return o.run(c.Context(), env, files) },
	}
	o.addFlags(c.Flags())
	return c
}

func (o *scoreOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.model, "model", "m", "", "model file (.msz)")
	f.StringVar(&o.source, "source", "", "`file` of source lines (translation models)")
	f.StringVar(&o.target, "target", "", "`file` of their translations")
	f.IntVar(&o.block, "tokens-per-sample", 0, "tokens of a block; by default as many as the model was trained with")
	f.IntVar(&o.context, "context-window", 0, "tokens of a block that are context only")
	f.BoolVar(&o.perToken, "per-token", false, "write every token with its log-probability (natural), tab-separated")
	f.StringVar(&o.format, "format", "text", "text or json, of the totals")
	f.IntVar(&o.threads, "threads", 0, "threads; by default one for each core")
}

func (o *scoreOptions) check(files []string) error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	switch {
	case o.model == "":
		return withHint(fail("no model given"), "run score -m MODEL.msz FILE")
	case o.format != "text" && o.format != "json":
		return fail("--format is %q, want text or json", o.format)
	case o.block < 0:
		return fail("--tokens-per-sample is %d, want 1 or more", o.block)
	case o.context < 0:
		return fail("--context-window is %d, want 0 or more", o.context)
	case (o.source == "") != (o.target == ""):
		return fail("--source and --target go together")
	case o.source != "" && len(files) > 0:
		return fail("input files and --source exclude each other")
	case o.source == "-" && o.target == "-":
		return fail("stdin cannot be the source and the target")
	case o.threads < 0 || o.threads > 1<<12:
		return fail("--threads is %d, want 1 to 4096", o.threads)
	}
	return nil
}

func (o *scoreOptions) run(ctx context.Context, env environment, files []string) error {
	if err := o.check(files); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	m, err := runtime.Open(o.model)
	if err != nil {
		return err
	}
	defer m.Close()
	out := bufio.NewWriterSize(env.out, 64<<10)
	var t *totals
	switch translation := m.Header().Config.Encoder != nil; {
	case translation && o.source == "":
		return withHint(usageError{fmt.Errorf("%s is a translation model", o.model)}, "give --source and --target")
	case !translation && o.source != "":
		return usageError{fmt.Errorf("%s is a language model: give one text, not --source and --target", o.model)}
	case translation:
		t, err = o.translations(ctx, env, m, out)
	default:
		t, err = o.text(ctx, env, m, files, out)
	}
	if err != nil {
		if brokenPipe(err) {
			return nil
		}
		return err
	}
	// With one result per line on stdout, the totals go to stderr.
	to := io.Writer(out)
	if o.perToken || o.source != "" {
		to = env.err
	}
	if err := t.write(to, o.format); err != nil {
		return err
	}
	if err := out.Flush(); err != nil && !brokenPipe(err) {
		return err
	}
	return nil
}
