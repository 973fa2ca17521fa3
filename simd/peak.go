package simd

import goruntime "runtime"

// The loops here measure the machine. Each does a fixed amount of work and returns how much; the caller
// takes the time. They run with the set in use, so that the limit belongs to the kernels.

// PeakFMA runs about n thousand float32 operations of fused multiply-adds without memory access and
// returns the number of operations (two per element and multiply-add).
func PeakFMA(n int) (ops int) { return active.peakFMA(n) }

// PeakI8 is PeakFMA with the integer dot product (two operations per byte); 0 if the set has none.
func PeakI8(n int) (ops int) { return active.peakI8(n) }

// PeakBF16 is PeakFMA with the bfloat16 dot product (two operations per number); 0 if the set has none.
func PeakBF16(n int) (ops int) { return active.peakBF16(n) }

// ReadMemory loads every cache line of p once, as four streams in order (a product of one row reads its
// weights so), and returns the number of bytes read, len(p) rounded down to 1024. Over more than four times the last
// cache it measures DRAM, over less the cache that holds p.
func ReadMemory(p []byte) (bytes int) {
	quarter := len(p) / 1024 * 256
	for i := 0; i < quarter; i += piece / 4 {
		active.read(p[i:], quarter, min(piece/4, quarter-i))
	}
	return 4 * quarter
}

func peakFMAGeneric(n int) int {
	var l [8]float32
	for range n * 64 {
		for i := range l {
			l[i] = fma32(l[i], 0.5, 1)
		}
	}
	goruntime.KeepAlive(l[0]) // not left out as unused
	return n * 1024
}

func peakNone(int) int { return 0 }

func readGeneric(p []byte, stride, n int) {
	s := byte(0)
	for i := 0; i < n; i += 64 {
		s += p[i] + p[stride+i] + p[2*stride+i] + p[3*stride+i]
	}
	goruntime.KeepAlive(s)
}
