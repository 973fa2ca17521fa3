package ops

import "golang.org/x/sys/unix"

// mapPages returns zero memory of size bytes and one huge page more, so that
// it can be used from the first multiple of a huge page on; nil if the system
// has none.
func mapPages(size int) []byte {
	pages, err := unix.Mmap(-1, 0, size+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	unix.Madvise(pages, unix.MADV_HUGEPAGE) // without them it is plain memory
	return pages
}

func unmapPages(pages []byte) { unix.Munmap(pages) }
