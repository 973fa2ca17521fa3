package format

import (
	"fmt"
	"os"
)

// mapSize is the length of a file that fits into memory's addresses.
func mapSize(f *os.File) (int, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !fits(fi.Size()) {
		return 0, &UnsupportedError{f.Name(), fmt.Sprintf("file of %d bytes is beyond this machine's addresses", fi.Size())}
	}
	return int(fi.Size()), nil
}
