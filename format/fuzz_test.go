package format

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// FuzzReader: no panic, no memory beyond what the file can hold, only the two
// kinds of error, and a valid file is written back to the same bytes.
func FuzzReader(f *testing.F) {
	for _, opts := range [][]WriteOption{nil, {CompressTensors()}} {
		b, _ := small(f, opts...)
		f.Add(b, false)
		f.Add(b, true)
	}
	for _, c := range malformedFiles(f) {
		if len(c.b) < 1<<12 {
			f.Add(c.b, false)
		}
	}
	fixtures, _ := filepath.Glob("testdata/*.msz")
	for _, name := range fixtures {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, repair bool) {
		if repair {
			// Reach what lies behind the header's checksum.
			b = repaired(b)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			err = r.Verify()
		}
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(3*maxRatio*len(b)+64<<20); got > limit {
			t.Errorf("allocated %d bytes for a file of %d, limit %d", got, len(b), limit)
		}
		if err != nil {
			var c *CorruptError
			var u *UnsupportedError
			if !errors.As(err, &c) && !errors.As(err, &u) {
				t.Fatalf("error %v is neither corrupt nor unsupported", err)
			}
			return
		}
		if again := rewrite(t, r); !bytes.Equal(again, b) {
			t.Error("parse and write gave other bytes")
		}
	})
}

// repaired sets the lengths and the checksum in the preamble.
func repaired(b []byte) []byte {
	if len(b) < preambleSize {
		return b
	}
	p := parsePreamble(b)
	if p.headerLength > uint64(len(b)-preambleSize) {
		p.headerLength = uint64(len(b) - preambleSize)
	}
	p.fileLength = uint64(len(b))
	out := p.appendTo(nil, b[preambleSize:preambleSize+p.headerLength])
	return append(out, b[preambleSize:]...)
}

// FuzzFrame: any bytes as a compressed section of any size.
func FuzzFrame(f *testing.F) {
	f.Add(frame(f, bytes.Repeat([]byte("abc"), 500)), uint32(1500))
	f.Add(declared(1000, rle(1000, true)), uint32(1000))
	f.Add(moreThanDeclared(f), uint32(1000))
	f.Fuzz(func(t *testing.T, b []byte, size uint32) {
		if !worth(int64(len(b)), int64(size)) {
			return
		}
		out, err := decompress(b, int64(size))
		if err == nil && len(out) != int(size) {
			t.Errorf("%d bytes, want %d", len(out), size)
		}
	})
}
