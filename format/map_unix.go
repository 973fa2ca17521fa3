//go:build unix

package format

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapping is a file in memory, read-only.
type mapping struct{ data []byte }

func openMap(path string) (*mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := mapSize(f)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return &mapping{data: []byte{}}, nil
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("format: %s: mmap: %w", path, err)
	}
	return &mapping{b}, nil
}

// drop releases the pages that lie wholly inside the range.
func (m *mapping) drop(offset, n int64) {
	page := int64(os.Getpagesize())
	from, to := (offset+page-1)/page*page, (offset+n)/page*page
	if from < to {
		// Advice: nothing depends on its success.
		_ = unix.Madvise(m.data[from:to], unix.MADV_DONTNEED)
	}
}

func (m *mapping) close() error {
	b := m.data
	m.data = nil
	if len(b) == 0 {
		return nil
	}
	return unix.Munmap(b)
}
