package main

import (
	"bufio"
	"io"
	"strings"
)

// maxLine is the number of bytes of a line that are kept, so that a file
// without line ends does not fill the memory: a word of so many letters takes
// half a gigabyte to be split into pieces.
const maxLine = 4 << 20

// rawLine is a line as it stands in a file.
type rawLine struct {
	raw     string // with its line end, if it has one
	dropped int64  // bytes beyond maxLine
}

// text is the line without LF or CRLF.
func (l rawLine) text() string {
	return strings.TrimSuffix(strings.TrimSuffix(l.raw, "\n"), "\r")
}

// size is the number of bytes in the file.
func (l rawLine) size() int64 { return int64(len(l.raw)) + l.dropped }

// lineReader splits a stream at LF. Any bytes may stand in a line; the last
// one need not end with LF.
type lineReader struct {
	r   *bufio.Reader
	max int
	buf []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: maxLine}
}

// next returns io.EOF after the last line.
func (l *lineReader) next() (rawLine, error) {
	part, err := l.r.ReadSlice('\n')
	if err == nil { // the usual case
		return rawLine{raw: string(part)}, nil
	}
	l.buf = l.buf[:0]
	var dropped int64
	for {
		keep := min(len(part), l.max-len(l.buf))
		l.buf = append(l.buf, part[:keep]...)
		dropped += int64(len(part) - keep)
		if err != bufio.ErrBufferFull {
			break
		}
		part, err = l.r.ReadSlice('\n')
	}
	if err == io.EOF && len(l.buf) > 0 {
		err = nil
	}
	if err != nil {
		return rawLine{}, err
	}
	line := rawLine{raw: string(l.buf), dropped: dropped}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	return line, nil
}
