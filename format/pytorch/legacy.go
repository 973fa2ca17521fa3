package pytorch

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/big"
)

// A legacy file is a sequence of pickles,
//
//	magic number             0x1950a86a20f9469cfc6c
//	protocol version         1001
//	system information       {"protocol_version", "little_endian", "type_sizes"}
//	the object               storages are persistent ids
//	the keys of storages     a list, in the order of what follows
//
// and then, for each key, the number of elements as a 64-bit integer and the
// elements.

const legacyVersion = 1001

// legacyMagic is the number that the first pickle holds, little-endian.
var legacyMagic = []byte{0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19}

// legacyMagicText is the first pickle by protocols 0 and 1, which torch uses
// only if it is told to.
const legacyMagicText = "L119547037146038801333356L\n."

// hasLegacyMagic looks for a pickle that is the magic number.
func hasLegacyMagic(head []byte) bool {
	if bytes.HasPrefix(head, []byte(legacyMagicText)) {
		return true
	}
	if len(head) < 3 || head[0] != 0x80 || head[1] < 2 || head[1] > 5 {
		return false
	}
	head = head[2:]
	if len(head) > 9 && head[0] == 0x95 { // a frame
		head = head[9:]
	}
	return len(head) >= 12 && head[0] == 0x8a && head[1] == 10 && bytes.Equal(head[2:12], legacyMagic)
}

// openLegacy reads the pickles of a legacy file and finds its storages.
func (f *File) openLegacy() (any, error) {
	in := newInput(io.NewSectionReader(f.r, 0, f.size), f.size, f.name, "", 0)
	st := newStorages(func(m *machine, s *Storage) error {
		s.file = f
		if s.why != "" {
			return m.unsupported("%s", s.why) // the next storage cannot be found
		}
		if s.Elements > f.size/int64(s.DType.Size()) {
			return m.corrupt("storage %q of %d %s elements, in a file of %d bytes", s.Key, s.Elements, s.DType, f.size)
		}
		return nil
	})
	m := newMachine(in, st.load)
	if err := m.legacyHeader(); err != nil {
		return nil, err
	}
	root, err := m.run()
	if err != nil {
		return nil, err
	}
	start := in.pos
	keys, err := m.run()
	if err != nil {
		return nil, err
	}
	list, ok := keys.(*List)
	if !ok {
		return nil, in.corrupt(start, "the keys of storages are %s, want a list", kind(keys))
	}
	return root, f.findLegacy(in, st, list.Items)
}

// legacyHeader reads the three pickles before the object.
func (m *machine) legacyHeader() error {
	magic, err := m.run()
	if err != nil {
		return err
	}
	if n, ok := magic.(*big.Int); !ok || n.Sign() < 0 {
		return m.corrupt("the magic number is %s", kind(magic))
	}
	version, err := m.run()
	if err != nil {
		return err
	}
	if n, ok := version.(int64); !ok || n != legacyVersion {
		return m.unsupported("protocol version %v of the legacy container, want %d", version, legacyVersion)
	}
	info, err := m.run()
	if err != nil {
		return err
	}
	d, ok := info.(*Dict)
	if !ok {
		return m.corrupt("the system information is %s, want a dictionary", kind(info))
	}
	if little, ok := d.Get("little_endian"); ok && little == false {
		return m.unsupported("a big-endian file; load it with torch on a little-endian machine and save it again")
	}
	return nil
}

// findLegacy finds the storages of the keys, which follow one another from the
// input's position to the end of the file.
func (f *File) findLegacy(in *input, st *storages, keys []any) error {
	pos := in.pos
	for i, k := range keys {
		key, ok := k.(string)
		s := st.byKey[key]
		if !ok || s == nil || s.offset >= 0 {
			return in.corrupt(pos, "storage key %d of %d, %.40q, is not one of the %d that the pickle names, or is there twice", i, len(keys), key, len(st.byKey))
		}
		var b [8]byte
		if f.size-pos < 8 {
			return in.corrupt(f.size, "the file is cut off before storage %q, %d of %d (download or copy it again)", key, i, len(keys))
		}
		if _, err := f.r.ReadAt(b[:], pos); err != nil {
			return f.failed(pos, err)
		}
		if n := binary.LittleEndian.Uint64(b[:]); n != uint64(s.Elements) {
			return in.corrupt(pos, "storage %q has %d elements, and %d in the pickle", key, n, s.Elements)
		}
		if pos += 8; s.bytes() > f.size-pos {
			return in.corrupt(f.size, "the file is cut off in storage %q, %d of %d (download or copy it again)", key, i, len(keys))
		}
		s.offset = pos
		pos += s.bytes()
	}
	if len(keys) != len(st.byKey) {
		return in.corrupt(pos, "%d storages follow the pickle, which names %d", len(keys), len(st.byKey))
	}
	if pos != f.size {
		return in.corrupt(pos, "%d bytes after the last storage", f.size-pos)
	}
	return nil
}
