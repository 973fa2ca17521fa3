package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// blob is a stretch of an external data file.
type blob struct {
	location string
	off, n   int64
	r        io.ReaderAt // nil when there is no folder to look in
}

// outside opens the external data files of a model, below one folder only.
type outside struct {
	dir   string
	root  *os.Root
	files map[string]*os.File
	sizes map[string]int64
}

// parseBlob reads the entries of external_data for a tensor of want bytes.
func parseBlob(entries []Property, want int64) (*blob, error) {
	b := &blob{n: want}
	length := int64(-1)
	for _, e := range entries {
		var err error
		switch e.Key {
		case "location":
			b.location = e.Value
		case "offset":
			b.off, err = parseSize(e)
		case "length":
			length, err = parseSize(e)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case b.location == "":
		return nil, errors.New("external data has no location")
	case length >= 0 && length != want:
		return nil, fmt.Errorf("external data has length %d, want %d", length, want)
	}
	return b, nil
}

func parseSize(e Property) (int64, error) {
	v, err := strconv.ParseInt(e.Value, 10, 64)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("external data has %s %q, want a number of bytes", e.Key, e.Value)
	}
	return v, nil
}

// maxOutside bounds the files that one model may keep open.
const maxOutside = 4096

// open finds the file of b and checks that the stretch lies within it.
func (o *outside) open(b *blob) error {
	if !filepath.IsLocal(b.location) || strings.Contains(b.location, `\`) {
		return fmt.Errorf("external data %q is not a path below the model's folder", b.location)
	}
	r, ok := o.files[b.location]
	if !ok {
		var err error
		if r, err = o.file(b.location); err != nil {
			return fmt.Errorf("external data %q: %w", b.location, err)
		}
	}
	if size := o.sizes[b.location]; b.off > size || b.n > size-b.off {
		return fmt.Errorf("external data %q: bytes %d to %d, the file has %d", b.location, b.off, b.off+b.n, size)
	}
	b.r = r
	return nil
}

func (o *outside) file(location string) (*os.File, error) {
	if len(o.files) == maxOutside {
		return nil, fmt.Errorf("more than %d files", maxOutside)
	}
	if o.root == nil {
		root, err := os.OpenRoot(o.dir)
		if err != nil {
			return nil, err
		}
		o.root, o.files, o.sizes = root, make(map[string]*os.File), make(map[string]int64)
	}
	info, err := o.root.Stat(location)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	r, err := o.root.Open(location)
	if err != nil {
		return nil, err
	}
	o.files[location], o.sizes[location] = r, info.Size()
	return r, nil
}

func (o *outside) close() (err error) {
	if o == nil {
		return nil
	}
	for _, f := range o.files {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if o.root != nil {
		if e := o.root.Close(); err == nil {
			err = e
		}
	}
	o.files, o.root = nil, nil
	return err
}
