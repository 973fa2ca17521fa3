package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	stats   string
	search  runtime.Options
	topK    int
	topP    float64
	threads int
	maxLen  bool // --max-len-a or --max-len-b was given
	minLen  bool // --min-len was given
}

func newGenerateCommand(env environment) *cobra.Command {
	o := &generateOptions{search: runtime.DefaultOptions()}
	o.search.Beam = 1
	c := &cobra.Command{
		Use:   "generate -m MODEL [flags] [FILE...]",
		Short: "Continue prompts with a language model",
		Long: `Continue each prompt: those of --prompt, or else the lines of the files or of stdin.
A single greedy or sampled continuation is written as it is made; those of later
prompts are made at the same time. It ends at the end of a sentence (eos), after -n
tokens, or before a string of --stop. An empty line is a prompt too.`,
		Example: `  run generate -m lm.msz --prompt "In the beginning" -n 200 --past-eos
  run generate -m lm.msz --sampling --sampling-topp 0.9 --temperature 0.8 --seed 7 < prompts.txt
  run generate -m lm.msz --beam 4 --nbest 4 --format jsonl < prompts.txt`,
		RunE: func(c *cobra.Command, files []string) error {
			o.maxLen = c.Flags().Changed("max-len-a") || c.Flags().Changed("max-len-b")
			o.minLen = c.Flags().Changed("min-len")
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
	f.Float64Var(&s.MaxLenA, "max-len-a", s.MaxLenA, "search: instead of -n, as fairseq, at most a*S + b tokens, prompt included, S its tokens and one")
	f.Float64Var(&s.MaxLenB, "max-len-b", s.MaxLenB, "see --max-len-a")
	f.IntVar(&s.MinLen, "min-len", s.MinLen, "search: at least so many tokens, prompt included")
	f.Float64Var(&s.UnkPen, "unkpen", s.UnkPen, "penalty of unknown words")
	f.IntVar(&s.NoRepeatNgram, "no-repeat-ngram-size", s.NoRepeatNgram, "search: repeat no sequence of so many tokens; 0 for no limit")
	f.Float64Var(&s.Temperature, "temperature", s.Temperature, "divide the logits by this")
	f.BoolVar(&s.Sampling, "sampling", s.Sampling, "draw at random instead of taking the likeliest")
	f.IntVar(&o.topK, "sampling-topk", -1, "draw from the likeliest k tokens")
	f.Float64Var(&o.topP, "sampling-topp", -1, "draw from the smallest set of tokens with this probability")
	f.Uint64Var(&s.Seed, "seed", 1, "start of the random numbers")
	f.StringVar(&o.stats, "stats", "", "statistics on stderr at the end: text or json")
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
	case o.stats != "" && o.stats != "text" && o.stats != "json":
		return fail("--stats is %q, want text or json", o.stats)
	case o.tokens < 1:
		return fail("-n is %d, want 1 or more", o.tokens)
	case slices.Contains(o.stop, ""):
		return fail("--stop is empty")
	case o.threads < 0 || o.threads > 1<<12:
		return fail("--threads is %d, want 1 to 4096", o.threads)
	case len(o.prompts) > 0 && len(files) > 0:
		return fail("--prompt and input files exclude each other")
	case o.pastEOS && o.searches():
		return fail("--past-eos goes with one greedy or sampled continuation, not with --beam or a search option")
	}
	if !o.maxLen { // -n new tokens after a prompt of S-1
		o.search.MaxLenA, o.search.MaxLenB = 1, float64(o.tokens-1)
	}
	if err := o.search.Validate(); err != nil {
		return usageError{err}
	}
	return nil
}

// searches reports whether the options are those of fairseq's search, even
// with a beam of one.
func (o *generateOptions) searches() bool {
	return o.search.Beam > 1 || o.search.NoRepeatNgram > 0 || o.maxLen || o.minLen
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
	begun := time.Now()
	m, err := runtime.Open(o.model)
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Header().Config.Encoder != nil {
		return withHint(fmt.Errorf("%s: a translation model does not continue prompts", o.model), "run translate translates with it")
	}
	st := &generateStatistics{Model: o.model, LoadSeconds: time.Since(begun).Seconds(), start: newMark(0)}
	out := bufio.NewWriterSize(env.out, 64<<10)
	if o.searches() {
		err = o.searchAll(ctx, m, in, st, out, signals.stop)
	} else {
		c := continuations{o: o, m: m, warn: env.err, stats: st, out: out, atOnce: terminal(env.out)}
		err = c.run(ctx, in, signals.stop)
	}
	if werr := out.Flush(); err == nil || errors.Is(err, context.Canceled) {
		err = werr
	}
	if brokenPipe(err) {
		return nil
	}
	st.Interrupted = signals.caught()
	st.finish()
	st.write(env.err, o.stats)
	if err == nil && signals.caught() {
		return statusError{status: int(signals.status.Load()), message: "interrupted"}
	}
	return err
}

// searchAll runs the prompts through a beam search, in batches.
func (o *generateOptions) searchAll(ctx context.Context, m *runtime.Model, in *prompts, st *generateStatistics, out *bufio.Writer, stop <-chan struct{}) error {
	g, err := runtime.NewGenerator(m, o.search, runtime.Resources{Workers: o.threads})
	if err != nil {
		return err
	}
	defer g.Close()
	type prompt struct {
		text string
		ids  []int32
	}
	sent, read := make(chan prompt, 1<<16), make(chan error, 1)
	ids := func(yield func([]int32) bool) {
		for s := range in.all {
			if stopped(stop) {
				break
			}
			p := prompt{text: s}
			p.ids, _ = m.Text().EncodeTarget(s)
			select {
			case sent <- p:
			case <-ctx.Done():
				return
			}
			if !yield(p.ids) {
				return
			}
		}
		read <- in.err
	}
	line := 0
	for hyps, err := range g.GenerateAll(ctx, ids) {
		if err != nil {
			return fmt.Errorf("prompt %d: %w", line+1, err)
		}
		p := <-sent
		st.begin(len(p.ids))
		if err := o.write(out, m, line, p.text, p.ids, hyps, st); err != nil {
			return err
		}
		if len(sent) == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		line++
	}
	return <-read
}

// generation is one prompt's result as JSON.
type generation struct {
	Line          int         `json:"line"` // of the prompts, 1-based
	Prompt        string      `json:"prompt"`
	PromptTokens  int         `json:"prompt_tokens"`
	Continuations []generated `json:"continuations"`
}

// generated is a continuation: its text with the prompt's, unless
// --no-prompt, and the new tokens. The score of a search is fairseq's and
// includes the prompt; that of a single continuation is the mean of
// token_scores. All are natural logarithms.
type generated struct {
	Text   string      `json:"text"`
	Score  jsonScore   `json:"score"`
	Tokens []string    `json:"tokens"`
	Scores []jsonScore `json:"token_scores"`
}

// write writes the hypotheses of one prompt.
func (o *generateOptions) write(out *bufio.Writer, m *runtime.Model, line int, prompt string, ids []int32, hyps []runtime.Hypothesis, st *generateStatistics) error {
	g := generation{Line: line + 1, Prompt: prompt, PromptTokens: len(ids), Continuations: []generated{}}
	echo := ""
	if !o.noEcho {
		echo = m.Text().Decode(ids)
	}
	for i := range hyps {
		h := &hyps[i]
		n := min(len(ids), len(h.Tokens))
		s := newTextStream(m, h.Tokens[:n], o.stop)
		c := generated{Text: echo, Score: jsonScore(h.Score)}
		for k, id := range h.Tokens[n:] {
			c.Tokens = append(c.Tokens, m.Text().Target().Symbol(id))
			c.Scores = append(c.Scores, jsonScore(h.TokenScores[n+k]))
			st.token()
		}
		over := false
		for _, id := range h.Tokens[n:] {
			if id == format.EOS || over {
				break
			}
			var text string
			text, over = s.token(id)
			c.Text += text
		}
		if !over {
			c.Text += s.end()
		}
		if o.noEcho {
			c.Text = strings.TrimLeft(c.Text, " ")
		}
		g.Continuations = append(g.Continuations, c)
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

func writeJSONLine(out *bufio.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
