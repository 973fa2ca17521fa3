package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"memsizer/format"
	"memsizer/format/fairseq"
	"memsizer/format/onnx/recognize"
)

// source is a model to be converted, whatever it comes from.
type source struct {
	files        []string // everything that was read
	config       format.Config
	tokenization format.Tokenization
	sections     []fairseq.Section
	texts        []fairseq.TextFile // read for the sections
	tensors      []sourceTensor
	architecture string // the name in the training code, "" when unknown

	print func(io.Writer) // says what was found
	// check compares an implementation with what the file itself computes;
	// nil where a file holds weights only.
	check func(recognize.Forward) error
	close func() error
}

// sourceTensor is one of Config.TensorSpecs, not yet read.
type sourceTensor struct {
	spec format.TensorSpec
	name string // in the file
	read readFunc
}

// open finds out what kind of files these are and reads what they say.
func (v *conversion) open(paths []string) (*source, error) {
	if !v.average && areGraphs(paths) {
		return v.openGraphs(paths)
	}
	v.model.Average = paths[1:]
	m, err := fairseq.Load(paths[0], v.model)
	if err != nil {
		return nil, err
	}
	s := &source{
		files: paths, config: m.Config, tokenization: m.Tokenization, sections: m.Sections, texts: m.Found.Texts,
		architecture: m.Found.Architecture,
		print:        func(w io.Writer) { printFound(w, &m.Found) },
		close:        m.Close,
	}
	for i := range m.Tensors {
		t := &m.Tensors[i]
		s.tensors = append(s.tensors, sourceTensor{t.Spec, t.Source, t.Read})
	}
	return s, nil
}

// header says what the model is, but for the digests of its files.
func (s *source) header(policy policy) format.Header {
	return format.Header{
		Config: s.config, Tokenization: s.tokenization,
		Provenance: format.Provenance{Model: s.architecture, Converter: version, DTypePolicy: policy.name},
	}
}

// writeTo writes everything to a .msz file; last, if not nil, is called before
// it is closed. Nothing is left after an error.
func (s *source) writeTo(ctx context.Context, path string, h format.Header, policy policy, bar *bar, last func(*format.Writer) error, opts ...format.WriteOption) error {
	w, err := format.Create(path, h, append(opts, format.ExpectDTypes(policy.dtype))...)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, x := range s.sections {
		if err := w.AddSection(x.Name, x.Data); err != nil {
			return err
		}
	}
	for _, t := range s.tensors {
		bar.show(t.spec.Name)
		if err := addTensor(ctx, w, t.spec, policy.dtype(t.spec), t.read); err != nil {
			return explain(err, s.files[0], t)
		}
		bar.add(t.spec.Elements())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if last != nil {
		if err := last(w); err != nil {
			return err
		}
	}
	return w.Close()
}

// explain names the file and the tensor of a value that cannot be stored.
func explain(err error, path string, t sourceTensor) error {
	name := fmt.Sprintf("%q", t.name)
	if t.name != t.spec.Name {
		name += fmt.Sprintf(" (%q)", t.spec.Name)
	}
	var r *rangeError
	if errors.As(err, &r) {
		err := fmt.Errorf("%s: tensor %s: element %d is %v, beyond what %s can hold (±%v)", path, name, r.index, r.value, r.dtype, r.limit)
		return hint(err, "--dtype f32 keeps it")
	}
	var bad *fairseq.ValueError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %s", path, strings.TrimPrefix(bad.Error(), "fairseq: "))
	}
	var worse *recognize.ValueError
	if errors.As(err, &worse) {
		return fmt.Errorf("%s: %s", path, strings.TrimPrefix(worse.Error(), "recognize: "))
	}
	return err
}
