package format

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFixtures: files of every format version stay readable for ever, with the
// contents that they were written with. -update writes those of the current
// version; files of older versions are never written again.
func TestFixtures(t *testing.T) {
	for _, c := range []struct {
		file       string
		opts       []WriteOption
		compressed []string
	}{
		{"v1.msz", nil, []string{"dict.target"}},
		{"v1-compressed.msz", []WriteOption{CompressTensors()}, []string{"dict.target", "t.f16", "t.i8"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := filepath.Join("testdata", c.file)
			written, want := small(t, c.opts...)
			if *update {
				if err := os.WriteFile(path, written, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			checkSmall(t, r, want, c.compressed)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := rewrite(t, r); !bytes.Equal(got, b) {
				t.Error("parse and write gave other bytes")
			}
		})
	}
}
