//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipes: a named pipe that nobody writes to is refused, not waited for.
func TestPipes(t *testing.T) {
	model, dir := tiny(t), t.TempDir()
	pipe, graph := filepath.Join(dir, "pipe.pt"), filepath.Join(dir, "pipe.onnx")
	for _, p := range []string{pipe, graph} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
	}
	for _, args := range [][]string{
		{"-o", filepath.Join(dir, "m.msz"), pipe},
		{"-o", filepath.Join(dir, "m.msz"), graph},
		{"-o", pipe, model},
		{"inspect", pipe},
		{"inspect", graph},
		{"verify", pipe, "-r", model},
		{"verify", model, "-r", pipe},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			r := command(t.Context(), args...)
			if r.code != 1 || r.stdout != "" || !strings.HasPrefix(r.stderr, "convert: error: ") {
				t.Errorf("%q: status %d, stdout %q, stderr %q; want 1 and an error", args, r.code, r.stdout, r.stderr)
			}
		})
	}
}
