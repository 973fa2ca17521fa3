//go:build unix

package main

import (
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// peakMemory is the largest resident size of the process so far, in bytes.
func peakMemory() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if goruntime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10 // elsewhere in KiB
}
