package pytorch

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
)

// allocated returns the bytes that have been allocated since the start.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// openAnything opens b and reads every tensor: there may be an error, but no
// panic, and no more memory than the file justifies.
func openAnything(t *testing.T, b []byte) {
	before := allocated()
	f, err := openBytes(b)
	if used, limit := allocated()-before, uint64(256<<20+256*len(b)); used > limit {
		t.Fatalf("opening a file of %d bytes allocated %d bytes, want at most %d", len(b), used, limit)
	}
	if err != nil {
		if f != nil {
			t.Fatal("a file and an error")
		}
		if !strings.HasPrefix(err.Error(), `pytorch: "test.pt"`) {
			t.Fatalf("error %q does not name the file", err)
		}
		return
	}
	for i, w := range tensorsOf(f) {
		if w.tensor.Bytes() > max(w.tensor.Storage.bytes(), expandable) {
			t.Fatalf("%s has %d bytes, and its storage %d", w.path, w.tensor.Bytes(), w.tensor.Storage.bytes())
		}
		if i < 20 {
			n, err := io.Copy(io.Discard, w.tensor.Reader())
			if err == nil && n != w.tensor.Bytes() {
				t.Fatalf("%s gave %d bytes, want %d", w.path, n, w.tensor.Bytes())
			}
		}
	}
}

// FuzzOpen opens arbitrary files.
func FuzzOpen(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.pt")
	if err != nil || len(paths) == 0 {
		f.Fatal("no fixtures")
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("<html>"))
	f.Add([]byte("version https://git-lfs.github.com/spec/v1\n"))
	f.Fuzz(func(t *testing.T, b []byte) { openAnything(t, b) })
}

// FuzzPickle runs arbitrary pickles in an archive and in a legacy file. It gets
// much further than FuzzOpen, which rarely keeps an archive whole.
func FuzzPickle(f *testing.F) {
	for _, p := range []string{tensorPickle("K\x00", "K\x02K\x02\x86", "K\x01K\x02\x86"), "\x80\x04\x8c\x02os\x8c\x06system\x93.", "(lp0\nI1\nag0\na.", "\x80\x02cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\n(U\x02f8K\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbU\x0812345678\x86R."} {
		f.Add([]byte(p))
	}
	for _, path := range []string{"testdata/values-protocol2.pt", "testdata/values-protocol5.pt", "testdata/module.pt", "testdata/views.pt"} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		start := bytes.Index(b, []byte("\x80")) // protocol, the pickle's first byte
		f.Add(b[start : start+bytes.Index(b[start:], []byte("PK\x07\x08"))])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		openAnything(t, checkpointOf(t, string(b)))
		openAnything(t, []byte(legacyStart+legacyNumber+legacySystem+string(b)+legacyKeys+legacyCount+legacyContent))
	})
}

// FuzzGather reads arbitrary views of a small storage.
func FuzzGather(f *testing.F) {
	f.Add(uint8(1), uint16(0), uint8(3), uint8(4), uint8(5), uint8(1), uint8(3), uint8(12), uint16(64), uint16(32), uint16(8))
	f.Fuzz(func(t *testing.T, dtype uint8, offset uint16, a, b, c, sa, sb, sc uint8, block, window, gap uint16) {
		shape, strides := []int{int(a % 16), int(b % 16), int(c % 16)}, []int{int(sa), int(sb), int(sc)}
		d := DType(1 + dtype%uint8(len(dtypes)-1))
		if n, _ := product(shape); n == 0 {
			return
		}
		elements, _ := span(int64(offset), shape, strides)
		x := memoryTensor(elements, d, int64(offset), shape, strides)
		if x.Contiguous() {
			return
		}
		got, err := io.ReadAll(x.gather(limits{int64(block) + 1, int64(window) + 1, int64(gap)}))
		if want := naive(x); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v of shape %v, strides %v, offset %d: got %x and error %v, want %x", d, shape, strides, offset, got, err, want)
		}
	})
}
