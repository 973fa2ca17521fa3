package onnx

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// windowSize is how much of a file is held while its structure is walked.
const windowSize = 64 << 10

// source is a file whose structure is walked through a small window.
type source struct {
	r    io.ReaderAt
	size int64
	name string

	window []byte // bytes [at, at+len(window))
	at     int64

	left int64             // bytes that may still be allocated for the structure
	seen map[string]string // operator types, domains and attribute names, kept once
}

func newSource(r io.ReaderAt, size int64, name string) *source {
	return &source{r: r, size: size, name: name, left: 3*size + 1<<20, seen: make(map[string]string)}
}

func (s *source) corrupt(off int64, format string, args ...any) error {
	return &CorruptError{File: s.name, Offset: off, What: fmt.Sprintf(format, args...)}
}

func (s *source) unsupported(off int64, format string, args ...any) error {
	return &UnsupportedError{File: s.name, Offset: off, What: fmt.Sprintf(format, args...)}
}

// charge accounts for n bytes about to be allocated at off. Real models keep
// far below the limit; it stops files made of millions of empty messages.
func (s *source) charge(off, n int64) error {
	if n > s.left {
		return s.corrupt(off, "more structure than a file of %d bytes can describe", s.size)
	}
	s.left -= n
	return nil
}

// peek returns the bytes from off on, at most n of them and at least one
// unless off is the end. They are valid until the next call.
func (s *source) peek(off, n int64) ([]byte, error) {
	n = min(n, s.size-off)
	if off < s.at || off+n > s.at+int64(len(s.window)) {
		if s.window == nil {
			s.window = make([]byte, min(windowSize, s.size))
		}
		// The window starts a little before off: fields are walked twice.
		start := max(0, min(off, s.size-windowSize))
		s.window = s.window[:cap(s.window)]
		got, err := s.r.ReadAt(s.window[:min(int64(len(s.window)), s.size-start)], start)
		s.at, s.window = start, s.window[:got]
		if int64(got) < off+n-start {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			s.window = s.window[:0]
			return nil, fmt.Errorf("onnx: %q: byte %d: %w", s.name, start, err)
		}
	}
	return s.window[off-s.at:][:n], nil
}

// field is one field of a message: its payload [off, off+n) if it is bytes,
// its value otherwise.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	start int64 // of the tag
	off   int64 // of the payload or value
	n     int64 // payload length, bytes only
	value uint64
}

// cursor walks the fields of the message [off, end).
type cursor struct {
	*source
	off, end int64
}

func (s *source) fields(off, n int64) cursor { return cursor{s, off, off + n} }

// next returns the next field; ok is false at the message's end.
func (c *cursor) next() (f field, ok bool, err error) {
	if c.off >= c.end {
		return f, false, nil
	}
	b, err := c.peek(c.off, min(20, c.end-c.off))
	if err != nil {
		return f, false, err
	}
	f.start = c.off
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, false, c.corrupt(c.off, "field tag: %v", protowire.ParseError(n))
	}
	f.num, f.typ, f.off = num, typ, c.off+int64(n)
	b = b[n:]
	switch typ {
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(b)
		f.value = uint64(v)
	case protowire.Fixed64Type:
		f.value, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		var v uint64
		v, n = protowire.ConsumeVarint(b)
		if n >= 0 {
			f.off += int64(n)
			if v > uint64(c.end-f.off) {
				return f, false, c.corrupt(f.start, "field %d is %d bytes, %d are left", num, v, c.end-f.off)
			}
			f.n = int64(v)
			c.off = f.off + f.n
			return f, true, nil
		}
	default:
		return f, false, c.corrupt(f.start, "field %d has wire type %d", num, typ)
	}
	if n < 0 {
		return f, false, c.corrupt(f.off, "field %d: %v", num, protowire.ParseError(n))
	}
	c.off = f.off + int64(n)
	return f, true, nil
}

// want checks the wire type of a field that is used.
func (c *cursor) want(f field, typ protowire.Type, what string) error {
	if f.typ != typ {
		return c.corrupt(f.start, "%s has wire type %d, want %d", what, f.typ, typ)
	}
	return nil
}

// message returns a cursor over a field that is a message.
func (c *cursor) message(f field, what string) (cursor, error) {
	return cursor{c.source, f.off, f.off + f.n}, c.want(f, protowire.BytesType, what)
}

// str returns a field that is a string.
func (c *cursor) str(f field, what string) (string, error) {
	if err := c.want(f, protowire.BytesType, what); err != nil {
		return "", err
	}
	if f.n == 0 {
		return "", nil
	}
	if err := c.charge(f.start, f.n); err != nil {
		return "", err
	}
	if f.n <= windowSize {
		b, err := c.peek(f.off, f.n)
		return string(b), err
	}
	b := make([]byte, f.n)
	if _, err := c.r.ReadAt(b, f.off); err != nil {
		return "", fmt.Errorf("onnx: %q: byte %d: %w", c.name, f.off, err)
	}
	return string(b), nil
}

// word returns a string that occurs often: it is kept once.
func (c *cursor) word(f field, what string) (string, error) {
	if f.typ != protowire.BytesType || f.n > 64 {
		return c.str(f, what)
	}
	b, err := c.peek(f.off, f.n)
	if err != nil {
		return "", err
	}
	if s, ok := c.seen[string(b)]; ok {
		return s, nil
	}
	s, err := c.str(f, what)
	if err == nil {
		err = c.charge(f.start, 48)
		c.seen[s] = s
	}
	return s, err
}

// counts returns how often each of the fields 1…maxCounted occurs in the
// message: what is kept of it is then allocated once.
func (c cursor) counts() (counts [maxCounted + 1]int, err error) {
	for {
		f, ok, err := c.next()
		if err != nil || !ok {
			return counts, err
		}
		if f.num <= maxCounted {
			counts[f.num]++
		}
	}
}

const maxCounted = 25

// numbers appends the values of a repeated varint field, packed or not.
func (c *cursor) numbers(list []int64, f field, what string) ([]int64, error) {
	if f.typ == protowire.VarintType {
		return append(list, int64(f.value)), c.charge(f.start, 8)
	}
	if err := c.want(f, protowire.BytesType, what); err != nil {
		return list, err
	}
	n, err := c.countVarints(f.off, f.n, what)
	if err != nil {
		return list, err
	}
	if err := c.charge(f.start, 8*n); err != nil {
		return list, err
	}
	if list == nil {
		list = make([]int64, 0, n)
	}
	err = c.varints(f.off, f.n, func(v uint64) bool {
		list = append(list, int64(v))
		return true
	})
	return list, err
}

// varints calls fn with each of the packed varints in [off, off+n) until it
// returns false.
func (s *source) varints(off, n int64, fn func(uint64) bool) error {
	for end := off + n; off < end; {
		b, err := s.peek(off, min(windowSize, end-off))
		if err != nil {
			return err
		}
		for len(b) >= 10 || off+int64(len(b)) == end && len(b) > 0 {
			v, k := protowire.ConsumeVarint(b)
			if k < 0 {
				return s.corrupt(off, "packed number: %v", protowire.ParseError(k))
			}
			if !fn(v) {
				return nil
			}
			b = b[k:]
			off += int64(k)
		}
	}
	return nil
}

func (s *source) countVarints(off, n int64, what string) (count int64, err error) {
	run := 0 // bytes of the current number
	for end := off + n; off < end; {
		b, err := s.peek(off, min(windowSize, end-off))
		if err != nil {
			return 0, err
		}
		for i, v := range b {
			if run++; run == 10 && v > 1 {
				return 0, s.corrupt(off+int64(i), "%s has a number beyond 64 bits", what)
			}
			if v < 0x80 {
				count++
				run = 0
			}
		}
		off += int64(len(b))
		if off == end && b[len(b)-1] >= 0x80 {
			return 0, s.corrupt(off-1, "%s ends inside a number", what)
		}
	}
	return count, nil
}
