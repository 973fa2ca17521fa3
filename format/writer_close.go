package format

import (
	"errors"
	"fmt"
	"io"
)

// beginData writes the sections and leaves room for a header. The header's
// length is known only at the end; the guess is the tensors of the
// configuration, of the types that [ExpectDTypes] told or all of the type of the
// first, and it is usually right.
func (w *Writer) beginData(dtype DType) error {
	if w.placed {
		return nil
	}
	guess := directory{header: w.dir.header, sections: w.dir.sections}
	for _, s := range w.dir.header.Config.TensorSpecs() {
		if w.expected != nil {
			dtype = w.expected(s)
		}
		guess.tensors = append(guess.tensors, TensorInfo{Name: s.Name, DType: dtype, Shape: s.Shape})
	}
	b, err := guess.encode()
	if err != nil {
		return w.fail("", err)
	}
	w.placed = true
	w.dataStart = align(preambleSize + int64(len(b)))
	w.end = w.dataStart
	for i, text := range w.texts {
		start := align(w.end)
		if err := w.pad(start); err != nil {
			return w.fail("", err)
		}
		if _, err := w.out.WriteAt(text, start); err != nil {
			return w.fail(w.dir.sections[i].Name, err)
		}
		w.end = start + int64(len(text))
	}
	w.texts = nil
	return nil
}

// Close writes the header, brings the file safely to disk and gives it its
// name, replacing a file that had it. After any error, now or before, nothing
// is left of the new file and the old one is untouched.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	if w.err == nil {
		w.finish()
	}
	w.done = true
	t, atomic := w.out.(*tempFile)
	if !atomic {
		return w.err
	}
	if w.err != nil {
		t.abort()
		return w.err
	}
	if err := t.commit(); err != nil {
		w.err = fmt.Errorf("format: %w", err)
	}
	return w.err
}

// Abort gives up and removes what was written. After Close it does nothing,
// so that it can be deferred.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	w.fail("", errors.New("given up"))
	if t, ok := w.out.(*tempFile); ok {
		t.abort()
	}
}

// finish puts the header before the data.
func (w *Writer) finish() error {
	if err := w.beginData(F32); err != nil {
		return err
	}
	header, err := w.dir.encode()
	if err != nil {
		return w.fail("", err)
	}
	if len(header) > maxHeader {
		return w.fail("", fmt.Errorf("header of %d bytes, want at most %d", len(header), maxHeader))
	}
	// What the reader would refuse is refused here.
	if _, err := decodeDirectory(header); err != nil {
		return w.fail("", err)
	}
	w.dir.headerLength = len(header)
	end, err := w.dir.place()
	if err != nil {
		return w.fail("", err)
	}
	start := align(preambleSize + int64(len(header)))
	if start != w.dataStart && w.end > w.dataStart {
		if err := move(w.out, w.dataStart, start, w.end-w.dataStart); err != nil {
			return w.fail("", err)
		}
	}
	p := preamble{version: Version, headerLength: uint64(len(header)), fileLength: uint64(end)}
	head := append(p.appendTo(nil, header), header...)
	if len(w.dir.sections)+len(w.dir.tensors) > 0 {
		head = append(head, make([]byte, start-int64(len(head)))...)
	}
	if _, err := w.out.WriteAt(head, 0); err != nil {
		return w.fail("", err)
	}
	return w.fail("", w.out.Truncate(end))
}

// move copies n bytes of f from one offset to another; the ranges may overlap.
func move(f output, from, to, n int64) error {
	buf := make([]byte, min(n, 1<<20))
	for done := int64(0); done < n; {
		m := min(n-done, int64(len(buf)))
		at := done // ascending when it moves towards the front
		if to > from {
			at = n - done - m
		}
		if _, err := f.ReadAt(buf[:m], from+at); err != nil && err != io.EOF {
			return err
		}
		if _, err := f.WriteAt(buf[:m], to+at); err != nil {
			return err
		}
		done += m
	}
	return nil
}
