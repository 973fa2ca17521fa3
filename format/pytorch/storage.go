package pytorch

import (
	"archive/zip"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
)

// Storage is a run of elements that one or more tensors view. Tensors that
// share memory in Python have the same *Storage.
type Storage struct {
	Key      string // torch's name of the storage, "0"
	Location string // device it was saved from, "cpu", "cuda:0"
	DType    DType
	Elements int64

	// why says why tensors cannot be made of it, "" if they can.
	why string

	// file has the storage's bytes at offset; or, where offset is -1, its
	// member has them, compressed. Legacy files have no member.
	file   *File
	offset int64
	member *zip.File
}

// bytes returns the size of the storage.
func (s *Storage) bytes() int64 { return s.Elements * int64(s.DType.Size()) }

// place returns the place of the storage's byte pos.
func (s *Storage) place(pos int64) Place {
	p := Place{File: s.file.name, Offset: -1, MemberOffset: pos}
	if s.offset >= 0 {
		p.Offset = s.offset + pos
	}
	if s.member != nil {
		p.Member = s.member.Name
	}
	return p
}

// storages makes storages of the persistent ids in a pickle, each once.
type storages struct {
	byKey map[string]*Storage
	// find completes a new storage with where its bytes are.
	find func(*machine, *Storage) error
	// views are legacy parts of storages, by key.
	views map[string]*Object
}

func newStorages(find func(*machine, *Storage) error) *storages {
	return &storages{byKey: make(map[string]*Storage), find: find, views: make(map[string]*Object)}
}

// load returns the value of a persistent id: ("storage", class, key, location,
// elements), to which legacy files add a view (None, or key, offset and
// elements), or legacy files' ("module", class, source file, source), which
// stands for the class.
func (st *storages) load(m *machine, id any) (any, error) {
	t, ok := id.(*Tuple)
	if !ok || len(t.Items) < 2 {
		return nil, m.corrupt("a persistent id is %s, want a tuple", kind(id))
	}
	what, _ := t.Items[0].(string)
	if class, ok := t.Items[1].(*Global); ok && what == "module" {
		return class, nil
	}
	if what != "storage" || len(t.Items) < 5 || len(t.Items) > 6 {
		return nil, m.corrupt("a persistent id is %s that starts with %.40q, want 5 or 6 that start with \"storage\"", kind(t), what)
	}
	class, ok1 := t.Items[1].(*Global)
	key, ok2 := t.Items[2].(string)
	if n, ok := t.Items[2].(int64); ok {
		key, ok2 = strconv.FormatInt(n, 10), true
	}
	location, ok3 := t.Items[3].(string)
	n, ok4 := t.Items[4].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 || n < 0 || len(key) > maxName {
		return nil, m.corrupt("a persistent id of %s, %s, %s and %s, want class, key, location and size", kind(t.Items[1]), kind(t.Items[2]), kind(t.Items[3]), kind(t.Items[4]))
	}
	s, err := st.storage(m, class, key, location, n)
	if err != nil || len(t.Items) == 5 || t.Items[5] == nil {
		return s, err
	}
	return st.view(m, s, t.Items[5])
}

func (st *storages) storage(m *machine, class *Global, key, location string, n int64) (*Storage, error) {
	dtype := storageDTypes[class.Name]
	if top, _, _ := strings.Cut(class.Module, "."); top != "torch" {
		dtype = Invalid
	}
	if s := st.byKey[key]; s != nil {
		if s.DType != dtype || s.Elements != n {
			return nil, m.corrupt("storage %q has %d %s elements, and elsewhere %d %s elements", key, n, dtype, s.Elements, s.DType)
		}
		return s, nil
	}
	s := &Storage{Key: key, Location: location, DType: dtype, Elements: n, offset: -1}
	if dtype == Invalid {
		s.why = "storage class " + class.String()
	} else if n > math.MaxInt64/int64(dtype.Size()) {
		return nil, m.corrupt("storage %q has %d %s elements", key, n, dtype)
	}
	if err := st.find(m, s); err != nil {
		return nil, err
	}
	st.byKey[key] = s
	return s, m.charge(240)
}

// view returns an inert object that stands for a part of s: (key, offset,
// elements).
func (st *storages) view(m *machine, s *Storage, v any) (any, error) {
	t, ok := v.(*Tuple)
	if !ok || len(t.Items) != 3 {
		return nil, m.corrupt("a view of a storage is %s, want a tuple of 3", kind(v))
	}
	key, ok1 := t.Items[0].(string)
	offset, ok2 := t.Items[1].(int64)
	n, ok3 := t.Items[2].(int64)
	if !ok1 || !ok2 || !ok3 || offset < 0 || n < 0 || offset > s.Elements || n > s.Elements-offset {
		return nil, m.corrupt("a view of storage %q of %d elements: %v", s.Key, s.Elements, t.Items)
	}
	if o := st.views[key]; o != nil && m.views[o] == (view{s, offset, n}) {
		return o, nil
	}
	o := &Object{Module: "torch", Name: "Storage", Args: []any{s, offset, n}}
	st.views[key] = o
	m.views[o] = view{s, offset, n}
	return o, m.charge(400)
}

// checksumReader reads r, which has left bytes, and compares their CRC-32 when
// it has the last of them. It gives those only if the checksum is right, so that
// a caller who reads exactly as many bytes as there are learns of it too. A
// checksum of 0 is not compared: torch writes it where it was told not to
// compute any.
type checksumReader struct {
	r     io.Reader
	left  int64
	sum   uint32
	want  uint32
	place Place
}

func (c *checksumReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.want == 0 {
		return n, err
	}
	c.sum = crc32.Update(c.sum, crc32.IEEETable, b[:n])
	c.left -= int64(n)
	if c.left == 0 && c.sum != c.want {
		return 0, &CorruptError{c.place, "the checksum of its bytes is wrong: they are not those that were written"}
	}
	return n, err
}
