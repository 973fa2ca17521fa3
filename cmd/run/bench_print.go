package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"memsizer/ops"
)

// print writes the report as tables.
func (r *benchReport) print(w io.Writer, products bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if m := r.Model; m != nil {
		fmt.Fprintf(w, "model    %s: %s, %d parameters, decoder attention %s", m.name(), m.DType, m.Parameters, m.SelfKind)
		if m.StepBytes > 0 {
			fmt.Fprintf(w, "; a decoder step reads %s", megabytes(m.StepBytes))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "machine  %s\nload     %s\n", r.Machine.line(), r.Machine.loadLine())
	if x := r.Text; x != nil {
		fmt.Fprintf(w, "text     %.0f µs to encode and %.0f µs to decode a sentence, beside the model\n", x.Encode, x.Decode)
	}
	if len(r.Limits) > 0 {
		r.printLimits(t)
	}
	if len(r.Points) > 0 {
		r.printPoints(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if products {
		r.printProducts(w)
	}
	if len(r.Lengths) > 0 {
		r.printLengths(w)
	}
	if len(r.Batching) > 0 {
		r.printBatching(w)
	}
	return nil
}

func (m *benchModel) name() string {
	if m.Source == "" {
		return m.File
	}
	return m.File + " (" + m.Source + ")"
}

// printLimits writes a row per limit: the best burst at the start and at the
// end, and the median as part of the best.
func (r *benchReport) printLimits(t *tabwriter.Writer) {
	fmt.Fprint(t, "\nlimit\tunit\tthreads\tstart\tend\tmedian/best\t\n")
	for _, l := range r.Limits {
		name := l.Name
		if l.Bytes > 0 {
			name += " (" + megabytes(l.Bytes) + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%.1f\t%.2f, %.2f\t\n", name, l.Unit, l.Threads, l.Start.Best, l.End.Best,
			l.Start.Median/l.Start.Best, l.End.Median/l.End.Best)
	}
}

// printPoints writes a row per point; the shares are of the decoder's time.
func (r *benchReport) printPoints(t *tabwriter.Writer) {
	encoder := r.Points[0].Encoder != nil
	fmt.Fprint(t, "\nthreads\tbeam\tbatch\ttokens/s\t±\tdecoder\troof\tbest\t")
	if encoder {
		fmt.Fprint(t, "encoder\troof\tbest\t")
	}
	for i := range ops.Phases {
		fmt.Fprintf(t, "%s\t", ops.Phase((i+1)%ops.Phases)) // "other" last
	}
	fmt.Fprint(t, "rows\tcores\t\n")
	for _, p := range r.Points {
		fmt.Fprintf(t, "%d\t%d\t%d\t%.1f\t%.0f%%\t%.1f\t%s\t%s\t", p.Threads, p.Beam, p.Batch, p.TokensPerSecond,
			50*(p.Most-p.Least)/p.TokensPerSecond, p.Decoder.TokensPerSecond, percent(p.Decoder.Reached), percent(p.Decoder.Best))
		if p.Encoder != nil {
			fmt.Fprintf(t, "%.0f\t%s\t%s\t", p.Encoder.TokensPerSecond, percent(p.Encoder.Reached), percent(p.Encoder.Best))
		}
		for i := range ops.Phases {
			phase := ops.Phase((i + 1) % ops.Phases)
			fmt.Fprintf(t, "%.1f%%\t", 100*p.Decoder.Phases[phase.String()]/p.Decoder.Seconds)
		}
		fmt.Fprintf(t, "%.1f\t%.2f\t\n", p.RowsPerStep, p.CoresUsed)
	}
}

func percent(part float64) string {
	if part == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*part)
}

// printProducts writes the decoder's products of each point, those first
// that took most time.
func (r *benchReport) printProducts(w io.Writer) {
	for _, p := range r.Points {
		fmt.Fprintf(w, "\nproducts of the decoder, %d threads, beam %d, batch %d\n", p.Threads, p.Beam, p.Batch)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(t, "phase\trows\tout\tin\tweights\tcalls\ttime\tGFLOP/s\tGB/s\troof\tbest\t\n")
		for _, x := range p.Decoder.Products {
			if x.Seconds < 0.01*p.Decoder.Seconds { // JSON has them all
				continue
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%d\t%.1f%%\t%.1f\t%.1f\t%s\t%s\t\n", x.Phase, x.Rows, x.Out, x.In, x.DType, x.Calls,
				100*x.Seconds/p.Decoder.Seconds, x.GFLOPS, x.GBPS, percent(x.Reached), percent(x.Best))
		}
		t.Flush()
	}
}

func (r *benchReport) printLengths(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range r.Lengths {
		fmt.Fprintf(t, "\n%s\t\t\t\t\n", strings.TrimSuffix(l.Model.name(), "\t"))
		fmt.Fprint(t, "length\ttokens/s\tresident\tstate\t\n")
		for _, p := range l.Points {
			if p.Skipped != "" {
				fmt.Fprintf(t, "%d\t%s\t\t\t\n", p.Length, p.Skipped)
				continue
			}
			fmt.Fprintf(t, "%d\t%.1f\t%s\t%s\t\n", p.Length, p.TokensPerSecond, megabytes(p.Resident), megabytes(p.State))
		}
	}
	t.Flush()
}
