package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"memsizer/format"
)

// digests computes the SHA-256 of files while something else is done.
type digests struct {
	sums   []string
	err    error
	done   chan struct{}
	cancel context.CancelFunc
}

// digestAll starts the computation, one file after the other.
func digestAll(ctx context.Context, files []string) *digests {
	ctx, cancel := context.WithCancel(ctx)
	d := &digests{sums: make([]string, len(files)), done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(d.done)
		for i, path := range files {
			if d.sums[i], d.err = digest(ctx, path); d.err != nil {
				return
			}
		}
	}()
	return d
}

// wait waits for the sums.
func (d *digests) wait() ([]string, error) {
	<-d.done
	return d.sums, d.err
}

// stop gives up what is not computed yet.
func (d *digests) stop() {
	d.cancel()
	<-d.done
}

// withFiles is p with the names of the files and their sums; nil stands for
// sums not known yet, in the same space.
func withFiles(p format.Provenance, files, sums []string) format.Provenance {
	p.Sources = nil
	for i, path := range files {
		f := format.SourceFile{Name: strings.ToValidUTF8(filepath.Base(path), "\ufffd"), SHA256: strings.Repeat("0", 2*sha256.Size)}
		if sums != nil {
			f.SHA256 = sums[i]
		}
		p.Sources = append(p.Sources, f)
	}
	if len(p.Sources) == 1 {
		p.Source, p.SHA256, p.Sources = p.Sources[0].Name, p.Sources[0].SHA256, nil
	}
	return p
}

// digest is the SHA-256 of a file in hexadecimal.
func digest(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.CopyBuffer(h, contextReader{ctx, f}, make([]byte, 1<<20)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contextReader stops when the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
