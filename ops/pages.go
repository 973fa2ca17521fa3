package ops

import (
	goruntime "runtime"
	"sync/atomic"
	"unsafe"
)

// allocate returns n zero elements for the packed weights of owner: large
// ones outside Go's heap in huge pages where the system has them, because one
// row reads all weights once and is as fast as the memory and its page tables
// are. The memory goes back when owner is collected.
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
