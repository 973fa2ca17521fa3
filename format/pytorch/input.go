package pytorch

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// input is the byte stream that pickles are read from: a member of a zip
// archive, or a legacy file from its start. It knows how many bytes there are,
// so that a length in the stream can be compared with them, and where it is.
type input struct {
	r    *bufio.Reader
	pos  int64 // bytes consumed
	size int64 // bytes in all

	file, member string
	base         int64 // offset of byte 0 in the file, -1 if compressed
	scratch      [8]byte
}

// newInput returns an input of the size bytes that r gives.
func newInput(r io.Reader, size int64, file, member string, base int64) *input {
	return &input{r: bufio.NewReaderSize(r, 64<<10), size: size, file: file, member: member, base: base}
}

// place returns the place of the stream's byte pos.
func (in *input) place(pos int64) Place {
	p := Place{File: in.file, Member: in.member, Offset: -1, MemberOffset: pos}
	if in.base >= 0 {
		p.Offset = in.base + pos
	}
	return p
}

func (in *input) corrupt(pos int64, format string, args ...any) error {
	return &CorruptError{in.place(pos), fmt.Sprintf(format, args...)}
}

func (in *input) unsupported(pos int64, format string, args ...any) error {
	return &UnsupportedError{in.place(pos), fmt.Sprintf(format, args...)}
}

// failed makes an error of one that reading met at pos.
func (in *input) failed(pos int64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return in.corrupt(pos, "the pickle is cut off: %d bytes are there and it goes on", in.size)
	}
	var corrupt *CorruptError
	if errors.As(err, &corrupt) { // a checksum: it says where
		return err
	}
	return fmt.Errorf("pytorch: %s: %w", in.place(pos), err)
}

// left returns the number of bytes that have not been consumed.
func (in *input) left() int64 { return in.size - in.pos }

func (in *input) byte() (byte, error) {
	if in.left() <= 0 {
		return 0, in.failed(in.pos, io.EOF)
	}
	b, err := in.r.ReadByte()
	if err != nil {
		return 0, in.failed(in.pos, err)
	}
	in.pos++
	return b, nil
}

// uint reads a little-endian unsigned integer of n bytes, n <= 8.
func (in *input) uint(n int) (uint64, error) {
	if in.left() < int64(n) {
		return 0, in.failed(in.pos, io.EOF)
	}
	in.scratch = [8]byte{}
	if _, err := io.ReadFull(in.r, in.scratch[:n]); err != nil {
		return 0, in.failed(in.pos, err)
	}
	in.pos += int64(n)
	return binary.LittleEndian.Uint64(in.scratch[:]), nil
}

// bytes reads n bytes. It allocates no more than is there: n is compared with
// the bytes left, and where those are only promised (a compressed member),
// memory grows with what arrives.
func (in *input) bytes(n uint64) ([]byte, error) {
	if n > uint64(in.left()) {
		return nil, in.corrupt(in.pos, "a string of %d bytes, and %d bytes are left", n, in.left())
	}
	const step = 1 << 20
	var b []byte
	for have := uint64(0); have < n; {
		part := n - have
		if in.base < 0 && part > step {
			part = step
		}
		b = append(b, make([]byte, part)...)
		if _, err := io.ReadFull(in.r, b[have:]); err != nil {
			return nil, in.failed(in.pos, err)
		}
		have += part
		in.pos += int64(part)
	}
	return b, nil
}

// line reads up to and without the next newline, at most limit bytes.
func (in *input) line(limit int) ([]byte, error) {
	var b []byte
	for start := in.pos; ; {
		c, err := in.byte()
		if err != nil {
			return nil, err
		}
		if c == '\n' {
			return b, nil
		}
		if len(b) == limit {
			return nil, in.corrupt(start, "a line of more than %d bytes", limit)
		}
		b = append(b, c)
	}
}
