package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memsizer/format"
	"memsizer/runtime"
)

// generateOptions are the flags of run generate.
type generateOptions struct {
	model   string
	prompts []string
	tokens  int
	pastEOS bool
	stop    []string
	noEcho  bool
	format  string
	search  runtime.Options
	topK    int
	topP    float64
	threads int
	maxLen  bool // --max-len-a or --max-len-b was given
}

func newGenerateCommand(env environment) *cobra.Command {
	o := &generateOptions{search: runtime.DefaultOptions()}
	o.search.Beam = 1
	c := &cobra.Command{
		Use:   "generate -m MODEL [flags] [FILE...]",
		Short: "Continue prompts with a language model",
		Long: `Continue each prompt: those of --prompt, or else the lines of the files or of stdin.
A single greedy or sampled continuation is written as it is made. It ends at the
end of a sentence (eos), after -n tokens, or at a string of --stop.`,
		Example: `  run generate -m lm.msz --prompt "In the beginning" -n 200 --past-eos
  run generate -m lm.msz --sampling --sampling-topp 0.9 --temperature 0.8 --seed 7 < prompts.txt
  run generate -m lm.msz --beam 4 --nbest 4 --format jsonl < prompts.txt`,
		RunE: func(c *cobra.Command, files []string) error {
			o.maxLen = c.Flags().Changed("max-len-a") || c.Flags().Changed("max-len-b")
			return o.run(c.Context(), env, files)
		},
	}
	o.addFlags(c.Flags())
	return c
}

func (o *generateOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&o.model, "model", "m", "", "model file (.msz)")
	f.StringArrayVarP(&o.prompts, "prompt", "p", nil, "`text` to continue (repeatable); by default each line of the input")
	f.IntVarP(&o.tokens, "tokens", "n", 100, "at most so many new tokens")
	f.BoolVar(&o.pastEOS, "past-eos", false, "go on after the end of a sentence, as a new line")
	f.StringArrayVar(&o.stop, "stop", nil, "end before this `string` (repeatable)")
	f.BoolVar(&o.noEcho, "no-prompt", false, "write the continuation without its prompt")
	f.StringVar(&o.format, "format", "text", "text or jsonl")
	s := &o.search
	f.IntVar(&s.Beam, "beam", s.Beam, "hypotheses kept at each step")
	f.IntVar(&s.NBest, "nbest", s.NBest, "continuations per prompt; as text each has the prompt's number and the score before it")
	f.Float64Var(&s.LenPen, "lenpen", s.LenPen, "length penalty: above 1 favours long continuations")
	f.Float64Var(&s.MaxLenA, "max-len-a", s.MaxLenA, "instead of -n, as fairseq: at most a*S + b tokens, prompt included, S its tokens and one")
	f.Float64Var(&s.MaxLenB, "max-len-b", s.MaxLenB, "see --max-len-a")
	f.IntVar(&s.MinLen, "min-len", s.MinLen, "with --beam: at least so many tokens, prompt included")
	f.Float64Var(&s.UnkPen, "unkpen", s.UnkPen, "penalty of unknown words")
	f.IntVar(&s.NoRepeatNgram, "no-repeat-ngram-size", s.NoRepeatNgram, "with --beam: repeat no sequence of so many tokens; 0 for no limit")
	f.Float64Var(&s.Temperature, "temperature", s.Temperature, "divide the logits by this")
	f.BoolVar(&s.Sampling, "sampling", s.Sampling, "draw at random instead of taking the likeliest")
	f.IntVar(&o.topK, "sampling-topk", -1, "draw from the likeliest k tokens")
	f.Float64Var(&o.topP, "sampling-topp", -1, "draw from the smallest set of tokens with this probability")
	f.Uint64Var(&s.Seed, "seed", 1, "start of the random numbers")
	f.IntVar(&o.threads, "threads", 0, "threads; by default one for each core")
}

func (o *generateOptions) check(files []string) error {
	fail := func(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
	o.search.TopK, o.search.TopP = max(o.topK, 0), max(o.topP, 0)
	switch {
	case o.model == "":
		return withHint(fail("no model given"), "run generate -m MODEL.msz --prompt TEXT")
	case o.format != "text" && o.format != "jsonl":
		return fail("--format is %q, want text or jsonl", o.format)
	case o.tokens < 1:
		return fail("-n is %d, want 1 or more", o.tokens)
	case o.threads < 0 || o.threads > 1<<12:
		return fail("--threads is %d, want 1 to 4096", o.threads)
	case len(o.prompts) > 0 && len(files) > 0:
		return fail("--prompt and input files exclude each other")
	case o.pastEOS && o.searches():
		return fail("--past-eos goes with one greedy or sampled continuation, not with --beam or a search option")
	case o.maxLen && !o.searches():
		return fail("--max-len-a and --max-len-b go with --beam above 1; -n limits a single continuation")
	}
	if !o.maxLen { // -n new tokens after a prompt of S-1
		o.search.MaxLenA, o.search.MaxLenB = 1, float64(o.tokens-1)
	}
	if err := o.search.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

// searches reports whether the options need hypotheses to compete.
func (o *generateOptions) searches() bool {
	return o.search.Beam > 1 || o.search.NoRepeatNgram > 0
}

func (o *generateOptions) run(ctx context.Context, env environment, files []string) error {
	if err := o.check(files); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, signals, release := catchInterrupts(ctx)
	defer release()
	in, err := o.open(env, files)
	if err != nil {
		return err
	}
	defer in.close()
	m, err := runtime.Open(o.model)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Header().Config.Encoder != nil {
		return withHint(fmt.Errorf("%s: a translation model does not continue prompts", o.model), "run translate translates with it")
	}
	out := bufio.NewWriterSize(env.out, 64<<10)
	if o.searches() {
		err = o.searchAll(ctx, m, in, out)
	} else {
		err = o.continueAll(ctx, m, in, out, signals.stop)
	}
	if werr := out.Flush(); err == nil || errors.Is(err, context.Canceled) {
		err = werr
	}
	if brokenPipe(err) {
		return nil
	}
	if err == nil && signals.caught() {
		return statusError{status: int(signals.status.Load()), message: "interrupted"}
	}
	return err
}

// prompts are the texts to continue.
type prompts struct {
	fixed []string
	in    *input
	err   error
}

func (o *generateOptions) open(env environment, files []string) (*prompts, error) {
	if len(o.prompts) > 0 {
		return &prompts{fixed: o.prompts}, nil
	}
	opened, err := openInputs(files, env.in)
	if err != nil {
		return nil, err
	}
	return &prompts{in: &input{files: opened}}, nil
}

func (p *prompts) close() {
	if p.in != nil {
		p.in.close()
	}
}

// all yields the prompts; p.err says why the last one was not the end.
func (p *prompts) all(yield func(string) bool) {
	for _, s := range p.fixed {
		if !yield(s) {
			return
		}
	}
	if p.in == nil {
		return
	}
	for {
		l, err := p.in.nextLine()
		if err == io.EOF {
			return
		}
		if err == nil && l.dropped > 0 {
			err = fmt.Errorf("%s:%d: a prompt of more than %d bytes", l.file.describe(), l.line, maxLine)
		}
		if err != nil {
			p.err = err
			return
		}
		if !yield(l.text()) {
			return
		}
	}
}

// searchAll runs the prompts through a beam search, in batches.
func (o *generateOptions) searchAll(ctx context.Context, m *runtime.Model, in *prompts, out *bufio.Writer) error {
	g, err := runtime.NewGenerator(m, o.search, runtime.Resources{Workers: o.threads})
	if err != nil {
		return err
	}
	defer g.Close()
	sent := make(chan string, 1<<16)
	ids := func(yield func([]int32) bool) {
		for s := range in.all {
			p, _ := m.Text().EncodeTarget(s)
			select {
			case sent <- s:
			case <-ctx.Done():
				return
			}
			if !yield(p) {
				return
			}
		}
	}
	line := 0
	for hyps, err := range g.GenerateAll(ctx, ids) {
		if err != nil {
			return fmt.Errorf("prompt %d: %w", line+1, err)
		}
		prompt := <-sent
		if err := o.write(out, m, line, prompt, hyps); err != nil {
			return err
		}
		line++
	}
	return in.err
}

// generation is one prompt's result as JSON.
type generation struct {
	Line          int            `json:"line"`
	Prompt        string         `json:"prompt"`
	PromptTokens  int            `json:"prompt_tokens"`
	Continuations []continuation `json:"continuations"`
}

type continuation struct {
	Text   string      `json:"text"`
	Score  jsonScore   `json:"score"`
	Tokens []int32     `json:"tokens"`
	Scores []jsonScore `json:"token_scores"`
}

// write writes the hypotheses of one prompt.
func (o *generateOptions) write(out *bufio.Writer, m *runtime.Model, line int, prompt string, hyps []runtime.Hypothesis) error {
	ids, _ := m.Text().EncodeTarget(prompt)
	g := generation{Line: line + 1, Prompt: prompt, PromptTokens: len(ids)}
	for i := range hyps {
		h := &hyps[i]
		shown := h.Tokens
		if o.noEcho {
			shown = shown[min(len(ids), len(shown)):]
		}
		text := o.cut(m.Text().Decode(shown), 0)
		g.Continuations = append(g.Continuations, continuation{text, jsonScore(h.Score), h.Tokens, jsonScores(h.TokenScores)})
	}
	if o.format == "jsonl" {
		return writeJSONLine(out, &g)
	}
	if len(g.Continuations) == 0 {
		_, err := out.WriteString("\n")
		return err
	}
	for _, c := range g.Continuations {
		if o.search.NBest > 1 {
			if _, err := fmt.Fprintf(out, "%d\t%.6f\t", line+1, float32(c.Score)); err != nil {
				return err
			}
		}
		if _, err := out.WriteString(oneLine(c.Text) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// cut ends text before the first stop string at or after from.
func (o *generateOptions) cut(text string, from int) string {
	end := len(text)
	for _, s := range o.stop {
		if i := strings.Index(text[from:], s); s != "" && i >= 0 {
			end = min(end, from+i)
		}
	}
	return text[:end]
}

// continueAll writes one continuation per prompt as it is made.
func (o *generateOptions) continueAll(ctx context.Context, m *runtime.Model, in *prompts, out *bufio.Writer, stop <-chan struct{}) error {
	line := 0
	for s := range in.all {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := o.continueOne(ctx, m, line, s, out, stop); err != nil {
			return fmt.Errorf("prompt %d: %w", line+1, err)
		}
		line++
	}
	return in.err
}

func (o *generateOptions) continueOne(ctx context.Context, m *runtime.Model, line int, prompt string, out *bufio.Writer, stop <-chan struct{}) error {
	ids, _ := m.Text().EncodeTarget(prompt)
	to := out
	if o.format == "jsonl" {
		to = nil
	}
	w := newTextStream(m, ids, o.stop, !o.noEcho, to)
	h := runtime.Hypothesis{}
	n := 0
	for tok, err := range m.Continue(ctx, line, ids, o.search) {
		if err != nil {
			return err
		}
		n++
		if o.format == "jsonl" {
			h.Tokens = append(h.Tokens, tok.ID)
			h.TokenScores = append(h.TokenScores, tok.LogProb)
			h.Score += tok.LogProb
		}
		if tok.ID == format.EOS && !o.pastEOS {
			break
		}
		if over, err := w.token(tok.ID); over || err != nil {
			if err != nil {
				return err
			}
			break
		}
		if n == o.tokens || stopped(stop) {
			break
		}
	}
	if o.format != "jsonl" {
		return w.end()
	}
	h.Score /= float32(max(n, 1))
	return writeJSONLine(out, &generation{line + 1, prompt, len(ids),
		[]continuation{{w.text(), jsonScore(h.Score), h.Tokens, jsonScores(h.TokenScores)}}})
}

func stopped(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
