package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"memsizer/format"
	"memsizer/runtime"
)

func newVerifyCommand() *cobra.Command {
	var ref string
	var tolerance float64
	var asJSON bool
	c := quietly(&cobra.Command{
		Use:   "verify m.msz --reference r.safetensors",
		Short: "Compare a model with recorded hidden states and logits",
		Long: `Run a model on recorded inputs and compare its hidden states, logits and
step-by-step logits with the recorded ones (testdata/record_reference.py
records them where the model was trained). Says the largest and the mean
difference of each, how often the best word is the same, and the first one
that leaves the bound; the exit status is then 1. Differences count as
absolute, and as relative where the recorded magnitude exceeds 1.`,
		Example: `  convert verify m.msz --reference reference.safetensors
  convert verify m.msz --reference reference.safetensors --tolerance 0.01 --json`,
		Args: inputs("one .msz file", 1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if ref == "" {
				return hint(usagef("no reference"), "name it with --reference")
			}
			if ref == "-" {
				return usagef("a reference cannot be read from standard input: it is read at any offset")
			}
			if !(tolerance >= 0) {
				return usagef("--tolerance %v, want 0 or more", tolerance)
			}
			if !c.Flags().Changed("tolerance") {
				tolerance = -1
			}
			return verify(c.OutOrStdout(), args[0], ref, tolerance, asJSON)
		},
	})
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&ref, "reference", "r", "", "safetensors `file` of the recording")
	f.Float64Var(&tolerance, "tolerance", 0, "largest difference allowed (default by the weights: f32 1e-4, f16 0.1, bf16 1, i8 2)")
	f.BoolVar(&asJSON, "json", false, "one JSON object instead of text")
	return c
}

// defaultTolerance goes by the coarsest element type of the weights: about
// twice the largest difference that rounding alone made in the
// hidden states of small random models, where it shows most.
func defaultTolerance(tensors []format.TensorInfo) float64 {
	coarsest := 1e-4
	for _, t := range tensors {
		coarsest = max(coarsest, map[format.DType]float64{
			format.F16: 0.1, format.BF16: 1, format.I8: 2}[t.DType])
	}
	return coarsest
}

func verify(w io.Writer, model, ref string, tolerance float64, asJSON bool) error {
	f, err := format.Open(model)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := readReference(ref, &f.Header().Config)
	if err != nil {
		return err
	}
	if tolerance < 0 {
		tolerance = defaultTolerance(f.Tensors())
	}
	m, err := runtime.Load(f)
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	c, err := compare(m.Logits, r, tolerance)
	if err != nil {
		return fmt.Errorf("%s: %w", ref, err)
	}
	c.Model, c.Reference = model, ref
	if asJSON {
		err = writeJSON(w, c)
	} else {
		err = c.print(w)
	}
	if err == nil && !c.Within {
		return &quietError{}
	}
	return err
}

func (c *comparison) print(w io.Writer) error {
	fmt.Fprintf(w, "%-18s %-11s %-11s %-11s %-7s worst at\n", "", "max", "mean", "bound", "top-1")
	for _, q := range c.Quantities {
		top := ""
		if q.Top1 != nil {
			top = fmt.Sprintf("%.2f%%", 100**q.Top1)
		}
		mark := ""
		if !q.Within {
			mark = "  OUTSIDE"
		}
		at := strings.Trim(strings.ReplaceAll(fmt.Sprint(q.At), " ", ", "), "[]")
		fmt.Fprintf(w, "%-18s %-11.3g %-11.3g %-11.3g %-7s [%s]: %.6g, recorded %.6g%s\n",
			q.Name, q.Max, q.Mean, q.Bound, top, at, q.Got, q.Want, mark)
	}
	if len(c.Unused) > 0 {
		fmt.Fprintf(w, "not compared: %s\n", strings.Join(c.Unused, ", "))
	}
	verdict := fmt.Sprintf("all within %g", c.Tolerance)
	if !c.Within {
		verdict = fmt.Sprintf("%s is the first to leave the bound of %g", c.First, c.Tolerance)
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}
