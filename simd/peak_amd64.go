//go:build !purego

package simd

import "time"

func peakFMAAVX2(n int) int      { return pieces(peakFMAY, n, 24*16) }
func peakFMAAVX512(n int) int    { return pieces(peakFMAZ, n, 48*32) }
func peakI8AVXVNNI(n int) int    { return pieces(peakI8Y, n, 24*64) }
func peakI8AVX512VNNI(n int) int { return pieces(peakI8Z, n, 48*128) }
func peakBF16AVX512(n int) int   { return pieces(peakBF16Z, n, 48*64) }

func readAVX2(p []byte, stride, n int)   { readY(&p[0], stride, n) }
func readAVX512(p []byte, stride, n int) { readZ(&p[0], stride, n) }

// bfloatIsFast tells whether a VDPBF16PS takes less time than the two multiply-adds it stands for, with
// something left for widening the weights. It takes some 50 µs.
func bfloatIsFast() bool {
	least := func(f func(n int)) time.Duration {
		d := time.Hour
		for range 5 {
			start := time.Now()
			callPeak(f, 200)
			d = min(d, time.Since(start))
		}
		return d
	}
	return 2*least(peakBF16Z) < 3*least(peakFMAZ)
}
