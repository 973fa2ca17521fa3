package main

import (
	"fmt"
	"io"

	"memsizer/runtime"
)

// warnings counts what had to be done to lines.
type warnings struct {
	w     io.Writer
	each  bool // report every one at once
	files bool // name the file too: there are several
	kinds []*warningCount
}

type warningCount struct {
	kind         runtime.WarningKind
	lines, total int
	first        int // line, 1-based
}

// add counts the warnings of a translation whose line is s.
func (w *warnings) add(t *runtime.Translation, s *source) {
	if s.dropped > 0 {
		t.Warnings = append(t.Warnings, runtime.Warning{Kind: runtime.WarnCut, Count: int(s.dropped)})
	}
	for _, x := range t.Warnings {
		c := w.count(x.Kind)
		if c.lines == 0 {
			c.first = t.Line + 1
		}
		c.lines++
		c.total += x.Count
		if w.each {
			place := fmt.Sprintf("line %d", t.Line+1)
			if w.files {
				place += fmt.Sprintf(" (%s:%d)", s.file.describe(), s.line)
			}
			fmt.Fprintf(w.w, "run: warning: %s: %v\n", place, x)
		}
	}
}

func (w *warnings) count(k runtime.WarningKind) *warningCount {
	for _, c := range w.kinds {
		if c.kind == k {
			return c
		}
	}
	c := &warningCount{kind: k}
	w.kinds = append(w.kinds, c)
	return c
}

// summary reports each kind once.
func (w *warnings) summary() {
	for _, c := range w.kinds {
		lines := fmt.Sprintf("%d lines, the first is line %d", c.lines, c.first)
		if c.lines == 1 {
			lines = fmt.Sprintf("line %d", c.first)
		}
		fmt.Fprintf(w.w, "run: warning: %s: %v\n", lines, runtime.Warning{Kind: c.kind, Count: c.total})
	}
	if len(w.kinds) > 0 && !w.each {
		fmt.Fprintln(w.w, "run: hint: --warnings lists every line")
	}
}
