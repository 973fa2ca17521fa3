//go:build !purego && (amd64 || arm64)

package simd

// pieces runs a loop of the assembly of about n·1024 operations, with each call short enough for the
// garbage collector; round is the operations of one turn.
func pieces(f func(n int), n, round int) int {
	turns := n*1024/round + 1
	for left := turns; left > 0; left -= 4096 {
		callPeak(f, min(left, 4096))
	}
	return turns * round
}

//go:noinline
func callPeak(f func(n int), n int) { f(n) }
