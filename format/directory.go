package format

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// directory is the whole header of a file.
type directory struct {
	header       Header
	sections     []SectionInfo
	tensors      []TensorInfo
	headerLength int // of its JSON
}

// headerJSON is the header as it is written; doc.go describes it. The order
// of the fields is the order of the keys.
type headerJSON struct {
	Architecture int           `json:"architecture"`
	Quantization int           `json:"quantization"`
	Config       *Config       `json:"config"`
	Tokenization *Tokenization `json:"tokenization"`
	Provenance   *Provenance   `json:"provenance"`
	Sections     []sectionJSON `json:"sections"`
	Tensors      []tensorJSON  `json:"tensors"`
}

// headerParts is a header being read: the parts with lists of their own are
// limited in size before they are decoded.
type headerParts struct {
	Architecture int             `json:"architecture"`
	Quantization int             `json:"quantization"`
	Config       json.RawMessage `json:"config"`
	Tokenization json.RawMessage `json:"tokenization"`
	Provenance   json.RawMessage `json:"provenance"`
	Sections     []sectionJSON   `json:"sections"`
	Tensors      []tensorJSON    `json:"tensors"`
}

type sectionJSON struct {
	Name   string   `json:"name"`
	Size   int64    `json:"size"`
	Stored int64    `json:"stored,omitempty"` // only when compressed
	CRC    checksum `json:"crc"`
}

type tensorJSON struct {
	Name   string   `json:"name"`
	DType  DType    `json:"dtype"`
	Shape  []int    `json:"shape"`
	Stored int64    `json:"stored,omitempty"` // only when compressed
	CRC    checksum `json:"crc"`
}

// checksum is a CRC-32C written as eight lower-case hexadecimal digits, so
// that a header's length does not depend on the data.
type checksum uint32

func (c checksum) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `"%08x"`, uint32(c)), nil
}

func (c *checksum) UnmarshalJSON(b []byte) error {
	var v [4]byte
	if len(b) != 10 {
		return fmt.Errorf("checksum %.40q, want eight hexadecimal digits", b)
	}
	if _, err := hex.Decode(v[:], b[1:9]); err != nil {
		return fmt.Errorf("checksum %q, want eight hexadecimal digits", b)
	}
	*c = checksum(uint32(v[0])<<24 | uint32(v[1])<<16 | uint32(v[2])<<8 | uint32(v[3]))
	return nil
}

// UnmarshalJSON stops at the first entry that cannot be right, so that a list
// of nothing does not become memory.
func (s *sectionJSON) UnmarshalJSON(b []byte) error {
	type plain sectionJSON
	if len(b) > maxEntry {
		return fmt.Errorf("section entry of %d bytes, want at most %d", len(b), maxEntry)
	}
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	if err := checkName(s.Name); err != nil {
		return fmt.Errorf("section %w", err)
	}
	return nil
}

// UnmarshalJSON is as for sections.
func (t *tensorJSON) UnmarshalJSON(b []byte) error {
	type plain tensorJSON
	if len(b) > maxEntry {
		return fmt.Errorf("tensor entry of %d bytes, want at most %d", len(b), maxEntry)
	}
	if err := json.Unmarshal(b, (*plain)(t)); err != nil {
		return err
	}
	if err := checkName(t.Name); err != nil {
		return fmt.Errorf("tensor %w", err)
	}
	if _, err := contentSize(t.DType, t.Shape); err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return nil
}

// encode is the one valid form of the header's JSON.
func (d *directory) encode() ([]byte, error) {
	h := headerJSON{
		Architecture: d.header.Architecture,
		Quantization: d.header.Quantization,
		Config:       &d.header.Config,
		Tokenization: &d.header.Tokenization,
		Provenance:   &d.header.Provenance,
		Sections:     make([]sectionJSON, len(d.sections)),
		Tensors:      make([]tensorJSON, len(d.tensors)),
	}
	for i, s := range d.sections {
		h.Sections[i] = sectionJSON{s.Name, s.Size, 0, checksum(s.CRC32C)}
		if s.Compressed {
			h.Sections[i].Stored = s.StoredSize
		}
	}
	for i, t := range d.tensors {
		h.Tensors[i] = tensorJSON{t.Name, t.DType, t.Shape, 0, checksum(t.CRC32C)}
		if t.Compressed {
			h.Tensors[i].Stored = t.StoredSize
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&h); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// errRevision marks a file of a newer revision.
var errRevision = errors.New("newer revision")

// decodeDirectory reads a header. Its errors have no package prefix; those
// that wrap errRevision are about valid files of a newer revision.
func decodeDirectory(b []byte) (*directory, error) {
	var rev struct {
		Architecture int `json:"architecture"`
		Quantization int `json:"quantization"`
	}
	if err := json.Unmarshal(b, &rev); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for _, r := range []struct {
		name        string
		got, newest int
	}{{"architecture", rev.Architecture, Architecture}, {"quantization", rev.Quantization, Quantization}} {
		if r.got < 1 {
			return nil, fmt.Errorf("header: %s revision %d, want at least 1", r.name, r.got)
		}
		if r.got > r.newest {
			return nil, fmt.Errorf("%w: %s revision %d, this program reads up to %d", errRevision, r.name, r.got, r.newest)
		}
	}
	var p headerParts
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	d := &directory{headerLength: len(b)}
	d.header = Header{Container: Version, Architecture: p.Architecture, Quantization: p.Quantization}
	for _, part := range []struct {
		name string
		raw  json.RawMessage
		to   any
	}{
		{"config", p.Config, &d.header.Config},
		{"tokenization", p.Tokenization, &d.header.Tokenization},
		{"provenance", p.Provenance, &d.header.Provenance},
	} {
		if len(part.raw) == 0 || len(part.raw) > maxPart {
			return nil, fmt.Errorf("header: %s of %d bytes, want 1 to %d", part.name, len(part.raw), maxPart)
		}
		if err := json.Unmarshal(part.raw, part.to); err != nil {
			return nil, fmt.Errorf("header: %s: %w", part.name, err)
		}
	}
	d.adopt(&p)
	if err := d.canonical(b); err != nil {
		return nil, err
	}
	return d, d.check()
}

// adopt takes over the entries, whose shapes have been checked.
func (d *directory) adopt(p *headerParts) {
	d.sections = make([]SectionInfo, len(p.Sections))
	for i, s := range p.Sections {
		d.sections[i] = SectionInfo{Name: s.Name, Size: s.Size, StoredSize: s.Size, CRC32C: uint32(s.CRC)}
		if s.Stored != 0 {
			d.sections[i].StoredSize, d.sections[i].Compressed = s.Stored, true
		}
	}
	d.tensors = make([]TensorInfo, len(p.Tensors))
	for i, t := range p.Tensors {
		size, _ := contentSize(t.DType, t.Shape)
		d.tensors[i] = TensorInfo{Name: t.Name, DType: t.DType, Shape: t.Shape, Size: size, StoredSize: size, CRC32C: uint32(t.CRC)}
		if t.Stored != 0 {
			d.tensors[i].StoredSize, d.tensors[i].Compressed = t.Stored, true
		}
	}
}

// canonical compares the header with its own re-encoding.
func (d *directory) canonical(b []byte) error {
	again, err := d.encode()
	if err != nil {
		return err
	}
	if bytes.Equal(again, b) {
		return nil
	}
	i := 0
	for i < len(b) && i < len(again) && b[i] == again[i] {
		i++
	}
	return fmt.Errorf("header: not in its canonical form: %.40q at its byte %d, want %.40q", b[i:], i, again[i:])
}

// check verifies everything that the header alone can tell.
func (d *directory) check() error {
	if err := d.header.Config.Validate(); err != nil {
		return fmt.Errorf("header: %s", strings.TrimPrefix(err.Error(), "format: "))
	}
	if err := d.header.Provenance.validate(); err != nil {
		return fmt.Errorf("header: provenance: %w", err)
	}
	seen := make(map[string]bool, len(d.sections))
	for i := range d.sections {
		s := &d.sections[i]
		if seen[s.Name] {
			return fmt.Errorf("header: section %q is there twice", s.Name)
		}
		seen[s.Name] = true
		if s.Size < 0 || s.Size > maxSize {
			return fmt.Errorf("header: section %q: size %d", s.Name, s.Size)
		}
		if err := checkStored(s.Compressed, s.StoredSize, s.Size); err != nil {
			return fmt.Errorf("header: section %q: %w", s.Name, err)
		}
	}
	seen = make(map[string]bool, len(d.tensors))
	for i := range d.tensors {
		t := &d.tensors[i]
		if seen[t.Name] {
			return fmt.Errorf("header: tensor %q is there twice", t.Name)
		}
		seen[t.Name] = true
		if err := checkStored(t.Compressed, t.StoredSize, t.Size); err != nil {
			return fmt.Errorf("header: tensor %q: %w", t.Name, err)
		}
	}
	return nil
}

// minCompressed is the least content that is compressed: the header of a
// frame of fewer bytes may leave out their number.
const minCompressed = 256

// checkStored holds the stored size of a compressed section between the
// content's and a 256th of it, and the content at minCompressed or more.
func checkStored(compressed bool, stored, size int64) error {
	if !compressed {
		return nil
	}
	if stored < 1 || stored >= size {
		return fmt.Errorf("compressed to %d bytes, want fewer than its %d", stored, size)
	}
	if size < minCompressed {
		return fmt.Errorf("compressed content of %d bytes, fewer than %d are stored plain", size, minCompressed)
	}
	if (size-1)/maxRatio >= stored {
		return fmt.Errorf("%d bytes compressed to %d, want at most %d times less", size, stored, maxRatio)
	}
	return nil
}

func (p *Provenance) validate() error {
	if err := (SourceFile{p.Source, p.SHA256}).validate(); err != nil {
		return err
	}
	for _, s := range p.Sources {
		if err := s.validate(); err != nil {
			return err
		}
	}
	for _, s := range []string{p.Model, p.Converter, p.DTypePolicy} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%q is not UTF-8", s)
		}
	}
	return nil
}

func (s SourceFile) validate() error {
	if strings.ContainsAny(s.Name, `/\`) || !utf8.ValidString(s.Name) {
		return fmt.Errorf("source %q, want a file's base name in UTF-8", s.Name)
	}
	if s.SHA256 == "" {
		return nil
	}
	if b, err := hex.DecodeString(s.SHA256); err != nil || len(b) != 32 || strings.ToLower(s.SHA256) != s.SHA256 {
		return fmt.Errorf("sha256 %q, want 64 lower-case hexadecimal digits", s.SHA256)
	}
	return nil
}

// fits reports whether n bytes can be addressed by this program.
func fits(n int64) bool { return n >= 0 && n <= math.MaxInt-alignment }
