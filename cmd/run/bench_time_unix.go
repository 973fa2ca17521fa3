//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what the process has used of all cores so far.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}
