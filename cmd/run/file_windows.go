package main

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the file for this process, until it closes it or ends. The
// locked byte lies far beyond the file's end: Windows keeps others from
// reading what is locked.
func lock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
}

// syncFolder does nothing: the system orders a rename by itself.
func syncFolder(string) error { return nil }

// brokenPipe reports whether a write failed because the reader is gone.
func brokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
