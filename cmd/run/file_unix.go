//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the file for this process, until it closes it or ends.
func lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
			return nil // a file system without locks
		}
		return err
	}
}

// syncFolder makes the names in a folder durable. File systems that cannot
// sync a folder do not need it.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // a folder that may be written but not read
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// brokenPipe reports whether a write failed because the reader is gone.
func brokenPipe(err error) bool { return errors.Is(err, unix.EPIPE) }
