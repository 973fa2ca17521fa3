package format

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// tempFile is a file under construction beside the one it will replace.
type tempFile struct {
	*os.File
	target string
}

// createTemp opens path.tmpN for the final path. An existing path must be a
// regular file (through symbolic links, which stay) and is not touched.
func createTemp(path string) (*tempFile, error) {
	mode := fs.FileMode(0o666)
	exists := false
	if real, err := filepath.EvalSymlinks(path); err == nil {
		fi, err := os.Stat(real)
		if err != nil {
			return nil, fmt.Errorf("format: %w", err)
		}
		if !fi.Mode().IsRegular() {
			return nil, fmt.Errorf("format: %s: cannot be replaced: not a regular file", path)
		}
		path, mode, exists = real, fi.Mode().Perm(), true
	}
	for range 100 {
		f, err := os.OpenFile(fmt.Sprintf("%s.tmp%d", path, rand.Uint32()), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("format: %w", err)
		}
		t := &tempFile{f, path}
		if exists {
			if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.abort()
				return nil, fmt.Errorf("format: %w", err)
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("format: %s: no name left for a temporary file", path)
}

// commit syncs the file, renames it and syncs its folder.
func (t *tempFile) commit() error {
	err := t.Sync()
	if cerr := t.File.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(t.Name(), t.target)
	}
	if err != nil {
		os.Remove(t.Name())
		return err
	}
	return syncFolder(filepath.Dir(t.target))
}

func (t *tempFile) abort() {
	t.File.Close()
	os.Remove(t.Name())
}
