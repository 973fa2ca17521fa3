package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// inputFile is one file of the input.
type inputFile struct {
	name  string // "-" for stdin
	stdin io.Reader
	info  os.FileInfo // nil if stdin is no file
	start int64       // of stdin: its offset when the program began
}

// openInputs looks at the files, so that a missing one is found before work
// begins. No names mean stdin.
func openInputs(names []string, stdin io.Reader) ([]*inputFile, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	var files []*inputFile
	used := false
	for _, name := range names {
		f := &inputFile{name: name}
		if name == "-" {
			if used {
				return nil, usageError{errors.New(`"-" is given twice, stdin can be read once`)}
			}
			used = true
			f.stdin = stdin
			if s, ok := stdin.(*os.File); ok {
				f.info, _ = s.Stat()
				if f.regular() {
					f.start, _ = s.Seek(0, io.SeekCurrent)
				}
			}
		} else {
			h, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			f.info, err = h.Stat()
			h.Close()
			if err != nil {
				return nil, err
			}
			if f.info.IsDir() {
				return nil, fmt.Errorf("%s: is a folder", name)
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// regular reports whether the file can be read again.
func (f *inputFile) regular() bool { return f.info != nil && f.info.Mode().IsRegular() }

// size is the number of bytes to read, -1 if it is not known.
func (f *inputFile) size() int64 {
	if !f.regular() {
		return -1
	}
	return max(f.info.Size()-f.start, 0)
}

// open returns the stored bytes.
func (f *inputFile) open() (io.ReadCloser, error) {
	if f.name != "-" {
		return os.Open(f.name)
	}
	if s, ok := f.stdin.(*os.File); ok && f.regular() {
		if _, err := s.Seek(f.start, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(f.stdin), nil
}

// describe is the file's name in messages.
func (f *inputFile) describe() string {
	if f.name == "-" {
		return "stdin"
	}
	return f.name
}

// input is the lines of files, one file after the other.
type input struct {
	files []*inputFile
	read  atomic.Int64 // stored bytes, so far
	text  atomic.Int64 // bytes of the lines, so far

	packed atomic.Bool // some file is compressed

	next int // file to open
	line int // in the current file, 1-based
	raw  io.ReadCloser
	open io.ReadCloser // raw, unpacked
	r    *lineReader
}

// inputLine is a line and where it stands.
type inputLine struct {
	rawLine
	file *inputFile
	line int // 1-based
}

const byteOrderMark = "\ufeff"

// text is the line without its end and, at the start of a file, without a
// byte order mark.
func (l inputLine) text() string {
	s := l.rawLine.text()
	if l.line == 1 {
		s = strings.TrimPrefix(s, byteOrderMark)
	}
	return s
}

// nextLine returns io.EOF after the last line of the last file.
func (in *input) nextLine() (inputLine, error) {
	for {
		if in.r == nil {
			if in.next == len(in.files) {
				return inputLine{}, io.EOF
			}
			if err := in.openNext(); err != nil {
				return inputLine{}, err
			}
		}
		f := in.files[in.next-1]
		l, err := in.r.next()
		if err == nil {
			in.line++
			in.text.Add(l.size())
			return inputLine{l, f, in.line}, nil
		}
		if err != io.EOF {
			return inputLine{}, fmt.Errorf("reading %s after line %d: %w", f.describe(), in.line, err)
		}
		in.close()
	}
}

func (in *input) openNext() error {
	f := in.files[in.next]
	raw, err := f.open()
	if err != nil {
		return err
	}
	text, packed, err := decompress(f.name, &countingReader{raw, &in.read})
	if packed {
		in.packed.Store(true)
	}
	if err != nil {
		raw.Close()
		return fmt.Errorf("reading %s: %w", f.describe(), err)
	}
	in.raw, in.open, in.line = raw, text, 0
	in.r = newLineReader(text)
	in.next++
	return nil
}

func (in *input) close() {
	if in.r == nil {
		return
	}
	in.open.Close()
	in.raw.Close()
	in.r = nil
}

// size is the number of stored bytes of all files, -1 if it is not known.
func (in *input) size() int64 {
	var sum int64
	for _, f := range in.files {
		n := f.size()
		if n < 0 {
			return -1
		}
		sum += n
	}
	return sum
}

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// maxZstdWindow bounds the memory that a compressed file may ask for; it is
// what the zstd tool takes by default.
const maxZstdWindow = 128 << 20

// decompress unpacks gzip and zstd, known by the name's suffix or by the
// first bytes. It reads no more than it needs to tell.
func decompress(name string, r io.Reader) (text io.ReadCloser, packed bool, err error) {
	b := bufio.NewReaderSize(r, 64<<10)
	switch {
	case strings.HasSuffix(name, ".gz") || startsWith(b, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, true, fmt.Errorf("gzip: %w", err)
		}
		return z, true, nil
	case strings.HasSuffix(name, ".zst") || startsWith(b, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, true, fmt.Errorf("zstd: %w", err)
		}
		return z.IOReadCloser(), true, nil
	}
	return io.NopCloser(b), false, nil
}

// startsWith compares byte by byte: at a terminal the first line may be
// shorter than the magic number.
func startsWith(b *bufio.Reader, magic string) bool {
	for i := range len(magic) {
		p, err := b.Peek(i + 1)
		if err != nil || p[i] != magic[i] {
			return false
		}
	}
	return true
}
