//go:build !purego

package simd

func peakFMANEON(n int) int   { return pieces(peakFMAN, n, 24*8) }
func peakI8NEONDot(n int) int { return pieces(peakI8D, n, 24*32) }

func readNEON(p []byte, stride, n int) { readN(&p[0], stride, n) }
