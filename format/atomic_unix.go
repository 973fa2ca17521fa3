//go:build unix

package format

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFolder makes a rename in the folder durable. File systems that cannot
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
