package safetensors

import (
	"math"
	"math/bits"
	"slices"
)

// elementBits are the sizes of the format's element types, in bits.
var elementBits = map[string]uint64{
	"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U8": 8, "BOOL": 8,
	"U64": 64, "U32": 32, "U16": 16, "C64": 64, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
	"F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}

// readable are the element types that Reader gives and Write takes.
var readable = []string{"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}

func isReadable(dtype string) bool { return slices.Contains(readable, dtype) }

// byteSize returns the size of a tensor of the given element type, whose size
// is known, and false if it overflows or is no whole number of bytes.
func byteSize(dtype string, shape []int) (int64, bool) {
	n := elementBits[dtype]
	if slices.Contains(shape, 0) {
		return 0, true
	}
	for _, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, false
		}
		n = lo
	}
	return int64(n / 8), n%8 == 0
}
