package pytorch

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A torch archive is a zip file of
//
//	PREFIX/data.pkl              the pickle of the object
//	PREFIX/data/KEY              the bytes of storage KEY
//	PREFIX/version               "3", a newline
//	PREFIX/byteorder             "little" or "big"; absent before torch 2.1
//	PREFIX/.data/serialization_id, .format_version, .storage_alignment
//
// Members are stored, not compressed, and torch pads their local headers so
// that storages are aligned. Compressed members, as a repacked archive has
// them, are read too.

const (
	maxVersion      = 10      // of the archive, torch's own limit
	maxPickle       = 1 << 30 // bytes of data.pkl
	maxPickleExpand = 256     // times that data.pkl may be larger than its compressed bytes
	maxShort        = 64      // bytes of version and byteorder
)

// archive is a torch zip archive while its pickle is read.
type archive struct {
	file    *File
	prefix  string // with its slash
	members map[string]*zip.File
}

// openArchive reads the pickle of a zip archive.
func (f *File) openArchive() (any, error) {
	z, err := zip.NewReader(f.r, f.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, zip.ErrFormat) || err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, f.corrupt(f.size, "the zip archive is cut off: its directory, which ends it, is not there (file of %d bytes; download or copy it again)", f.size)
		}
		return nil, f.failed(f.size, err)
	}
	a := &archive{file: f, members: make(map[string]*zip.File, len(z.File))}
	stored, pickle := int64(0), ""
	for _, m := range z.File {
		if a.members[m.Name] != nil {
			return nil, &CorruptError{f.memberPlace(m), "the archive has this member twice"}
		}
		a.members[m.Name] = m
		if m.CompressedSize64 > uint64(f.size-stored) {
			return nil, &CorruptError{f.memberPlace(m), fmt.Sprintf("the members up to this one, of %d bytes, need more than the file's %d bytes", m.CompressedSize64, f.size)}
		}
		stored += int64(m.CompressedSize64)
		if prefix, ok := strings.CutSuffix(m.Name, "data.pkl"); ok && strings.IndexByte(prefix, '/') == len(prefix)-1 {
			if pickle != "" {
				return nil, &CorruptError{f.memberPlace(m), fmt.Sprintf("the archive has %q too", pickle)}
			}
			pickle, a.prefix = m.Name, prefix
		}
	}
	if pickle == "" {
		return nil, f.unsupported(-1, "%s", zipLikeness(z.File))
	}
	if a.members[a.prefix+"constants.pkl"] != nil {
		return nil, f.unsupported(-1, "%s", torchScript)
	}
	if err := a.checkFormat(); err != nil {
		return nil, err
	}
	return a.readPickle()
}

// checkFormat reads what the archive says about its format.
func (a *archive) checkFormat() error {
	if m := a.members[a.prefix+"byteorder"]; m != nil {
		order, err := a.short(m)
		if err != nil {
			return err
		}
		if order == "big" {
			return &UnsupportedError{a.file.memberPlace(m), "a big-endian file; load it with torch on a little-endian machine and save it again"}
		}
		if order != "little" {
			return &CorruptError{a.file.memberPlace(m), fmt.Sprintf("byte order %q, want \"little\"", order)}
		}
	}
	m := a.members[a.prefix+"version"]
	if m == nil {
		return nil
	}
	s, err := a.short(m)
	if err != nil {
		return err
	}
	v, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return &CorruptError{a.file.memberPlace(m), fmt.Sprintf("archive version %q, want a number", s)}
	}
	if v > maxVersion {
		return &UnsupportedError{a.file.memberPlace(m), fmt.Sprintf("archive version %d, at most %d", v, maxVersion)}
	}
	return nil
}

// short returns the content of a member of a few bytes.
func (a *archive) short(m *zip.File) (string, error) {
	if m.UncompressedSize64 > maxShort {
		return "", &CorruptError{a.file.memberPlace(m), fmt.Sprintf("%d bytes, at most %d", m.UncompressedSize64, maxShort)}
	}
	r, _, err := a.file.member(m)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxShort))
	if err != nil {
		return "", a.file.memberFailed(m, err)
	}
	return string(b), nil
}

func (a *archive) readPickle() (any, error) {
	m := a.members[a.prefix+"data.pkl"]
	size := m.UncompressedSize64
	if size > maxPickle || m.Method != zip.Store && size > 1<<20+maxPickleExpand*m.CompressedSize64 {
		return nil, &CorruptError{a.file.memberPlace(m), fmt.Sprintf("a pickle of %d bytes, compressed to %d", size, m.CompressedSize64)}
	}
	r, offset, err := a.file.member(m)
	if err != nil {
		return nil, err
	}
	in := newInput(r, int64(size), a.file.name, m.Name, offset)
	machine := newMachine(in, newStorages(a.storage).load)
	root, err := machine.run()
	if err != nil {
		return nil, err
	}
	if in.left() != 0 {
		return nil, in.corrupt(in.pos, "%d bytes after the end of the pickle", in.left())
	}
	// Going to the end makes a compressed member's checksum compared.
	if _, err := in.r.ReadByte(); err != nil && err != io.EOF {
		return nil, a.file.memberFailed(m, err)
	}
	return root, nil
}

// storage finds the member that holds a storage.
func (a *archive) storage(m *machine, s *Storage) error {
	name := a.prefix + "data/" + s.Key
	z := a.members[name]
	if z == nil {
		return m.corrupt("storage %q: the archive has no member %q", s.Key, name)
	}
	s.file, s.member = a.file, z
	size := uint64(s.DType.Size())
	if s.why != "" { // of an element size that is not known
		return nil
	}
	if n := uint64(s.Elements); n > math.MaxInt64/size || n*size != z.UncompressedSize64 {
		return m.corrupt("storage %q of %d %s elements: member %q has %d bytes", s.Key, s.Elements, s.DType, name, z.UncompressedSize64)
	}
	if z.Method == zip.Store {
		offset, err := a.file.stored(z)
		s.offset = offset
		return err
	}
	if z.Method != zip.Deflate {
		return &UnsupportedError{a.file.memberPlace(z), fmt.Sprintf("compression method %d", z.Method)}
	}
	s.offset = -1
	return nil
}

// member returns a reader of a member's bytes that compares their checksum at
// the end, and the offset of the first in the file, -1 if it is compressed.
func (f *File) member(m *zip.File) (io.Reader, int64, error) {
	switch m.Method {
	case zip.Store:
		offset, err := f.stored(m)
		if err != nil {
			return nil, 0, err
		}
		n := int64(m.UncompressedSize64)
		return &checksumReader{r: io.NewSectionReader(f.r, offset, n), left: n, want: m.CRC32, place: f.memberPlace(m)}, offset, nil
	case zip.Deflate:
		r, err := m.Open()
		if err != nil {
			return nil, 0, f.memberFailed(m, err)
		}
		return r, -1, nil
	}
	return nil, 0, &UnsupportedError{f.memberPlace(m), fmt.Sprintf("compression method %d", m.Method)}
}

// stored returns the offset in the file of a member that is not compressed.
func (f *File) stored(m *zip.File) (int64, error) {
	if m.CompressedSize64 != m.UncompressedSize64 {
		return 0, &CorruptError{f.memberPlace(m), fmt.Sprintf("stored in %d bytes, is %d bytes", m.CompressedSize64, m.UncompressedSize64)}
	}
	offset, err := m.DataOffset()
	if err != nil {
		return 0, f.memberFailed(m, err)
	}
	if offset < 0 || offset > f.size || m.UncompressedSize64 > uint64(f.size-offset) {
		return 0, &CorruptError{f.memberPlace(m), fmt.Sprintf("%d bytes at byte %d leave the file of %d bytes", m.UncompressedSize64, offset, f.size)}
	}
	return offset, nil
}

// memberPlace returns the place of a member as a whole.
func (f *File) memberPlace(m *zip.File) Place {
	p := Place{File: f.name, Member: m.Name, Offset: -1, MemberOffset: -1}
	if offset, err := m.DataOffset(); err == nil {
		p.Offset = offset
	}
	return p
}

// memberFailed makes an error of one that the zip package gave.
func (f *File) memberFailed(m *zip.File, err error) error {
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		return err
	}
	if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrChecksum) || err == io.EOF || err == io.ErrUnexpectedEOF || isFlate(err) {
		return &CorruptError{f.memberPlace(m), strings.TrimPrefix(err.Error(), "zip: ")}
	}
	return fmt.Errorf("pytorch: %s: %w", f.memberPlace(m), err)
}
