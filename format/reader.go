package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
)

// Reader gives access to a .msz file: its header at once, its data when asked
// for. It may be used by several goroutines.
type Reader struct {
	path string
	dir  *directory
	size int64
	data []byte // the whole file when it is mapped
	src  io.ReaderAt
	file *mapping

	sections, tensors map[string]int // name to position
}

// Open maps the file into memory and checks its structure as [NewReader]
// does. Data of plain tensors then points into the map. The file must not be
// cut while it is open.
func Open(path string) (*Reader, error) {
	// Before opening it, as a pipe would wait for its other end.
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("format: %s: not a regular file", path)
	}
	m, err := openMap(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(path, m.data, bytes.NewReader(m.data), int64(len(m.data)))
	if err != nil {
		m.close()
		return nil, err
	}
	r.file = m
	return r, nil
}

// NewReader reads a file of size bytes through src. It checks everything but
// the sections' checksums: those are checked with each section that is asked
// for, or all together by [Reader.Verify]. Errors about the file are a
// [*CorruptError] or an [*UnsupportedError].
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	return newReader("", nil, src, size)
}

func newReader(path string, data []byte, src io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{path: path, data: data, src: src, size: size}
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	end, err := r.dir.place()
	if err != nil {
		return nil, r.corrupt("", preambleSize, "header: %w", err)
	}
	if end != size {
		return nil, r.corrupt("", -1, "sections end at byte %d, the file has %d bytes", end, size)
	}
	r.sections = make(map[string]int, len(r.dir.sections))
	for i, s := range r.dir.sections {
		r.sections[s.Name] = i
	}
	r.tensors = make(map[string]int, len(r.dir.tensors))
	for i, t := range r.dir.tensors {
		r.tensors[t.Name] = i
	}
	return r, r.checkPadding()
}

func (r *Reader) corrupt(name string, offset int64, f string, args ...any) error {
	return &CorruptError{Path: r.path, Tensor: name, Offset: offset, What: fmt.Errorf(f, args...).Error()}
}

func (r *Reader) readHeader() error {
	head, err := r.stored(0, min(max(r.size, 0), preambleSize))
	if err != nil {
		return err
	}
	if n := min(len(head), len(Magic)); string(head[:n]) != Magic[:n] {
		return r.corrupt("", 0, "not a .msz file: starts with %q, want %q", head[:n], Magic)
	}
	if len(head) < preambleSize {
		return r.corrupt("", -1, "file of %d bytes, want at least %d", r.size, preambleSize)
	}
	p := parsePreamble(head)
	if p.version == 0 {
		return r.corrupt("", 8, "container version 0")
	}
	if p.version != Version {
		return &UnsupportedError{r.path, fmt.Sprintf("container version %d, this program reads %d", p.version, Version)}
	}
	if p.fileLength != uint64(r.size) {
		return r.corrupt("", 24, "file of %d bytes, its header says %d", r.size, p.fileLength)
	}
	if p.headerLength > maxHeader || int64(p.headerLength) > r.size-preambleSize {
		return r.corrupt("", 16, "header of %d bytes in a file of %d, want at most %d", p.headerLength, r.size, maxHeader)
	}
	header, err := r.stored(preambleSize, int64(p.headerLength))
	if err != nil {
		return err
	}
	if crc := headerCRC(head, header); crc != p.headerCRC {
		return r.corrupt("", 12, "header's checksum is %08x, want %08x", crc, p.headerCRC)
	}
	r.dir, err = decodeDirectory(header)
	if errors.Is(err, errRevision) {
		return &UnsupportedError{r.path, err.Error()}
	}
	if err != nil {
		return r.corrupt("", preambleSize, "%w", err)
	}
	return nil
}

// checkPadding reads the bytes between the sections; they are zero.
func (r *Reader) checkPadding() error {
	end := preambleSize + int64(r.dir.headerLength)
	check := func(name string, offset, stored int64) error {
		pad, err := r.stored(end, offset-end)
		if err != nil {
			return err
		}
		for i, b := range pad {
			if b != 0 {
				return r.corrupt(name, end+int64(i), "padding before it has the byte 0x%02x", b)
			}
		}
		end = offset + stored
		return nil
	}
	for _, s := range r.dir.sections {
		if err := check(s.Name, s.Offset, s.StoredSize); err != nil {
			return err
		}
	}
	for _, t := range r.dir.tensors {
		if err := check(t.Name, t.Offset, t.StoredSize); err != nil {
			return err
		}
	}
	return nil
}

// stored returns n bytes of the file, which has them.
func (r *Reader) stored(offset, n int64) ([]byte, error) {
	if r.data != nil {
		return r.data[offset : offset+n : offset+n], nil
	}
	if !fits(n) {
		return nil, &UnsupportedError{r.path, fmt.Sprintf("section of %d bytes on a machine of %d-bit addresses", n, 32<<(^uint(0)>>63))}
	}
	b := make([]byte, n)
	if _, err := r.src.ReadAt(b, offset); err != nil && !(err == io.EOF && n == 0) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("format: %sreading %d bytes at %d: %w", place(r.path, ""), n, offset, err)
	}
	return b, nil
}

// Header is what the file says about its model. It must not be changed.
func (r *Reader) Header() *Header { return &r.dir.header }

// Tensors lists the tensors in file order. It must not be changed.
func (r *Reader) Tensors() []TensorInfo { return r.dir.tensors }

// Sections lists the named sections in file order. It must not be changed.
func (r *Reader) Sections() []SectionInfo { return r.dir.sections }

// Size is the file's length in bytes.
func (r *Reader) Size() int64 { return r.size }

// Section returns the content of a named section, its checksum verified. It
// is read-only. The error wraps fs.ErrNotExist when there is none of that
// name.
func (r *Reader) Section(name string) ([]byte, error) {
	i, ok := r.sections[name]
	if !ok {
		return nil, fmt.Errorf("format: %ssection %q: %w", place(r.path, ""), name, fs.ErrNotExist)
	}
	s := &r.dir.sections[i]
	return r.content(s.Name, s.Offset, s.StoredSize, s.Size, s.Compressed, s.CRC32C)
}

// content reads, verifies and unpacks.
func (r *Reader) content(name string, offset, stored, size int64, compressed bool, crc uint32) ([]byte, error) {
	b, err := r.stored(offset, stored)
	if err != nil {
		return nil, err
	}
	if got := crc32.Checksum(b, castagnoli); got != crc {
		return nil, r.corrupt(name, offset, "checksum is %08x, want %08x", got, crc)
	}
	if !compressed {
		return b, nil
	}
	if !fits(size) {
		return nil, &UnsupportedError{r.path, fmt.Sprintf("%q has %d bytes", name, size)}
	}
	if b, err = decompress(b, size); err != nil {
		return nil, r.corrupt(name, offset, "%w", err)
	}
	return b, nil
}

// Tensor returns a tensor, its checksum verified. The error wraps
// fs.ErrNotExist when there is none of that name.
func (r *Reader) Tensor(name string) (*Tensor, error) {
	i, ok := r.tensors[name]
	if !ok {
		return nil, fmt.Errorf("format: %stensor %q: %w", place(r.path, ""), name, fs.ErrNotExist)
	}
	t := &Tensor{TensorInfo: r.dir.tensors[i]}
	var err error
	if t.Data, err = r.content(t.Name, t.Offset, t.StoredSize, t.Size, t.Compressed, t.CRC32C); err != nil {
		return nil, err
	}
	if t.DType == I8 {
		return t, r.splitScales(t)
	}
	return t, nil
}

// splitScales takes the scales off the front of an I8 tensor's content and
// checks that the content is one that a Writer could have written.
func (r *Reader) splitScales(t *Tensor) error {
	rows := t.Shape[0]
	pad := scalesSize(rows)
	head := t.Data[:pad]
	t.Data = t.Data[pad:]
	t.Scales = make([]float32, rows)
	for i := range t.Scales {
		s := math.Float32frombits(binary.LittleEndian.Uint32(head[4*i:]))
		if !validScale(s) {
			return r.corrupt(t.Name, t.Offset, "scale of row %d is %v, want it positive and finite", i, s)
		}
		t.Scales[i] = s
	}
	for i, b := range head[4*rows:] {
		if b != 0 {
			return r.corrupt(t.Name, t.Offset, "padding after the scales has the byte 0x%02x at %d", b, 4*rows+i)
		}
	}
	if i := bytes.IndexByte(t.Data, 0x80); i >= 0 {
		return r.corrupt(t.Name, t.Offset, "element %d is -128, want -127 to 127", i)
	}
	return nil
}

func validScale(s float32) bool { return s > 0 && s <= math.MaxFloat32 }

// Drop tells the system that the pages of a plain tensor's data need not stay
// in memory: they are read again from the file if they are used again. It does
// nothing where the file is not mapped.
func (r *Reader) Drop(name string) {
	if i, ok := r.tensors[name]; ok && r.file != nil {
		t := &r.dir.tensors[i]
		r.file.drop(t.Offset, t.StoredSize)
	}
}

// DropRows is Drop for rows lo to hi of a tensor, its first dimension.
func (r *Reader) DropRows(name string, lo, hi int) {
	i, ok := r.tensors[name]
	if !ok || r.file == nil {
		return
	}
	t := &r.dir.tensors[i]
	if len(t.Shape) == 0 || t.Compressed || lo < 0 || lo >= hi || hi > t.Shape[0] {
		return
	}
	size := int64(t.DType.Size())
	for _, n := range t.Shape[1:] {
		size *= int64(n)
	}
	start := t.Offset
	if t.DType == I8 {
		start += int64(scalesSize(t.Shape[0]))
	}
	r.file.drop(start+int64(lo)*size, int64(hi-lo)*size)
}

// Verify checks every checksum, unpacks every compressed section and returns
// everything that is wrong, joined.
func (r *Reader) Verify() error {
	var errs []error
	for _, s := range r.dir.sections {
		if _, err := r.Section(s.Name); err != nil {
			errs = append(errs, err)
		}
	}
	for _, t := range r.dir.tensors {
		if _, err := r.Tensor(t.Name); err != nil {
			errs = append(errs, err)
		}
		r.Drop(t.Name)
	}
	return errors.Join(errs...)
}

// Close unmaps the file. Data of its sections and tensors must not be used
// afterwards.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	m := r.file
	r.file, r.data, r.src = nil, nil, closedReader{}
	return m.close()
}

type closedReader struct{}

func (closedReader) ReadAt([]byte, int64) (int, error) { return 0, os.ErrClosed }
