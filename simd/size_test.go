package simd

import goruntime "runtime"

// enough returns the size of a test: all on amd64, where tests run natively, and fewer on the architectures
// that are tested under emulation, which takes a hundred times as long. Every variant runs everywhere.
func enough(all, emulated int) int {
	if goruntime.GOARCH == "amd64" {
		return all
	}
	return emulated
}
