package format

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Magic is how every .msz file begins.
const Magic = "\x89MSZ\r\n\x1a\n"

const (
	preambleSize = 32
	crcStart     = 16 // the header's checksum covers the bytes from here on
	alignment    = 256
	maxHeader    = 100 << 20
	maxRank      = 8
	maxName      = 255
	maxEntry     = 1024 // bytes of JSON of one section or tensor
	maxPart      = 1 << 20
	maxRatio     = 256     // a compressed section's content to its stored bytes
	maxWindow    = 8 << 20 // zstd
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// preamble is the fixed part at the start of the file.
type preamble struct {
	version      uint32
	headerCRC    uint32
	headerLength uint64
	fileLength   uint64
}

// appendTo writes the 32 bytes before header and sets its checksum.
func (p *preamble) appendTo(dst, header []byte) []byte {
	start := len(dst)
	dst = append(dst, Magic...)
	dst = binary.LittleEndian.AppendUint32(dst, p.version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint64(dst, p.headerLength)
	dst = binary.LittleEndian.AppendUint64(dst, p.fileLength)
	p.headerCRC = headerCRC(dst[start:], header)
	binary.LittleEndian.PutUint32(dst[start+12:], p.headerCRC)
	return dst
}

func headerCRC(pre, header []byte) uint32 {
	crc := crc32.Update(0, castagnoli, pre[crcStart:preambleSize])
	return crc32.Update(crc, castagnoli, header)
}

func parsePreamble(b []byte) preamble {
	return preamble{
		version:      binary.LittleEndian.Uint32(b[8:]),
		headerCRC:    binary.LittleEndian.Uint32(b[12:]),
		headerLength: binary.LittleEndian.Uint64(b[16:]),
		fileLength:   binary.LittleEndian.Uint64(b[24:]),
	}
}

// align rounds n up to the next section boundary. n is at most 2⁶²: it comes
// from sizes that have been checked.
func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

const maxSize = 1 << 62

// contentSize is the number of bytes of a tensor's content, or an error for a
// shape that no tensor of that type has.
func contentSize(dtype DType, shape []int) (int64, error) {
	if int(dtype) >= len(dtypeSizes) {
		return 0, fmt.Errorf("unknown element type %d", uint8(dtype))
	}
	if len(shape) < 1 || len(shape) > maxRank {
		return 0, fmt.Errorf("shape of %d dimensions, want 1 to %d", len(shape), maxRank)
	}
	n := int64(dtype.Size())
	for _, d := range shape {
		if d < 1 {
			return 0, fmt.Errorf("shape %v has a dimension below 1", shape)
		}
		if int64(d) > maxSize/4/n {
			return 0, fmt.Errorf("shape %v is beyond any file", shape)
		}
		n *= int64(d)
	}
	if dtype == I8 {
		if len(shape) != 2 {
			return 0, fmt.Errorf("i8 tensor of shape %v, want a matrix", shape)
		}
		n += scalesSize(shape[0])
	}
	return n, nil
}

// scalesSize is the room for the scales before the values of an I8 matrix.
func scalesSize(rows int) int64 { return align(4 * int64(rows)) }

// checkName wants 1 to 255 printable ASCII characters other than space,
// quotation mark and backslash.
func checkName(s string) error {
	if len(s) < 1 || len(s) > maxName {
		return fmt.Errorf("name of %d bytes, want 1 to %d", len(s), maxName)
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return fmt.Errorf("name %q has the byte 0x%02x", s, c)
		}
	}
	return nil
}

// place gives every section and tensor its offset, in file order, and returns
// where the file ends. The sizes are at most maxSize.
func (d *directory) place() (int64, error) {
	end := preambleSize + int64(d.headerLength)
	next := func(name string, stored int64) (int64, error) {
		at := align(end)
		if stored > math.MaxInt64-alignment-at {
			return 0, fmt.Errorf("%q: its end is beyond any file", name)
		}
		end = at + stored
		return at, nil
	}
	var err error
	for i := range d.sections {
		s := &d.sections[i]
		if s.Offset, err = next(s.Name, s.StoredSize); err != nil {
			return 0, err
		}
	}
	for i := range d.tensors {
		t := &d.tensors[i]
		if t.Offset, err = next(t.Name, t.StoredSize); err != nil {
			return 0, err
		}
	}
	return end, nil
}
