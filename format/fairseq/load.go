package fairseq

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"memsizer/format"
)

// Load opens a checkpoint (.pt, .bin, .pth, .safetensors; recognised by
// content), maps it and finds its dictionaries and tokenisation files. The
// caller closes the model.
//
// A file that can be read but not become a model gives a *ModelError that lists
// everything in the way. Errors of the containers come through unchanged, so
// that [errors.As] finds pytorch.CorruptError and the like.
func Load(path string, opts Options) (*Model, error) {
	a, err := analyse(path, &opts)
	if err != nil {
		return nil, err
	}
	for i := range a.tensors {
		a.tensors[i].limit = opts.Limit
	}
	if r := &a.report; len(r.Unsupported)+len(r.Problems) > 0 {
		if a.whole {
			r.Problems = append(r.Problems, badValues(a.tensors)...)
		}
		a.close()
		return nil, &ModelError{path, r.Unsupported, r.Problems}
	}
	return &Model{
		Config:       a.config,
		Tokenization: a.text.Tokenization,
		Sections:     a.text.Sections,
		Tensors:      a.tensors,
		Found:        a.report,
		SourceName:   filepath.Base(path),
		closers:      a.closers,
	}, nil
}

// maxBadValues bounds how many tensors with bad values are listed.
const maxBadValues = 10

// badValues finds what reading would stop at, so that an error about missing
// dictionaries does not hide that the weights are of no use either.
func badValues(tensors []Tensor) []string {
	var bad []string
	for i := range tensors {
		err := tensors[i].Read(func([]float32) error { return nil })
		if err == nil {
			continue
		}
		if len(bad) == maxBadValues {
			return append(bad, "more tensors with such values may follow")
		}
		bad = append(bad, strings.TrimPrefix(err.Error(), "fairseq: "))
	}
	return bad
}

// Inspect says what a file is: architecture, sizes, settings, what would be
// missing and what is not supported and why. It fails only where the file
// cannot be read at all.
func Inspect(path string, opts Options) (*Report, error) {
	a, err := analyse(path, &opts)
	if err != nil {
		return nil, err
	}
	return &a.report, a.close()
}

// FindText finds dictionaries and tokenisation for a model that came without
// fairseq's settings (an ONNX graph, say): from opts, from the settings in
// opts.Args if that is given, and from the files beside path. Dictionaries
// are checked against the sizes in cfg. What is missing is a *ModelError.
func FindText(path string, cfg *format.Config, opts Options) (*Text, error) {
	var set settings
	if opts.Args != "" {
		m, err := readArgsFile(opts.Args)
		if err != nil {
			return nil, err
		}
		set.addTree(m)
	}
	f := findText(path, cfg, &opts, &set)
	if len(f.problems) > 0 {
		return nil, &ModelError{Path: path, Problems: f.problems}
	}
	return &f.text, nil
}

func findText(path string, cfg *format.Config, opts *Options, set *settings) *finder {
	return findTextWith(path, cfg, opts, set, "")
}

// findTextWith adds a line to the dictionaries.
func findTextWith(path string, cfg *format.Config, opts *Options, set *settings, line string) *finder {
	f := newFinder(path, opts)
	f.line = line
	source, target := opts.SourceLang, opts.TargetLang
	if source == "" {
		source, _ = set.text("source_lang")
	}
	if target == "" {
		target, _ = set.text("target_lang")
	}
	f.dictionaries(cfg, source, target)
	f.tokenization(set, source, target)
	return f
}

// shardName is how names of files with a part of a model end.
var shardName = regexp.MustCompile(`-shard\d+\.\w+$|[_-]part-?\d+\.\w+$|-rank-?\d+\.\w+$`)

// analysis is everything found out about a file.
type analysis struct {
	report  Report
	config  format.Config
	text    Text
	tensors []Tensor
	whole   bool // tensors are complete: nothing is wrong with the weights' names and shapes
	closers []func() error
}

func (a *analysis) close() error {
	var first error
	for _, c := range a.closers {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	a.closers = nil
	return first
}

// part is one checkpoint: there are several when averaging.
type part struct {
	c       *checkpoint
	set     *settings
	st      *state
	d       *derivation
	tensors []Tensor
}

func analyse(path string, opts *Options) (*analysis, error) {
	a := new(analysis)
	first, err := a.open(path, opts, nil)
	if err != nil {
		a.close()
		return nil, err
	}
	a.describe(first, opts)
	if len(opts.Average) > 0 {
		if err := a.average(first, opts); err != nil {
			a.close()
			return nil, err
		}
	}
	return a, nil
}

// open reads a checkpoint and derives its model. Settings of a file that has
// none are taken from fallback, the first checkpoint of an average.
func (a *analysis) open(path string, opts *Options, fallback *settings) (*part, error) {
	c, err := openCheckpoint(path)
	if c != nil && c.close != nil {
		a.closers = append(a.closers, c.close)
	}
	if err != nil {
		return nil, err
	}
	p := &part{c: c}
	if p.set, err = settingsFor(c, opts, fallback); err != nil {
		return nil, err
	}
	p.st = newState(c, p.set)
	p.d = newDerivation(p.st, p.set)
	if len(c.unsupported) == 0 && len(c.names) > 0 {
		if err := p.d.run(); err != nil {
			return nil, err
		}
		if len(p.d.unsupported) == 0 {
			p.tensors = p.d.match()
		}
	}
	return p, nil
}

// settingsFor puts an args file before the settings of the checkpoint.
func settingsFor(c *checkpoint, opts *Options, fallback *settings) (*settings, error) {
	set := &c.settings
	args := opts.Args
	if args == "" && set.empty() {
		if p := filepath.Join(filepath.Dir(c.path), "args.json"); exists(p) {
			args = p
			c.notes = append(c.notes, "settings from args.json beside the checkpoint")
		} else if fallback != nil {
			return fallback, nil
		}
	}
	if args == "" {
		return set, nil
	}
	m, err := readArgsFile(args)
	if err != nil {
		return nil, err
	}
	over := &settings{origin: fmt.Sprintf("args file %q", filepath.Base(args))}
	over.addTree(m)
	if set.origin != "" {
		over.origin += " over " + set.origin
	}
	over.layers = append(over.layers, set.layers...)
	for name, group := range set.groups {
		over.addGroup(name, group)
	}
	over.modelName = firstSet(over.modelName, set.modelName)
	over.taskName = firstSet(over.taskName, set.taskName)
	over.plainConfig = set.plainConfig
	return over, nil
}

// describe fills the report from one checkpoint.
func (a *analysis) describe(p *part, opts *Options) {
	c, d, r := p.c, p.d, &a.report
	*r = Report{
		Path: c.path, Container: c.container, Settings: firstSet(p.set.origin, "none"),
		FairseqVersion: c.version, Architecture: p.set.architecture(), Task: p.set.task(),
		TensorCount: len(c.names), DTypes: dtypesOf(c), Updates: c.updates, Epoch: c.epoch,
		Settled: p.set.reported(), Ignored: slices.Concat(p.st.ignored, c.skipped),
		Notes:       slices.Concat(c.notes, p.st.notes, d.notes),
		Unsupported: slices.Concat(c.unsupported, d.unsupported),
	}
	if len(c.names) == 0 && len(r.Unsupported) == 0 {
		r.Problems = append(r.Problems, "no tensors are in the file: not a model checkpoint")
	}
	if len(r.Unsupported) > 0 {
		return
	}
	if p.set.empty() && len(c.names) > 0 {
		r.Problems = append(r.Problems, "the file holds weights only, without settings; give fairseq's args as JSON with --args")
	}
	r.Problems = slices.Concat(r.Problems, c.problems, p.st.problems, d.problems)
	if len(c.names) == 0 || !d.hasPrefix("decoder.") {
		return
	}
	a.whole = len(r.Problems) == 0
	if d.cfg.Validate() == nil {
		mask, note := fitMask(p.set, c.path, opts, &d.cfg, p.tensors)
		if note != "" {
			r.Notes = append(r.Notes, note)
		}
		f := findTextWith(c.path, &d.cfg, opts, p.set, mask)
		r.Config, r.Parameters = &a.config, d.cfg.Parameters()
		r.Summary = summary(&d.cfg)
		a.text = f.text
		r.Texts, r.Tokenization = f.text.Files, &a.text.Tokenization
		r.Problems = append(r.Problems, f.problems...)
		r.Notes = append(r.Notes, f.text.Notes...)
	}
	a.config, a.tensors = d.cfg, p.tensors
	if parts := shardName.FindString(filepath.Base(c.path)); parts != "" && len(r.Problems) > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("the file's name (%q) says that it is one part of several; put them together first", parts))
	}
	for _, wrong := range p.set.wrong {
		if !slices.Contains(r.Problems, wrong) {
			r.Problems = append(r.Problems, wrong)
		}
	}
}

func dtypesOf(c *checkpoint) []DTypeUse {
	uses := make(map[string]*DTypeUse)
	for _, t := range c.tensors {
		u := uses[t.typ]
		if u == nil {
			u = &DTypeUse{DType: t.typ}
			uses[t.typ] = u
		}
		u.Tensors++
		u.Elements += count(t.dims)
	}
	list := make([]DTypeUse, 0, len(uses))
	for _, u := range uses {
		list = append(list, *u)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Elements != list[j].Elements {
			return list[i].Elements > list[j].Elements
		}
		return list[i].DType < list[j].DType
	})
	return list
}
