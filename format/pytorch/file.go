package pytorch

import (
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is an opened checkpoint: its tree of values, tensors described, their
// elements not read.
type File struct {
	r         io.ReaderAt
	size      int64
	name      string
	closer    io.Closer
	root      any
	container string
}

// Root returns the value that was saved, as the package comment describes it.
func (f *File) Root() any { return f.root }

// Container returns the kind of container, "zip" or "legacy".
func (f *File) Container() string { return f.container }

// Close closes the underlying file, if Open opened it. Readers of tensors fail
// from then on.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Open opens the checkpoint in the file called path and reads its tree. The
// caller closes it when no tensor is to be read any more.
func Open(path string) (*File, error) {
	// Before opening it, as a pipe would wait for its other end.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("pytorch: %q is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("pytorch: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("pytorch: %w", err)
	}
	f, err := NewFile(file, info.Size(), path)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.closer = file
	return f, nil
}

// NewFile reads the tree of a checkpoint of size bytes from r. The name stands
// for the file in errors. r must stay readable while tensors are read, and is
// read from several goroutines if tensors are.
func NewFile(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{r: r, size: size, name: name}
	if size <= 0 {
		return nil, f.corrupt(0, "the file is empty")
	}
	head := make([]byte, min(size, 1024))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, f.failed(0, err)
	}
	var err error
	switch {
	case hasZipMagic(head):
		f.container = "zip"
		f.root, err = f.openArchive()
	case hasLegacyMagic(head):
		f.container = "legacy"
		f.root, err = f.openLegacy()
	default:
		return nil, f.unsupported(0, "%s", likeness(head, size))
	}
	if err != nil {
		return nil, err
	}
	if !shallow(f.root) {
		return nil, f.corrupt(-1, "values are nested more than %d deep", maxDepth)
	}
	return f, nil
}

func hasZipMagic(head []byte) bool {
	return len(head) >= 4 && (string(head[:4]) == "PK\x03\x04" || string(head[:4]) == "PK\x05\x06")
}

func (f *File) corrupt(offset int64, format string, args ...any) error {
	return &CorruptError{Place{File: f.name, Offset: offset, MemberOffset: -1}, fmt.Sprintf(format, args...)}
}

func (f *File) unsupported(offset int64, format string, args ...any) error {
	return &UnsupportedError{Place{File: f.name, Offset: offset, MemberOffset: -1}, fmt.Sprintf(format, args...)}
}

func (f *File) failed(offset int64, err error) error {
	return fmt.Errorf("pytorch: %s: %w", Place{File: f.name, Offset: offset, MemberOffset: -1}, err)
}

// isFlate reports whether err says that compressed bytes are not valid.
func isFlate(err error) bool {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	return errors.As(err, &corrupt) || errors.As(err, &internal)
}
