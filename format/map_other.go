//go:build !unix && !windows

package format

import (
	"io"
	"os"
)

// mapping is a file in memory, read as a whole where there is no mmap.
type mapping struct{ data []byte }

func openMap(path string) (*mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := mapSize(f); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return &mapping{b}, err
}

func (m *mapping) drop(offset, n int64) {}

func (m *mapping) close() error { return nil }
