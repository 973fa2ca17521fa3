package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memsizer/format"
	"memsizer/format/fairseq"
	"memsizer/format/onnx"
	"memsizer/format/onnx/recognize"
	"memsizer/runtime"
)

// areGraphs reports whether the files are called .onnx: the format has no
// mark of its own at its start.
func areGraphs(paths []string) bool {
	for _, p := range paths {
		if !strings.EqualFold(filepath.Ext(p), ".onnx") {
			return false
		}
	}
	return true
}

// openGraphs recognises the model of one ONNX graph, or of an encoder's and a
// decoder's. Dictionaries and tokenisation are given beside it.
func (v *conversion) openGraphs(paths []string) (*source, error) {
	o, err := graphOptions(v.model.Args)
	if err != nil {
		return nil, err
	}
	m, err := recognize.Load(paths, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	text, err := fairseq.FindText(paths[0], &m.Config, v.model)
	if err != nil {
		m.Close()
		return nil, err
	}
	files, err := withExternalData(paths)
	if err != nil {
		m.Close()
		return nil, err
	}
	s := &source{
		files: files, config: m.Config, tokenization: text.Tokenization, sections: text.Sections, texts: text.Files,
		print: func(w io.Writer) { printGraph(w, files, m, text) },
		check: func(f recognize.Forward) error {
			_, err := m.Check(f, checkBound)
			return err
		},
		close: m.Close,
	}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		s.tensors = append(s.tensors, sourceTensor{t.Spec, t.Source, t.Read})
	}
	return s, nil
}

// graphOptions takes from fairseq's settings what no graph says.
func graphOptions(args string) (recognize.Options, error) {
	var o recognize.Options
	if args == "" {
		return o, nil
	}
	b, err := os.ReadFile(args)
	if err != nil {
		return o, err
	}
	var set struct {
		Source int `json:"max_source_positions"`
		Target int `json:"max_target_positions"`
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return o, fmt.Errorf("%s: %w", args, err)
	}
	o.MaxSource, o.MaxTarget = set.Source, set.Target
	return o, nil
}

// withExternalData adds the files that hold the graphs' weights.
func withExternalData(paths []string) ([]string, error) {
	all := slices.Clone(paths)
	for _, p := range paths {
		f, err := onnx.Open(p)
		if err != nil {
			return nil, err
		}
		for i := range f.Graph.Initializers {
			if at := f.Graph.Initializers[i].External(); at != "" {
				if at = filepath.Join(filepath.Dir(p), at); !slices.Contains(all, at) {
					all = append(all, at)
				}
			}
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// checkBound is how far the logits of an imported model may be from the
// graph's, relative where they exceed 1.
const checkBound = 1e-4

// checkSource runs a model that was imported from a graph, in f32, and the
// graph itself on random inputs, before anything is written.
func (v *conversion) checkSource(ctx context.Context, s *source) error {
	if s.check == nil || v.noCheck {
		return nil
	}
	dir, err := os.MkdirTemp(filepath.Dir(v.output), ".convert-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "check.msz")
	f32 := policy{"f32", format.F32, format.F32}
	if err := s.writeTo(ctx, path, s.header(f32), f32, nil, nil); err != nil {
		return err
	}
	m, err := runtime.Open(path)
	if err != nil {
		return fmt.Errorf("%s: the imported model: %w", s.files[0], err)
	}
	defer m.Close()
	err = s.check(func(src, prev []int32, yield func(int, []float32)) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return m.Logits(src, prev, false, nil, yield)
	})
	if err != nil {
		return hint(fmt.Errorf("%s: %w", s.files[0], err), "--no-check converts without this comparison")
	}
	return nil
}

// printGraph says what was read from ONNX files.
func printGraph(w io.Writer, files []string, m *recognize.Model, text *fairseq.Text) {
	for _, f := range files {
		line(w, "read", "%s (ONNX)", f)
	}
	printConfig(w, &m.Config)
	line(w, "parameters", "%s", grouped(m.Config.Parameters()))
	line(w, "text", "%s", describeText(&text.Tokenization))
	printTexts(w, text.Files)
	for _, n := range slices.Concat(m.Notes, text.Notes) {
		line(w, "note", "%s", n)
	}
}

// inspectGraph lists what an ONNX file holds and says whether it is understood.
func inspectGraph(w io.Writer, path string, asJSON bool) error {
	f, err := onnx.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if asJSON {
		return writeJSON(w, graphReportOf(path, f))
	}
	line(w, "file", "%s", path)
	if err := f.Summarize(w); err != nil {
		return err
	}
	m, err := recognize.Load([]string{path}, recognize.Options{})
	if err != nil {
		line(w, "problem", "%v", err)
		return nil
	}
	defer m.Close()
	printConfig(w, &m.Config)
	line(w, "parameters", "%s", grouped(m.Config.Parameters()))
	for _, n := range m.Notes {
		line(w, "note", "%s", n)
	}
	return nil
}

// graphReport is what inspect --json says of an ONNX file.
type graphReport struct {
	File         string             `json:"file"`
	IRVersion    int64              `json:"ir_version"`
	Producer     string             `json:"producer,omitempty"`
	Opset        int64              `json:"opset"`
	Inputs       []string           `json:"inputs"`
	Outputs      []string           `json:"outputs"`
	Operators    map[string]int     `json:"operators"`
	Initializers []graphInitializer `json:"initializers"`
	Config       *format.Config     `json:"config,omitempty"`
	Notes        []string           `json:"notes,omitempty"`
	Problem      string             `json:"problem,omitempty"`
}

type graphInitializer struct {
	Name     string  `json:"name"`
	DType    string  `json:"dtype"`
	Shape    []int64 `json:"shape"`
	Size     int64   `json:"size"`
	External string  `json:"external,omitempty"`
}

func graphReportOf(path string, f *onnx.File) *graphReport {
	r := &graphReport{
		File: path, IRVersion: f.IRVersion, Producer: f.Producer, Opset: f.Opset(""),
		Inputs: []string{}, Outputs: []string{}, Operators: map[string]int{}, Initializers: []graphInitializer{},
	}
	for i := range f.Graph.Inputs {
		r.Inputs = append(r.Inputs, f.Graph.Inputs[i].String())
	}
	for i := range f.Graph.Outputs {
		r.Outputs = append(r.Outputs, f.Graph.Outputs[i].String())
	}
	for _, o := range f.Operators() {
		r.Operators[strings.TrimPrefix(o.Domain+"."+o.OpType, ".")] += o.Count
	}
	for i := range f.Graph.Initializers {
		t := &f.Graph.Initializers[i]
		r.Initializers = append(r.Initializers, graphInitializer{t.Name, fmt.Sprint(t.DType), append([]int64{}, t.Dims...), t.Bytes(), t.External()})
	}
	m, err := recognize.Load([]string{path}, recognize.Options{})
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	defer m.Close()
	r.Config, r.Notes = &m.Config, m.Notes
	return r
}
