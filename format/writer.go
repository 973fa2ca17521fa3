package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Writer writes one .msz file: named sections first, then tensors, each in the
// order in which it is added. The data is streamed: a tensor is never held in
// memory. After an error every further call returns it.
type Writer struct {
	out  output
	path string
	dir  directory
	err  error
	done bool

	compressTensors bool
	expected        func(TensorSpec) DType
	text, weights   compressor
	texts           [][]byte // stored bytes of the sections, until placed
	placed          bool     // data has begun; no more sections
	dataStart       int64    // where the data begins, by the guess of the header's length
	end             int64    // of what has been written
	names           map[string]bool
}

// output is what a Writer needs of a file.
type output interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// WriteOption changes how a file is written.
type WriteOption func(*Writer)

// CompressTensors stores tensors as zstd frames where that makes them smaller
// (and not more than 256 times smaller): less to ship, but unpacked into
// memory at load instead of used from the map. Without it only named sections
// are compressed.
func CompressTensors() WriteOption { return func(w *Writer) { w.compressTensors = true } }

// ExpectDTypes says of which types the tensors of the configuration are going
// to be. It changes no byte of the file, but lets the data stand in its place
// at once; where the guess is wrong, all of it is moved in the end.
func ExpectDTypes(of func(TensorSpec) DType) WriteOption {
	return func(w *Writer) { w.expected = of }
}

// Create starts a file. What is written goes to a temporary file beside path
// that Close gives its name. The revisions in h are set by the Writer; its
// configuration must be valid.
func Create(path string, h Header, opts ...WriteOption) (*Writer, error) {
	t, err := createTemp(path)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(path, t, h, opts...)
	if err != nil {
		t.abort()
		return nil, err
	}
	return w, nil
}

func newWriter(path string, out output, h Header, opts ...WriteOption) (*Writer, error) {
	h.Container, h.Architecture, h.Quantization = Version, Architecture, Quantization
	w := &Writer{out: out, path: path, dir: directory{header: h}, names: map[string]bool{}}
	// Weights are mostly noise: more effort would gain them nothing.
	w.text.level, w.weights.level = zstd.SpeedBestCompression, zstd.SpeedBetterCompression
	for _, o := range opts {
		o(w)
	}
	if err := w.dir.check(); err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return w, nil
}

// SetProvenance replaces what the header says of where the model comes from. It
// may be called until Close, for what is known only then, such as digests; with
// the lengths as they were at Create, nothing has to be moved for it.
func (w *Writer) SetProvenance(p Provenance) error {
	switch {
	case w.err != nil:
		return w.err
	case w.done:
		return errors.New("format: Writer is closed")
	}
	if err := p.validate(); err != nil {
		return w.fail("", fmt.Errorf("provenance: %w", err))
	}
	w.dir.header.Provenance = p
	return nil
}

// fail keeps the first error.
func (w *Writer) fail(name string, err error) error {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("format: %s%w", place(w.path, name), err)
	}
	return w.err
}

// admit checks that a section ("s") or tensor ("t") may be added.
func (w *Writer) admit(kind, name string) error {
	if w.err != nil {
		return w.err
	}
	if w.done {
		return errors.New("format: Writer is closed")
	}
	if err := checkName(name); err != nil {
		return w.fail("", err)
	}
	if w.names[kind+name] {
		return w.fail(name, errors.New("added twice"))
	}
	w.names[kind+name] = true
	return nil
}

// AddSection adds a named section, compressed where that is smaller. All
// sections come before the first tensor.
func (w *Writer) AddSection(name string, data []byte) error {
	if err := w.admit("s", name); err != nil {
		return err
	}
	packed, err := w.text.compressText(data)
	if err != nil {
		return w.fail(name, err)
	}
	s := SectionInfo{Name: name, Size: int64(len(data)), StoredSize: int64(len(data))}
	if packed != nil {
		s.Compressed, s.StoredSize = true, int64(len(packed))
	} else {
		packed = bytes.Clone(data)
	}
	return w.addText(s, packed)
}

func (w *Writer) addText(s SectionInfo, stored []byte) error {
	if w.placed {
		return w.fail(s.Name, errors.New("section added after the first tensor"))
	}
	s.CRC32C = crc32.Checksum(stored, castagnoli)
	w.dir.sections = append(w.dir.sections, s)
	w.texts = append(w.texts, stored)
	return nil
}

// CopySection adds a section of r as it is stored.
func (w *Writer) CopySection(r *Reader, name string) error {
	if err := w.admit("s", name); err != nil {
		return err
	}
	if _, err := r.Section(name); err != nil {
		return w.fail("", err)
	}
	s := r.dir.sections[r.sections[name]]
	b, err := r.stored(s.Offset, s.StoredSize)
	if err != nil {
		return w.fail("", err)
	}
	return w.addText(s, bytes.Clone(b))
}

// AddTensor adds a tensor of type F32, F16 or BF16 whose elements, row-major
// and little-endian, are read from data, which must end with them.
func (w *Writer) AddTensor(name string, dtype DType, shape []int, data io.Reader) error {
	if err := w.admit("t", name); err != nil {
		return err
	}
	if dtype == I8 {
		return w.fail(name, errors.New("i8 needs scales: use AddQuantized"))
	}
	return w.addTensor(name, dtype, shape, data)
}

// AddQuantized adds an I8 matrix [rows, cols]: its values −127…127, row-major,
// are read from values; element [i, j] means scales[i]·values[i, j]. Scales
// are positive and finite (a row of zeros has scale 1).
func (w *Writer) AddQuantized(name string, shape []int, scales []float32, values io.Reader) error {
	if err := w.admit("t", name); err != nil {
		return err
	}
	if len(shape) != 2 || len(scales) != shape[0] {
		return w.fail(name, fmt.Errorf("%d scales for shape %v, want one per row of a matrix", len(scales), shape))
	}
	head := make([]byte, scalesSize(len(scales)))
	for i, s := range scales {
		if !validScale(s) {
			return w.fail(name, fmt.Errorf("scale of row %d is %v, want it positive and finite", i, s))
		}
		binary.Encode(head[4*i:], binary.LittleEndian, s)
	}
	return w.addTensor(name, I8, shape, io.MultiReader(bytes.NewReader(head), noMinus128{values}))
}

// noMinus128 refuses the one byte that no quantised value has.
type noMinus128 struct{ r io.Reader }

func (n noMinus128) Read(p []byte) (int, error) {
	m, err := n.r.Read(p)
	if bytes.IndexByte(p[:m], 0x80) >= 0 {
		return 0, errors.New("value -128, want -127 to 127")
	}
	return m, err
}

func (w *Writer) addTensor(name string, dtype DType, shape []int, data io.Reader) error {
	size, err := contentSize(dtype, shape)
	if err != nil {
		return w.fail(name, err)
	}
	if err := w.beginData(dtype); err != nil {
		return err
	}
	t := TensorInfo{Name: name, DType: dtype, Shape: append([]int(nil), shape...), Size: size}
	src := &exactReader{r: data, left: size}
	start := align(w.end)
	t.StoredSize, t.CRC32C, err = w.stream(start, func(dst io.Writer) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{dst}, src, make([]byte, 256<<10))
		return err
	})
	if err == nil && w.compressTensors {
		err = w.pack(&t, start)
	}
	if err != nil {
		return w.fail(name, err)
	}
	if err := w.pad(start); err != nil {
		return w.fail(name, err)
	}
	w.end = start + t.StoredSize
	w.dir.tensors = append(w.dir.tensors, t)
	return nil
}

// pack replaces the content at start by its frame where that is worth while.
// The frame is made behind the content.
func (w *Writer) pack(t *TensorInfo, start int64) error {
	if t.Size < minCompressed {
		return nil
	}
	behind := align(start + t.Size)
	stored, crc, err := w.stream(behind, func(dst io.Writer) error {
		return w.weights.compress(dst, io.NewSectionReader(w.out, start, t.Size), t.Size)
	})
	if err != nil || !worth(stored, t.Size) {
		return err
	}
	t.Compressed, t.StoredSize, t.CRC32C = true, stored, crc
	return move(w.out, behind, start, stored)
}

// CopyTensor adds a tensor of r as it is stored.
func (w *Writer) CopyTensor(r *Reader, name string) error {
	if err := w.admit("t", name); err != nil {
		return err
	}
	if _, err := r.Tensor(name); err != nil {
		return w.fail("", err)
	}
	t := r.dir.tensors[r.tensors[name]]
	if err := w.beginData(t.DType); err != nil {
		return err
	}
	b, err := r.stored(t.Offset, t.StoredSize)
	if err != nil {
		return w.fail("", err)
	}
	start := align(w.end)
	_, _, err = w.stream(start, func(dst io.Writer) error {
		_, err := dst.Write(b)
		return err
	})
	if err == nil {
		err = w.pad(start)
	}
	if err != nil {
		return w.fail(name, err)
	}
	w.end = start + t.StoredSize
	w.dir.tensors = append(w.dir.tensors, t)
	return nil
}

// stream writes what fn gives it from start on and returns its length and
// checksum.
func (w *Writer) stream(start int64, fn func(io.Writer) error) (int64, uint32, error) {
	c := &countingWriter{w: io.NewOffsetWriter(w.out, start)}
	err := fn(c)
	return c.n, c.crc, err
}

type countingWriter struct {
	w   io.Writer
	n   int64
	crc uint32
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.crc = crc32.Update(c.crc, castagnoli, p[:n])
	return n, err
}

// pad zeroes the bytes between the end so far and start.
func (w *Writer) pad(start int64) error {
	if start == w.end {
		return nil
	}
	_, err := w.out.WriteAt(make([]byte, start-w.end), w.end)
	return err
}

// exactReader gives the left bytes of r and then wants its end.
type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left == 0 {
		var one [1]byte
		if n, err := io.ReadFull(e.r, one[:]); n > 0 {
			return 0, errors.New("more data than its shape has")
		} else if err != io.EOF {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF {
		err = nil
		if e.left > 0 {
			err = fmt.Errorf("data ends %d bytes before its shape does: %w", e.left, io.ErrUnexpectedEOF)
		}
	}
	return n, err
}
