package format

import "io"

// Writer writes one .msz file.
type Writer struct{}

// WriteOption changes how a file is written.
type WriteOption func(*Writer) error

// CompressTensors stores tensors as zstd frames where that is smaller.
func CompressTensors() WriteOption { return func(*Writer) error { return nil } }

// Create starts a file.
func Create(path string, h Header, opts ...WriteOption) (*Writer, error) { return nil, errTODO }

// AddSection adds a named section. All sections come before the first tensor.
func (w *Writer) AddSection(name string, data []byte) error { return errTODO }

// AddTensor adds a tensor whose canonical bytes are read from data.
func (w *Writer) AddTensor(name string, dtype DType, shape []int, data io.Reader) error {
	return errTODO
}

// Close completes the file and gives it its name.
func (w *Writer) Close() error { return errTODO }

// Abort removes what was written.
func (w *Writer) Abort() {}
