package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memsizer/format"
	"memsizer/format/fairseq"
)

// conversion is one run of the converter.
type conversion struct {
	output   string
	dtype    string
	compress bool
	average  bool
	noCheck  bool
	quiet    bool
	model    fairseq.Options

	stdout, stderr io.Writer
}

func newConvertCommand() *cobra.Command {
	var v conversion
	c := quietly(&cobra.Command{
		Use:   "convert -o m.msz [flags] checkpoint.pt",
		Short: "Turn a trained checkpoint into one .msz file",
		Example: `  convert -o m.msz checkpoint_best.pt
  convert -o m.msz --tokenizer moses --bpe subword_nmt --bpe-codes bpe.codes -s en -t de checkpoint_best.pt
  convert -o m.msz --dtype f32 --args args.json model.safetensors
  convert -o m.msz --dict-dir data-bin model.onnx
  convert -o m.msz --average checkpoint8.pt checkpoint9.pt checkpoint10.pt`,
		Long: `Turn a trained checkpoint into one .msz file: fairseq's .pt files (0.6 to 0.12),
safetensors with --args, or an ONNX graph (or its encoder and its decoder).`,
		Args: inputs("a checkpoint", 1, 0),
		RunE: func(c *cobra.Command, args []string) error {
			v.stdout, v.stderr = c.OutOrStdout(), c.ErrOrStderr()
			v.model = given(c.Flags(), v.model)
			return v.run(c.Context(), args)
		},
	})
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&v.output, "output", "o", "", "`file` to write")
	f.StringVar(&v.dtype, "dtype", "f16", "element type of the weights: f16, f32, bf16, or i8 (linear weights and the output layer; the rest f16)")
	f.BoolVar(&v.compress, "compress", false, "compress the tensors too: smaller to ship, unpacked into memory at load")
	f.BoolVar(&v.average, "average", false, "average the given checkpoints of one model")
	f.BoolVar(&v.noCheck, "no-check", false, "ONNX: do not compare the imported model with its graph on random inputs")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print nothing but problems")
	modelFlags(f, &v.model)
	c.CompletionOptions.HiddenDefaultCmd = true
	return c
}

func (v *conversion) run(ctx context.Context, args []string) error {
	start := time.Now()
	policy, err := parsePolicy(v.dtype)
	if err != nil {
		return err
	}
	switch {
	case v.output == "":
		return hint(usagef("no output file"), "name it with -o")
	case v.output == "-":
		return hint(usagef("a model cannot be written to standard output: its header is written last"), "name a file with -o")
	case len(args) > 1 && !v.average && !areGraphs(args):
		return hint(usagef("%d checkpoints (%s), want one", len(args), strings.Join(args, " ")), "--average averages several")
	case len(args) < 2 && v.average:
		return usagef("--average needs at least two checkpoints")
	}
	for _, in := range args {
		if err := different(in, v.output); err != nil {
			return err
		}
		if err := refuseConverted(in); err != nil {
			return err
		}
	}
	s, err := v.open(args)
	if err != nil {
		return err
	}
	defer s.close()
	if err := v.spareInputs(s); err != nil {
		return err
	}
	if err := checkText(s.tokenization, s.sections); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if err := v.checkSource(ctx, s); err != nil {
		return err
	}
	size, err := v.write(ctx, s, policy)
	if err != nil {
		return err
	}
	if v.quiet {
		return nil
	}
	s.print(v.stdout)
	printWritten(v.stdout, v.output, policy.name, s, size, time.Since(start))
	return nil
}

// different refuses to overwrite the input.
func different(in, out string) error {
	a, err := os.Stat(in)
	if err != nil {
		return err
	}
	if a.IsDir() {
		return fmt.Errorf("%s: is a folder, want a checkpoint", in)
	}
	if b, err := os.Stat(out); err == nil && os.SameFile(a, b) {
		return usagef("%s is the input and the output", out)
	}
	return nil
}

// spareInputs refuses to overwrite anything that the model was read from:
// dictionaries, codes, settings and external data too.
func (v *conversion) spareInputs(s *source) error {
	inputs := append([]string{}, s.files...)
	for _, t := range s.texts {
		inputs = append(inputs, t.Path)
	}
	if v.model.Args != "" {
		inputs = append(inputs, v.model.Args)
	}
	for _, in := range inputs {
		if err := different(in, v.output); err != nil {
			return err
		}
	}
	return nil
}

// refuseConverted says so when the input is a .msz file already.
func refuseConverted(path string) error {
	is, err := isMSZ(path)
	if err == nil && is {
		return hint(fmt.Errorf("%s: is a .msz file already", path), "convert inspect %s shows what it holds", path)
	}
	return err
}

// isMSZ looks at the first bytes. What is not a regular file is none: opening
// a pipe would wait for its other end.
func isMSZ(path string) (bool, error) {
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(format.Magic))
	_, err = io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return false, nil
	}
	return string(head) == format.Magic, err
}

// write makes the file and returns its size. Nothing is left after an error.
func (v *conversion) write(ctx context.Context, s *source, policy policy) (int64, error) {
	sums := digestAll(ctx, s.files)
	defer sums.stop()
	h := s.header(policy)
	h.Provenance = withFiles(h.Provenance, s.files, nil)
	var opts []format.WriteOption
	if v.compress {
		opts = append(opts, format.CompressTensors())
	}
	bar := v.progress(s)
	defer bar.done()
	err := s.writeTo(ctx, v.output, h, policy, bar, func(w *format.Writer) error {
		bar.show("SHA-256 of the input")
		got, err := sums.wait()
		if err != nil {
			return err
		}
		return w.SetProvenance(withFiles(h.Provenance, s.files, got))
	}, opts...)
	if err != nil {
		return 0, err
	}
	fi, err := os.Stat(v.output)
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
