package format

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A frame of fewer than 256 bytes may not say how many there are, so short
// content is stored plain; at every length the writer's form is the reader's.
func TestContentOfEveryShortLength(t *testing.T) {
	c := compressor{level: zstd.SpeedBestCompression}
	for n := range 600 {
		data := bytes.Repeat([]byte("ab"), 300)[:n]
		frame, err := c.compressText(data)
		if err != nil {
			t.Fatal(err)
		}
		if frame == nil {
			if n >= 2*minCompressed {
				t.Errorf("%d bytes of two letters were not compressed", n)
			}
			continue
		}
		got, err := decompress(frame, int64(n))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %v, %d bytes back", n, err, len(got))
		}
	}
}
