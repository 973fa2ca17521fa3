package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"memsizer/format"
	"memsizer/format/fairseq"
)

func newInspectCommand() *cobra.Command {
	var asJSON bool
	var o fairseq.Options
	c := quietly(&cobra.Command{
		Use:   "inspect FILE",
		Short: "Say what a checkpoint or .msz file holds",
		Long: `Say what a checkpoint or .msz file holds. Of a checkpoint also what would be
missing for its conversion, and what is not supported and why; the flags that
name dictionaries and tokenisation are those of the conversion. Of a .msz file
every checksum is verified.`,
		Example: `  convert inspect checkpoint_best.pt
  convert inspect --json m.msz`,
		Args: inputs("one file", 1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			is, err := isMSZ(args[0])
			if err != nil {
				return err
			}
			if is {
				return inspectMSZ(c.OutOrStdout(), args[0], asJSON)
			}
			if areGraphs(args) {
				return inspectGraph(c.OutOrStdout(), args[0], asJSON)
			}
			return inspectCheckpoint(c.OutOrStdout(), args[0], given(c.Flags(), o), asJSON)
		},
	})
	c.Flags().SortFlags = false
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object instead of text")
	modelFlags(c.Flags(), &o)
	return c
}

// mszReport is what inspect --json says of a .msz file.
type mszReport struct {
	File         string              `json:"file"`
	Size         int64               `json:"size"`
	Container    int                 `json:"container"`
	Architecture int                 `json:"architecture"`
	Quantization int                 `json:"quantization"`
	Parameters   int64               `json:"parameters"`
	Config       format.Config       `json:"config"`
	Tokenization format.Tokenization `json:"tokenization"`
	Provenance   format.Provenance   `json:"provenance"`
	Sections     []sectionReport     `json:"sections"`
	Tensors      []tensorReport      `json:"tensors"`
	Damage       string              `json:"damage,omitempty"` // checksums that are wrong
}

type sectionReport struct {
	Name   string `json:"name"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	Stored int64  `json:"stored"`
	CRC    string `json:"crc32c"`
}

type tensorReport struct {
	sectionReport
	DType format.DType `json:"dtype"`
	Shape []int        `json:"shape"`
}

func inspectMSZ(w io.Writer, path string, asJSON bool) error {
	r, err := format.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	h := r.Header()
	rep := mszReport{
		File: path, Size: r.Size(),
		Container: h.Container, Architecture: h.Architecture, Quantization: h.Quantization,
		Config: h.Config, Tokenization: h.Tokenization, Provenance: h.Provenance,
		Sections: []sectionReport{}, Tensors: []tensorReport{},
	}
	for _, s := range r.Sections() {
		rep.Sections = append(rep.Sections, sectionReport{s.Name, s.Offset, s.Size, s.StoredSize, fmt.Sprintf("%08x", s.CRC32C)})
	}
	for _, t := range r.Tensors() {
		rep.Parameters += t.Elements()
		s := sectionReport{t.Name, t.Offset, t.Size, t.StoredSize, fmt.Sprintf("%08x", t.CRC32C)}
		rep.Tensors = append(rep.Tensors, tensorReport{s, t.DType, t.Shape})
	}
	damage := r.Verify()
	if damage != nil {
		rep.Damage = damage.Error()
	}
	if asJSON {
		if err := writeJSON(w, &rep); err != nil {
			return err
		}
	} else {
		printMSZ(w, &rep)
	}
	if damage != nil {
		return fmt.Errorf("%s is damaged: %w", path, damage)
	}
	return nil
}

func printMSZ(w io.Writer, r *mszReport) {
	line(w, "file", "%s, %s bytes", r.File, grouped(r.Size))
	line(w, "revisions", "container %d, architecture %d, quantization %d", r.Container, r.Architecture, r.Quantization)
	p := r.Provenance
	if p.Source != "" {
		line(w, "source", "%s, SHA-256 %s", p.Source, p.SHA256)
	}
	for _, s := range p.Sources {
		line(w, "source", "%s, SHA-256 %s", s.Name, s.SHA256)
	}
	if p.Model != "" {
		line(w, "architecture", "%s", p.Model)
	}
	line(w, "converter", "%s, --dtype %s", p.Converter, p.DTypePolicy)
	printConfig(w, &r.Config)
	line(w, "parameters", "%s", grouped(r.Parameters))
	line(w, "text", "%s", describeText(&r.Tokenization))
	for _, s := range r.Sections {
		line(w, "section", "%s, %s bytes, %s stored", s.Name, grouped(s.Size), grouped(s.Stored))
	}
	fmt.Fprintln(w)
	for _, t := range r.Tensors {
		packed := ""
		if t.Stored != t.Size {
			packed = fmt.Sprintf(", %s stored", grouped(t.Stored))
		}
		fmt.Fprintf(w, "%-56s %-4s %v, %s bytes%s\n", t.Name, t.DType, t.Shape, grouped(t.Size), packed)
	}
	if r.Damage == "" {
		fmt.Fprintln(w, "\nall checksums are right")
	}
}

func inspectCheckpoint(w io.Writer, path string, o fairseq.Options, asJSON bool) error {
	r, err := fairseq.Inspect(path, o)
	if err != nil {
		return err
	}
	if err := checkFoundText(r); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	if asJSON {
		return writeJSON(w, r)
	}
	printFound(w, r)
	for _, v := range r.Settled {
		line(w, "setting", "%s = %s", v.Name, v.Value)
	}
	for _, n := range r.Ignored {
		line(w, "ignored", "%s", n)
	}
	for _, n := range r.Unsupported {
		line(w, "unsupported", "%s", n)
	}
	for _, n := range r.Problems {
		line(w, "problem", "%s", n)
	}
	if len(r.Problems)+len(r.Unsupported) == 0 {
		fmt.Fprintln(w, "nothing keeps it from being converted")
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
