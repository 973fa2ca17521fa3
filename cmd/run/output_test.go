package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// disk is a file on a device with room for size bytes.
type disk struct {
	data   []byte
	size   int
	closed bool
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.size-len(d.data))
	d.data = append(d.data, p[:n]...)
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *disk) Truncate(n int64) error { d.data = d.data[:n]; return nil }
func (d *disk) Sync() error            { return nil }

// Seek tells the end, where all is written.
func (d *disk) Seek(int64, int) (int64, error) { return int64(len(d.data)), nil }

func (d *disk) Close() error { d.closed = true; return nil }

func unpack(t *testing.T, name string, b []byte) string {
	t.Helper()
	r, _, err := decompress(name, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Records of two lines; the disk may be full at any byte.
func TestFullDisk(t *testing.T) {
	var records []string
	whole := ""
	for i := range 40 {
		r := fmt.Sprintf("%d %s\nb\n", i, strings.Repeat("x", i%7))
		records, whole = append(records, r), whole+r
	}
	for size := range len(whole) {
		d := &disk{size: size}
		o := newOutput("out", d, nil)
		o.file = d
		var err error
		for i, r := range records {
			if err = o.add([]byte(r)); err != nil {
				break
			}
			if i%9 == 8 {
				o.tick(time.Time{})
			}
		}
		if err == nil {
			err = o.finish()
		} else if ferr := o.abandon(); ferr != err {
			t.Fatalf("got error %v after %v, want the first to stay", ferr, err)
		}
		var w *writeError
		if !errors.As(err, &w) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("disk of %d bytes: got error %v, want no space left", size, err)
		}
		want := strings.Join(records[:w.lines], "")
		if string(d.data) != want || len(want)+len(records[w.lines]) <= size {
			t.Fatalf("disk of %d bytes: got %q and %d lines, want all complete records that fit", size, d.data, w.lines)
		}
		if !d.closed {
			t.Fatal("the file was not closed")
		}
	}
}

func TestFullDiskKeepsWholeFrames(t *testing.T) {
	for _, name := range []string{"out.gz", "out.zst"} {
		record := func(i int) string { return fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", i%1000)) }
		write := func(size int) (*disk, int, error) {
			d := &disk{size: size}
			pack, err := newFrames(name)
			if err != nil {
				t.Fatal(err)
			}
			o := newOutput(name, d, pack)
			o.file = d
			for i := range 1000 {
				if err := o.add([]byte(record(i))); err != nil {
					return d, o.lines, err
				}
			}
			err = o.finish()
			return d, o.lines, err
		}
		full, lines, err := write(1 << 30)
		if err != nil || lines != 1000 {
			t.Fatalf("%s: got %d lines, error %v, want 1000", name, lines, err)
		}
		for size := 0; size < len(full.data); size += 1 + len(full.data)/12 {
			d, lines, err := write(size)
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%s of %d bytes: got error %v, want no space left", name, size, err)
			}
			want := ""
			for i := range lines {
				want += record(i)
			}
			if len(d.data) == 0 {
				if lines != 0 {
					t.Errorf("%s of %d bytes is empty, %d lines are said to be in it", name, size, lines)
				}
				continue
			}
			if got := unpack(t, name, d.data); got != want {
				t.Errorf("%s of %d bytes: got %d bytes of text, want the %d of %d lines", name, size, len(got), len(want), lines)
			}
		}
	}
}

func TestFramesEndAtTheSameRecords(t *testing.T) {
	for _, name := range []string{"out.gz", "out.zst"} {
		var d disk
		d.size = 1 << 30
		pack, err := newFrames(name)
		if err != nil {
			t.Fatal(err)
		}
		o := newOutput(name, &d, pack)
		var ends []int
		for i := range 3000 {
			if err := o.add([]byte(strings.Repeat("y", 99) + "\n")); err != nil {
				t.Fatal(err)
			}
			if i%100 == 7 {
				o.tick(time.Now()) // does not end a frame
			}
			if n := o.lines; len(ends) == 0 || n != ends[len(ends)-1] {
				ends = append(ends, n)
			}
		}
		each := (frameText + 99) / 100
		if fmt.Sprint(ends) != fmt.Sprint([]int{0, each, 2 * each}) {
			t.Errorf("%s: frames end at lines %v, want every %d", name, ends, each)
		}
	}
}

func TestEmptyOutputs(t *testing.T) {
	for _, name := range []string{"out", "out.gz", "out.zst"} {
		d := &disk{size: 1 << 20}
		pack, err := newFrames(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := newOutput(name, d, pack).finish(); err != nil {
			t.Fatal(err)
		}
		if got := unpack(t, name, d.data); got != "" {
			t.Errorf("%s: got %q, want nothing", name, got)
		}
		if (len(d.data) == 0) != (pack == nil) {
			t.Errorf("%s: got %d bytes, want a frame if it is compressed", name, len(d.data))
		}
	}
}

// The reference implementations of both formats read what is written: many
// members, many frames.
func TestPackedOutputIsStandard(t *testing.T) {
	text := strings.Repeat("Ein Mann mit einem Hut.\n", 20_000)
	for _, name := range []string{"out.gz", "out.zst"} {
		d := &disk{size: 1 << 30}
		pack, err := newFrames(name)
		if err != nil {
			t.Fatal(err)
		}
		o := newOutput(name, d, pack)
		for _, l := range strings.SplitAfter(text, "\n") {
			if l != "" {
				if err := o.add([]byte(l)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := o.finish(); err != nil {
			t.Fatal(err)
		}
		var r io.Reader
		if name == "out.gz" {
			r, err = gzip.NewReader(bytes.NewReader(d.data))
		} else {
			r, err = zstd.NewReader(bytes.NewReader(d.data))
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != text {
			t.Errorf("%s: got %d bytes, error %v, want %d", name, len(got), err, len(text))
		}
	}
}

type gone struct{}

func (gone) Write(p []byte) (int, error) { return 0, syscall.EPIPE }

func TestReaderGone(t *testing.T) {
	o := newOutput("stdout", gone{}, nil)
	o.each = true
	if err := o.add([]byte("a\n")); !errors.Is(err, errReaderGone) {
		t.Errorf("got error %v, want %v", err, errReaderGone)
	}
}

// A tail is cut where it was written, and only if nothing follows it.
func TestCutTail(t *testing.T) {
	for _, flag := range []int{os.O_TRUNC, os.O_APPEND, 0} {
		path := writeFile(t, filepath.Join(t.TempDir(), "f"), "before\n")
		f, err := os.OpenFile(path, os.O_WRONLY|flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want := map[int]string{os.O_TRUNC: "ab", os.O_APPEND: "before\nab", 0: "abcdre\n"}[flag]
		if _, err := f.WriteString("abcd"); err != nil {
			t.Fatal(err)
		}
		cutTail(f, 2)
		if got := readFile(t, path); got != want {
			t.Errorf("flag %#x: got %q, want %q", flag, got, want)
		}
	}
}
