package main

import (
	"errors"
	"io/fs"
	"os"

	"memsizer/format"
	"memsizer/format/fairseq"
	"memsizer/runtime/text"
)

// checkText makes the way from text to ids and back as a loaded model would,
// so that no model is written whose dictionaries or tokenisation files cannot
// be used. Errors name the file of the section that is at fault.
func checkText(t format.Tokenization, sections []fairseq.Section) error {
	paths := map[string]string{}
	contents := map[string][]byte{}
	for _, s := range sections {
		paths[s.Name], contents[s.Name] = s.Path, s.Data
	}
	_, err := text.NewPipeline(t, func(name string) ([]byte, error) {
		data, ok := contents[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return data, nil
	})
	var corrupt *text.CorruptError
	if errors.As(err, &corrupt) && paths[corrupt.Name] != "" {
		named := *corrupt
		named.Name = paths[corrupt.Name]
		return &named
	}
	var unsupported *text.UnsupportedError
	if errors.As(err, &unsupported) && paths[unsupported.Name] != "" {
		named := *unsupported
		named.Name = paths[unsupported.Name]
		return &named
	}
	return err
}

// checkFoundText is checkText for a report, which has the files' names only.
func checkFoundText(r *fairseq.Report) error {
	if r.Tokenization == nil || len(r.Problems) > 0 {
		return nil
	}
	var sections []fairseq.Section
	for _, t := range r.Texts {
		data, err := os.ReadFile(t.Path)
		if err != nil {
			return err
		}
		sections = append(sections, fairseq.Section{Name: t.Section, Path: t.Path, Data: data})
	}
	return checkText(*r.Tokenization, sections)
}
