package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// compressor makes frames that are the same on every machine: one thread, a
// window within maxWindow, no checksum of its own. Its memory is taken when it
// is first used.
type compressor struct {
	level zstd.EncoderLevel
	e     *zstd.Encoder
}

func (c *compressor) init() (err error) {
	if c.e != nil {
		return nil
	}
	c.e, err = zstd.NewWriter(nil,
		zstd.WithEncoderLevel(c.level),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(1<<20),
		zstd.WithEncoderCRC(false),
	)
	return err
}

// compress writes the size bytes of src as one frame to dst. Empty content
// has none.
func (c *compressor) compress(dst io.Writer, src io.Reader, size int64) error {
	if err := c.init(); err != nil {
		return err
	}
	c.e.ResetContentSize(dst, size)
	if _, err := io.Copy(c.e, src); err != nil {
		return err
	}
	return c.e.Close()
}

// worth reports whether content of size bytes may be stored as a frame of
// stored bytes; see checkStored.
func worth(stored, size int64) bool { return checkStored(true, stored, size) == nil }

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecodeAllCapLimit(true),
	)
})

// decompress unpacks a frame whose content has exactly size bytes. Size is at
// most maxRatio times the frame.
func decompress(frame []byte, size int64) ([]byte, error) {
	if err := checkFrame(frame, size); err != nil {
		return nil, err
	}
	d, err := decoder()
	if err != nil {
		return nil, err
	}
	out, err := d.DecodeAll(frame, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if int64(len(out)) != size {
		return nil, fmt.Errorf("zstd: %d bytes of content, want %d", len(out), size)
	}
	return out, nil
}

// checkFrame wants exactly one frame that declares size bytes of content and
// a window within maxWindow, and needs no dictionary. It walks the blocks
// without decoding them.
func checkFrame(b []byte, size int64) error {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	switch {
	case h.Skippable:
		return errors.New("zstd: skippable frame")
	case h.DictionaryID != 0:
		return fmt.Errorf("zstd: frame needs the dictionary %d", h.DictionaryID)
	case !h.HasFCS || h.FrameContentSize != uint64(size):
		return fmt.Errorf("zstd: frame declares %d bytes of content, want %d", h.FrameContentSize, size)
	case window > maxWindow:
		return fmt.Errorf("zstd: window of %d bytes, want at most %d", window, maxWindow)
	}
	at := h.HeaderSize
	for last := false; !last; {
		if len(b)-at < 3 {
			return io.ErrUnexpectedEOF
		}
		block := int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16
		at += 3
		last = block&1 != 0
		n := block >> 3
		if block>>1&3 == 1 { // one byte, repeated
			n = 1
		}
		if n > len(b)-at {
			return io.ErrUnexpectedEOF
		}
		at += n
	}
	if h.HasCheckSum {
		at += 4
	}
	if at != len(b) {
		return fmt.Errorf("zstd: frame of %d bytes, stored are %d", at, len(b))
	}
	return nil
}

// compressText packs a small section in memory, or returns nil where that is
// not worth while.
func (c *compressor) compressText(data []byte) ([]byte, error) {
	if len(data) < minCompressed {
		return nil, nil
	}
	var b bytes.Buffer
	if err := c.compress(&b, bytes.NewReader(data), int64(len(data))); err != nil {
		return nil, err
	}
	if !worth(int64(b.Len()), int64(len(data))) {
		return nil, nil
	}
	return b.Bytes(), nil
}
