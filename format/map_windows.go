package format

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
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
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("format: %s: CreateFileMapping: %w", path, err)
	}
	defer windows.CloseHandle(h) // the view keeps the mapping
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, fmt.Errorf("format: %s: MapViewOfFile: %w", path, err)
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	return &mapping{unsafe.Slice((*byte)(p), size)}, nil
}

// drop does nothing: Windows trims a mapped file's pages by itself.
func (m *mapping) drop(offset, n int64) {}

func (m *mapping) close() error {
	b := m.data
	m.data = nil
	if len(b) == 0 {
		return nil
	}
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(&b[0])))
}
