package main

import (
	"bytes"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// frames packs text into gzip members or zstd frames, each complete in
// itself. The same text gives the same bytes.
type frames interface {
	pack(text []byte) ([]byte, error)
}

// frameText is the number of bytes after which a frame ends, at the end of a
// record. Frames end at the same records however often a run was interrupted.
const frameText = 128 << 10

// newFrames chooses by the suffix of a file name; nil means no compression.
func newFrames(name string) (frames, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		f := &gzipFrames{}
		f.w = gzip.NewWriter(&f.buf)
		return f, nil
	case strings.HasSuffix(name, ".zst"):
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithWindowSize(256<<10))
		return &zstdFrames{w: w}, err
	}
	return nil, nil
}

type gzipFrames struct {
	w   *gzip.Writer
	buf bytes.Buffer
}

func (f *gzipFrames) pack(text []byte) ([]byte, error) {
	f.buf.Reset()
	f.w.Reset(&f.buf)
	if _, err := f.w.Write(text); err != nil {
		return nil, err
	}
	if err := f.w.Close(); err != nil {
		return nil, err
	}
	return f.buf.Bytes(), nil
}

type zstdFrames struct {
	w   *zstd.Encoder
	buf []byte
}

func (f *zstdFrames) pack(text []byte) ([]byte, error) {
	f.buf = f.w.EncodeAll(text, f.buf[:0])
	return f.buf, nil
}
