package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openFresh makes the output file of a job that starts at its first line.
func openFresh(path string) (*output, error) {
	pack, err := newFrames(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return newOutput(path, f, pack), nil
}

// openJournalled continues the output at path if its journal belongs to this
// job, or begins both. It returns the place where it continues.
func openJournalled(path string, id *jobIdentity) (*output, point, error) {
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		return nil, point{}, usageError{fmt.Errorf("--resume needs a regular file, %s is none", path)}
	}
	j, was, at, err := openJournal(path + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		o, err := beginJournalled(path, id)
		return o, point{}, err
	}
	if err != nil {
		return nil, at, err
	}
	o, err := continueJournalled(path, j, was, id, at)
	if err != nil {
		j.close()
		return nil, at, withHint(err, "to translate everything again, remove %s", j.path)
	}
	return o, at, nil
}

func beginJournalled(path string, id *jobIdentity) (*output, error) {
	j, err := createJournal(path+journalSuffix, id)
	if err != nil {
		return nil, err
	}
	o, err := openFresh(path)
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		j.close()
		return nil, err
	}
	o.keep(j, point{}, sha256.New(), sha256.New())
	return o, nil
}

func continueJournalled(path string, j *journal, was, id *jobIdentity, at point) (*output, error) {
	if d := was.differences(id); d != nil {
		return nil, fmt.Errorf("%s belongs to another job: %s", j.path, strings.Join(d, "; "))
	}
	pack, err := newFrames(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) && at.Offset == 0 { // killed before it was made
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, err
	}
	written := sha256.New()
	if err := cutTo(f, at, written); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o := newOutput(path, f, pack)
	o.keep(j, at, sha256.New(), written) // the caller feeds the first hash, see feed.skip
	return o, nil
}

// cutTo checks the file up to the point and drops what follows.
func cutTo(f *os.File, at point, written hash.Hash) error {
	n, err := io.CopyN(written, f, at.Offset)
	if err == io.EOF {
		return fmt.Errorf("has %d bytes, %d were written by the run that is to be continued", n, at.Offset)
	}
	if err != nil {
		return err
	}
	if at.Offset > 0 && sum(written) != at.Output {
		return fmt.Errorf("its first %d bytes have changed since the run that is to be continued", at.Offset)
	}
	if err := f.Truncate(at.Offset); err != nil {
		return err
	}
	_, err = f.Seek(at.Offset, io.SeekStart)
	return err
}
