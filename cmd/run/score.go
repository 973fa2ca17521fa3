package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memsizer/format"
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

// totals of a scored text. Words are separated by white space in the raw
// text; every line end (eos) counts as a token, not as a word.
type totals struct {
	Lines       int     `json:"lines"`
	Words       int64   `json:"words"`
	Tokens      int64   `json:"tokens"`
	Unknown     int64   `json:"unknown_tokens"`
	Sum         float64 `json:"log_prob"` // natural
	Block       int     `json:"tokens_per_sample,omitempty"`
	ContextSize int     `json:"context_window,omitempty"`
	Loss        float64 `json:"loss"`       // nats per token
	Loss2       float64 `json:"loss_base2"` // bits per token
	Perplexity  float64 `json:"perplexity"`
	WordPPL     float64 `json:"perplexity_per_word"` // words and line ends share the total
}

func (t *totals) write(w io.Writer, form string) error {
	if t.Tokens > 0 {
		t.Loss = -t.Sum / float64(t.Tokens)
		t.Loss2 = t.Loss / math.Ln2
		t.Perplexity = math.Exp(t.Loss)
		t.WordPPL = math.Exp(-t.Sum / float64(t.Words+int64(t.Lines)))
	}
	if form == "json" {
		b := bufio.NewWriter(w)
		if err := writeJSONLine(b, t); err != nil {
			return err
		}
		return b.Flush()
	}
	_, err := fmt.Fprintf(w, "lines %d, words %d, tokens %d (with eos; %d unknown)\nlog-probability %.4f\nloss per token %.5f (base e), %.5f (base 2)\nperplexity %.4f per token, %.4f per word or line end\n",
		t.Lines, t.Words, t.Tokens, t.Unknown, t.Sum, t.Loss, t.Loss2, t.Perplexity, t.WordPPL)
	return err
}

// text scores a language model's text.
func (o *scoreOptions) text(ctx context.Context, env environment, m *runtime.Model, names []string, out *bufio.Writer) (*totals, error) {
	opened, err := openInputs(names, env.in)
	if err != nil {
		return nil, err
	}
	lines := &prompts{in: &input{files: opened}}
	defer lines.close()
	t := &totals{Block: o.block, ContextSize: o.context}
	if t.Block == 0 {
		t.Block = m.Header().Config.Decoder.Positions.Max
	}
	queue := make(chan int32, 4*t.Block*(o.threads+8)) // read and not yet scored
	tokens := func(yield func(int32) bool) {
		for s := range lines.all {
			ids, _ := m.Text().EncodeTarget(s)
			t.Lines++
			t.Words += int64(len(strings.Fields(s)))
			for _, id := range append(ids, format.EOS) {
				if id == format.Unk {
					t.Unknown++
				}
				if o.perToken {
					select {
					case queue <- id:
					case <-ctx.Done():
						return
					}
				}
				if !yield(id) {
					return
				}
			}
		}
	}
	dict := m.Text().Target()
	err = m.ScoreText(ctx, tokens, runtime.Blocks{Tokens: t.Block, Context: t.ContextSize}, o.threads, func(lp []float32) error {
		for _, v := range lp {
			t.Sum += float64(v)
			t.Tokens++
			if o.perToken {
				if err := writeToken(out, dict.Symbol(<-queue), v); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = lines.err
	}
	return t, err
}

func writeToken(out *bufio.Writer, symbol string, logProb float32) error {
	out.WriteString(symbol)
	out.WriteByte('\t')
	out.WriteString(strconv.FormatFloat(float64(logProb), 'f', 6, 32))
	return out.WriteByte('\n')
}

// errLengths: the two files of a translation task do not belong together.
var errLengths = errors.New("the source and the target have different numbers of lines")

// translations scores each target line given its source line.
func (o *scoreOptions) translations(ctx context.Context, env environment, m *runtime.Model, out *bufio.Writer) (*totals, error) {
	var sides [2]*prompts
	for i, name := range []string{o.source, o.target} {
		opened, err := openInputs([]string{name}, env.in)
		if err != nil {
			return nil, err
		}
		sides[i] = &prompts{in: &input{files: opened}}
		defer sides[i].close()
	}
	t := &totals{}
	s := runtime.NewScorer(m)
	dict := m.Text().Target()
	for {
		src, srcErr := sides[0].in.nextLine()
		tgt, tgtErr := sides[1].in.nextLine()
		switch {
		case srcErr == io.EOF && tgtErr == io.EOF:
			return t, nil
		case srcErr == io.EOF || tgtErr == io.EOF:
			return nil, fmt.Errorf("%s and %s: %w: they differ after line %d", o.source, o.target, errLengths, t.Lines)
		case srcErr != nil || tgtErr != nil:
			return nil, errors.Join(srcErr, tgtErr)
		}
		t.Lines++
		from, _ := m.Text().EncodeSource(src.text())
		to, _ := m.Text().EncodeTarget(tgt.text())
		if len(from) == 0 { // nothing to translate: an empty line gives an empty line
			fmt.Fprintln(out)
			continue
		}
		t.Words += int64(len(strings.Fields(tgt.text())))
		to = append(to, format.EOS)
		scores, err := s.Translation(ctx, append(from, format.EOS), to)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", t.Lines, err)
		}
		sum := 0.0
		for i, v := range scores {
			sum += float64(v)
			if to[i] == format.Unk {
				t.Unknown++
			}
			if o.perToken {
				if err := writeToken(out, dict.Symbol(to[i]), v); err != nil {
					return nil, err
				}
			}
		}
		t.Sum += sum
		t.Tokens += int64(len(scores))
		if o.perToken {
			err = out.WriteByte('\n')
		} else {
			_, err = fmt.Fprintf(out, "%.6f\t%.6f\t%d\n", sum, sum/float64(len(scores)), len(scores))
		}
		if err != nil {
			return nil, err
		}
	}
}
