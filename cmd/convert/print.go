package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"memsizer/format"
	"memsizer/format/fairseq"
)

// line prints a labelled line of a report.
func line(w io.Writer, label, f string, args ...any) {
	fmt.Fprintf(w, "%-14s"+f+"\n", append([]any{label}, args...)...)
}

// grouped writes 1234567 as 1,234,567.
func grouped[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// printFound says what was read.
func printFound(w io.Writer, r *fairseq.Report) {
	about := []string{r.Container}
	if r.FairseqVersion != "" {
		about = append(about, "fairseq "+r.FairseqVersion)
	}
	if r.Settings != "" {
		about = append(about, "settings: "+r.Settings)
	}
	line(w, "read", "%s (%s)", r.Path, strings.Join(about, "; "))
	for _, a := range r.Averaged {
		line(w, "averaged", "%s", a)
	}
	if r.Architecture != "" {
		line(w, "architecture", "%s", r.Architecture)
	}
	if r.Config != nil {
		printConfig(w, r.Config)
	} else if r.Summary != "" {
		line(w, "model", "%s", r.Summary)
	}
	var types []string
	for _, d := range r.DTypes {
		types = append(types, fmt.Sprintf("%s %s", grouped(d.Elements), d.DType))
	}
	line(w, "parameters", "%s (in the file: %s tensors, %s)", grouped(r.Parameters), grouped(r.TensorCount), strings.Join(types, ", "))
	if r.Updates > 0 {
		line(w, "trained", "%s updates, epoch %d", grouped(r.Updates), r.Epoch)
	}
	if r.Tokenization != nil {
		line(w, "text", "%s", describeText(r.Tokenization))
	}
	printTexts(w, r.Texts)
	for _, n := range r.Notes {
		line(w, "note", "%s", n)
	}
}

// printTexts names the dictionaries and tokenisation files.
func printTexts(w io.Writer, files []fairseq.TextFile) {
	for _, t := range files {
		entries := ""
		if t.Entries > 0 {
			entries = fmt.Sprintf(" (%s symbols)", grouped(t.Entries))
		}
		line(w, t.Section, "%s%s", t.Path, entries)
	}
}

func describeText(t *format.Tokenization) string {
	s := ""
	switch {
	case t.SourceLang != "" && t.TargetLang != "":
		s = t.SourceLang + " → " + t.TargetLang + ", "
	case t.TargetLang != "":
		s = t.TargetLang + ", "
	}
	s += "tokenizer " + cmp.Or(t.Tokenizer, "not known")
	for _, o := range []struct {
		on   bool
		name string
	}{{t.MosesNoDashSplits, "no dash splits"}, {t.MosesNoEscape, "no escape"}, {t.NormalizePunctuation, "normalised punctuation"}} {
		if o.on {
			s += ", " + o.name
		}
	}
	s += "; bpe " + cmp.Or(t.BPE, "not known")
	if t.BPEVocabularyThreshold > 0 {
		s += fmt.Sprintf(", vocabulary threshold %d", t.BPEVocabularyThreshold)
	}
	return s
}

// printConfig describes both stacks.
func printConfig(w io.Writer, c *format.Config) {
	if c.Encoder != nil {
		line(w, "encoder", "%s", describeStack(c.Encoder))
	}
	line(w, "decoder", "%s", describeStack(&c.Decoder))
	s := c.Output.Kind
	switch {
	case c.Output.Kind == format.Adaptive:
		s += fmt.Sprintf(" in %d bands", len(c.Output.Bands))
		if c.Output.TiedBands {
			s += ", tied"
		}
	case c.Output.TiedEmbedding:
		s += ", tied to the embedding"
	}
	if c.ShareEmbeddings {
		s += "; encoder and decoder share their embedding"
	}
	line(w, "output", "%s, V %s", s, grouped(c.Decoder.Embedding.Vocab))
}

func describeStack(t *format.Stack) string {
	norm := "post-norm"
	if t.PreNorm {
		norm = "pre-norm"
	}
	s := fmt.Sprintf("%d layers, D %d, F %d, %s, %s, self %s", t.Layers, t.Dim, t.FFNDim, t.Activation, norm, describeAttention(&t.Self))
	if t.Cross != nil {
		s += ", cross " + describeAttention(t.Cross)
	}
	s += ", " + t.Positions.Kind + " positions"
	if t.Embedding.Kind == format.Adaptive {
		s += fmt.Sprintf(", adaptive input in %d bands", len(t.Embedding.Bands))
	}
	return s
}

func describeAttention(a *format.Attention) string {
	if a.Kind == format.MemSizer {
		return fmt.Sprintf("memsizer (H %d, K %d)", a.Heads, a.Slots)
	}
	return fmt.Sprintf("%s (H %d)", a.Kind, a.Heads)
}

// printWritten says what the conversion made of it.
func printWritten(w io.Writer, path, dtype string, m *source, size int64, took time.Duration) {
	before := 4 * m.config.Parameters()
	for _, s := range m.sections {
		before += int64(len(s.Data))
	}
	line(w, "wrote", "%s: %s, %s bytes, %.4f of %s (f32 weights and text files)", path, dtype, grouped(size), float64(size)/float64(before), grouped(before))
	line(w, "time", "%.2f s", took.Seconds())
}

// bar is a line of progress on a terminal; nil elsewhere.
type bar struct {
	w           io.Writer
	past, all   int64 // elements
	lastPercent int64
}

func (v *conversion) progress(s *source) *bar {
	if v.quiet || !isTerminal(v.stderr) {
		return nil
	}
	return &bar{w: v.stderr, all: max(1, s.config.Parameters()), lastPercent: -1}
}

func (b *bar) show(name string) {
	if b == nil {
		return
	}
	if p := 100 * b.past / b.all; p != b.lastPercent {
		b.lastPercent = p
		fmt.Fprintf(b.w, "\r\x1b[K%3d%% %s", p, name)
	}
}

func (b *bar) add(n int64) {
	if b != nil {
		b.past += n
	}
}

func (b *bar) done() {
	if b != nil {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
