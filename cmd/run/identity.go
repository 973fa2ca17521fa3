package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
)

// identify describes input files. Those that can be read again are read
// once, whole.
func identify(files []*inputFile) ([]fileIdentity, error) {
	var ids []fileIdentity
	for _, f := range files {
		id := fileIdentity{Name: f.name, Size: f.size()}
		if f.regular() {
			r, err := f.open()
			if err != nil {
				return nil, err
			}
			id.SHA256, err = digest(r)
			r.Close()
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", f.describe(), err)
			}
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// digestFile is the SHA-256 of a file in hexadecimal.
func digestFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return digest(f)
}

func digest(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.CopyBuffer(h, r, make([]byte, 1<<20)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
