package ops

import (
	goruntime "runtime"
	"sync/atomic"
	"unsafe"
)

// allocate returns n zero elements for the packed weights of owner: large
// ones outside Go's heap in huge pages where the system has them. Few rows read
// all weights once and are as fast as the memory and its page tables let them:
// in small pages a prefetch that needs a new one is often dropped. Measured
// with the MT size: 8 rows 1.2 to 1.3, one row 1.05, 64 rows 1.1 times as fast.
// The memory goes back when owner is collected.
func allocate[T float32 | uint16 | int8](owner *Linear, n int) []T {
	var t T
	size := n * int(unsafe.Sizeof(t))
	if size < hugePage {
		return make([]T, n)
	}
	pages := mapPages(size)
	if pages == nil {
		return make([]T, n)
	}
	mapped.Add(int64(len(pages)))
	goruntime.AddCleanup(owner, func(pages []byte) {
		mapped.Add(-int64(len(pages)))
		unmapPages(pages)
	}, pages)
	offset := -uintptr(unsafe.Pointer(&pages[0])) % hugePage
	return unsafe.Slice((*T)(unsafe.Pointer(&pages[offset])), n)
}

// mapped is the bytes of address space that packed weights take outside the
// heap.
var mapped atomic.Int64

// hugePage is the size of a huge page of amd64 and arm64.
const hugePage = 2 << 20
