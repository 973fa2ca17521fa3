package format

import (
	"errors"
	"io"
)

// Reader gives access to a .msz file. It may be used by several goroutines.
type Reader struct{}

var errTODO = errors.New("format: not written yet")

// Open maps the file into memory and checks its structure.
func Open(path string) (*Reader, error) { return nil, errTODO }

// NewReader reads a file of size bytes through r.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) { return nil, errTODO }

// Header is what the file says about its model.
func (r *Reader) Header() *Header { return nil }

// Tensors lists the tensors in file order.
func (r *Reader) Tensors() []TensorInfo { return nil }

// Sections lists the named sections in file order.
func (r *Reader) Sections() []SectionInfo { return nil }

// Section returns the content of a named section, its checksum verified. The
// error wraps fs.ErrNotExist when there is none of that name.
func (r *Reader) Section(name string) ([]byte, error) { return nil, errTODO }

// Tensor returns a tensor, its checksum verified. The error wraps
// fs.ErrNotExist when there is none of that name.
func (r *Reader) Tensor(name string) (*Tensor, error) { return nil, errTODO }

// Drop tells the system that the tensor's pages of the map are not needed for now.
func (r *Reader) Drop(name string) {}

// Verify checks every checksum and unpacks every compressed section.
func (r *Reader) Verify() error { return errTODO }

// Close unmaps the file. Data of its tensors must not be used afterwards.
func (r *Reader) Close() error { return nil }
