package onnx

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// File is an opened model. Its structure is in memory, the elements of its
// tensors are not. It is safe for concurrent use until Close.
type File struct {
	Name            string // as given to Open or NewFile
	Size            int64  // in bytes, without external data
	IRVersion       int64
	Producer        string
	ProducerVersion string
	Domain          string
	ModelVersion    int64
	Opsets          []Opset
	Metadata        []Property
	Graph           *Graph
	// Functions counts the model's own operators, which are not read.
	Functions int

	src     *source
	outside *outside
	closer  io.Closer
}

// Opset is an operator set that the graph uses. Domain "" is ONNX's own.
type Opset struct {
	Domain  string
	Version int64
}

// Property is an entry of the model's metadata.
type Property struct {
	Key, Value string
}

// Opset returns the version of the operator set of domain, 0 if the model
// does not import it. The domain "ai.onnx" is the same as "".
func (f *File) Opset(domain string) int64 {
	for _, o := range f.Opsets {
		if o.Domain == domain || (domain == "" && o.Domain == "ai.onnx") {
			return o.Version
		}
	}
	return 0
}

// Open opens the model called path. External data is looked for in the same
// folder and below it, and opened now. The caller closes the file.
func Open(path string) (*File, error) {
	// Before opening it, as a pipe would wait for its other end.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &UnsupportedError{path, -1, "not a regular file"}
	}
	info, err := os.Stat(path) // first: opening a pipe would wait
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &UnsupportedError{path, -1, "not a regular file"}
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if info, err = r.Stat(); err != nil {
		r.Close()
		return nil, fmt.Errorf("onnx: %w", err)
	}
	f, err := parse(r, info.Size(), path, &outside{dir: filepath.Dir(path)})
	if err != nil {
		r.Close()
		return nil, err
	}
	f.closer = r
	return f, nil
}

// NewFile reads a model of size bytes from r; name stands for it in errors.
// Tensors with external data are described, but reading them is an
// UnsupportedError.
func NewFile(r io.ReaderAt, size int64, name string) (*File, error) {
	return parse(r, size, name, nil)
}

// Close closes the file and its external data, if Open opened it.
func (f *File) Close() error {
	err := f.outside.close()
	if f.closer != nil {
		if e := f.closer.Close(); err == nil {
			err = e
		}
	}
	return err
}

func parse(r io.ReaderAt, size int64, name string, out *outside) (*File, error) {
	s := newSource(r, size, name)
	f := &File{Name: name, Size: size, src: s, outside: out}
	c := s.fields(0, size)
	if size == 0 {
		return nil, s.corrupt(0, "the file is empty")
	}
	for {
		fd, ok, err := c.next()
		if err == nil && ok {
			err = f.field(&c, fd)
		}
		if err != nil {
			out.close()
			return nil, err
		}
		if !ok {
			break
		}
	}
	if f.Graph == nil {
		return nil, s.corrupt(-1, "the model has no graph")
	}
	s.window, s.seen = nil, nil
	return f, nil
}

func (f *File) field(c *cursor, fd field) (err error) {
	switch fd.num {
	case 1:
		f.IRVersion, err = int64(fd.value), c.want(fd, protowire.VarintType, "ir_version")
	case 2:
		f.Producer, err = c.str(fd, "producer_name")
	case 3:
		f.ProducerVersion, err = c.str(fd, "producer_version")
	case 4:
		f.Domain, err = c.str(fd, "domain")
	case 5:
		f.ModelVersion, err = int64(fd.value), c.want(fd, protowire.VarintType, "model_version")
	case 7:
		if f.Graph != nil {
			return c.corrupt(fd.start, "the model has a second graph")
		}
		m, err := c.message(fd, "graph")
		if err != nil {
			return err
		}
		f.Graph, err = f.parseGraph(m, 0)
		return err
	case 8:
		return f.parseOpset(c, fd)
	case 14:
		return f.parseMetadata(c, fd)
	case 25:
		f.Functions++
	}
	return err
}

func (f *File) parseOpset(c *cursor, fd field) error {
	m, err := c.message(fd, "opset_import")
	if err != nil {
		return err
	}
	if len(f.Opsets) == 1024 {
		return c.corrupt(fd.start, "more than %d operator sets", len(f.Opsets))
	}
	var o Opset
	for {
		g, ok, err := m.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		switch g.num {
		case 1:
			o.Domain, err = m.word(g, "opset domain")
		case 2:
			o.Version, err = int64(g.value), m.want(g, protowire.VarintType, "opset version")
		}
		if err != nil {
			return err
		}
	}
	f.Opsets = append(f.Opsets, o)
	return nil
}

func (f *File) parseMetadata(c *cursor, fd field) error {
	m, err := c.message(fd, "metadata_props")
	if err != nil {
		return err
	}
	p, err := property(m)
	if err == nil {
		err = c.charge(fd.start, 64) // twice the pair, as the list grows
	}
	f.Metadata = append(f.Metadata, p)
	return err
}

func property(m cursor) (p Property, err error) {
	for {
		g, ok, err := m.next()
		if err != nil || !ok {
			return p, err
		}
		switch g.num {
		case 1:
			p.Key, err = m.str(g, "key")
		case 2:
			p.Value, err = m.str(g, "value")
		}
		if err != nil {
			return p, err
		}
	}
}
