package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"memsizer/format/pytorch"
)

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func sum(t *testing.T, r io.Reader) string {
	t.Helper()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		t.Error(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestGolden compares files of the safetensors library with what it reads.
func TestGolden(t *testing.T) {
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string][3]any
	if err := json.Unmarshal(b, &golden); err != nil || len(golden) != 2 {
		t.Fatalf("%d files in golden.json, error %v", len(golden), err)
	}
	for name, want := range golden {
		f := openFile(t, filepath.Join("testdata", name))
		if len(f.Tensors()) != len(want) {
			t.Errorf("%s: %d tensors, want %d", name, len(f.Tensors()), len(want))
		}
		if got := fmt.Sprint(f.Metadata()); got != "map[format:pt]" {
			t.Errorf("%s: metadata %s", name, got)
		}
		for _, x := range f.Tensors() {
			if f.Tensor(x.Name) != x {
				t.Errorf("%s: Tensor(%q) is another", name, x.Name)
			}
			w := want[x.Name]
			if x.DType != w[0] || fmt.Sprint(x.Shape) != fmt.Sprint(w[1]) {
				t.Errorf("%s: %q: got %s %v, want %v", name, x.Name, x.DType, x.Shape, w)
			}
			if isReadable(x.DType) {
				if got := sum(t, x.Reader()); got != w[2] {
					t.Errorf("%s: %q: got bytes of sum %s, want %s", name, x.Name, got, w[2])
				}
				continue
			}
			_, err := io.ReadAll(x.Reader())
			var unsupported *UnsupportedError
			if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), fmt.Sprintf("tensor %q: element type %q", x.Name, x.DType)) {
				t.Errorf("%s: %q: error %v, want an UnsupportedError", name, x.Name, err)
			}
		}
		if f.Tensor("absent") != nil {
			t.Errorf("%s: a tensor that is absent", name)
		}
	}
}

// TestReference opens every safetensors file of the reference cases, where they
// are, and compares the model with the checkpoint of the same weights.
func TestReference(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "reference")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no reference cases beside the repository")
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "*", "*.safetensors"))
	for _, path := range paths {
		for _, x := range openFile(t, path).Tensors() {
			if n, err := io.Copy(io.Discard, x.Reader()); n != x.Size || err != nil {
				t.Errorf("%s: %q gave %d bytes and error %v, want %d", path, x.Name, n, err, x.Size)
			}
		}
	}
	f := openFile(t, filepath.Join(folder, "safetensors", "model.safetensors"))
	p, err := pytorch.Open(filepath.Join(folder, "mt-shared", "checkpoint.pt"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	model, _ := p.Root().(*pytorch.Dict).Get("model")
	same := 0
	for _, x := range f.Tensors() {
		v, _ := model.(*pytorch.Dict).Get(x.Name)
		w, ok := v.(*pytorch.Tensor)
		if !ok || fmt.Sprint(w.Shape) != fmt.Sprint(x.Shape) || sum(t, w.Reader()) != sum(t, x.Reader()) {
			t.Errorf("%q differs from the checkpoint's", x.Name)
		}
		same++
	}
	if same < 80 {
		t.Errorf("%d tensors compared", same)
	}
}

// file returns a file of the header and size bytes after it.
func file(header string, size int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, size)...)
}

func openBytes(b []byte) (*File, error) {
	return NewFile(bytes.NewReader(b), int64(len(b)), "test.safetensors")
}

// TestErrors opens files that are not in order.
func TestErrors(t *testing.T) {
	corrupt, unsupported := func() any { return new(*CorruptError) }, func() any { return new(*UnsupportedError) }
	one := func(dtype, shape, offsets string, size int) []byte {
		return file(fmt.Sprintf(`{"w":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets), size)
	}
	two := func(a, b string, size int) []byte {
		return file(fmt.Sprintf(`{"a":{"dtype":"U8","shape":[4],"data_offsets":%s},"b":{"dtype":"U8","shape":[4],"data_offsets":%s}}`, a, b), size)
	}
	for _, c := range []struct {
		name string
		file []byte
		kind func() any
		text string
	}{
		{"empty", nil, corrupt, "byte 0: corrupt: the file is empty"},
		{"short", []byte{1, 2, 3}, corrupt, "byte 3: corrupt: the file of 3 bytes is too short"},
		{"huge header", append([]byte{0, 0, 0, 0, 1, 0, 0, 0}, "{}"...), corrupt, "a header of 4294967296 bytes, at most 100000000"},
		{"header cut off", append([]byte{100, 0, 0, 0, 0, 0, 0, 0}, "{}"...), corrupt, "a header of 100 bytes in a file of 10"},
		{"zip", []byte("PK\x03\x04xxxxxxxxxxxx"), unsupported, "this is a zip archive or PyTorch checkpoint"},
		{"web page", []byte("<!DOCTYPE html><html>"), unsupported, "this is a web page"},
		{"Git LFS", []byte("version https://git-lfs.github.com/spec/v1\noid"), unsupported, "Git LFS pointer"},
		{"JSON", []byte(`{"architectures": ["x"]}`), unsupported, "text file"},
		{"no brace", file(" {}", 0), corrupt, "does not start with '{'"},
		{"nothing", file("   ", 0), corrupt, "does not start with '{'"},
		{"not UTF-8", file("{\"\xff\":1}", 0), corrupt, "not UTF-8"},
		{"JSON cut off", file(`{"w":{"dtype":`, 0), corrupt, "cut off"},
		{"no JSON", file(`{"w":xyz}`, 0), corrupt, "invalid character 'x'"},
		{"JSON goes on", file(`{}{}`, 0), corrupt, "something follows"},
		{"name twice", file(`{"w":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[],"data_offsets":[1,2]}}`, 2), corrupt, `tensor "w": it is there twice`},
		{"name twice, escaped", file(`{"w":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"\u0077":{"dtype":"U8","shape":[],"data_offsets":[1,2]}}`, 2), corrupt, `tensor "w": it is there twice`},
		{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), corrupt, `"__metadata__" is there twice`},
		{"metadata key twice", file(`{"__metadata__":{"a":"b","a":"c"}}`, 0), corrupt, `metadata "a" is there twice`},
		{"metadata is a number", file(`{"__metadata__":1}`, 0), corrupt, `"1" where "{" belongs`},
		{"metadata of numbers", file(`{"__metadata__":{"a":1}}`, 0), corrupt, `"1" where a string belongs`},
		{"tensor is null", file(`{"w":null}`, 0), corrupt, `tensor "w": "null" where "{" belongs`},
		{"key twice", file(`{"w":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1), corrupt, `tensor "w": "dtype" is there twice`},
		{"another key", file(`{"w":{"dtype":"U8","shape":[],"data_offsets":[0,1],"x":1}}`, 1), corrupt, `tensor "w": "x", want dtype`},
		{"no dtype", file(`{"w":{"shape":[],"data_offsets":[0,1]}}`, 1), corrupt, "are not all there"},
		{"one offset", one(`"U8"`, `[]`, `[0]`, 1), corrupt, "are not all there"},
		{"three offsets", one(`"U8"`, `[]`, `[0,1,2]`, 1), corrupt, "more than 2 integers"},
		{"dtype is a number", one(`1`, `[]`, `[0,1]`, 1), corrupt, `"1" where a string belongs`},
		{"negative size", one(`"U8"`, `[-1]`, `[0,1]`, 1), corrupt, `"-1" where an integer`},
		{"fraction", one(`"U8"`, `[1.0]`, `[0,1]`, 1), corrupt, `"1.0" where an integer`},
		{"exponent", one(`"U8"`, `[1e0]`, `[0,1]`, 1), corrupt, `"1e0" where an integer`},
		{"size is text", one(`"U8"`, `["1"]`, `[0,1]`, 1), corrupt, `"1" where an integer`},
		{"huge size", one(`"U8"`, `[9223372036854775808]`, `[0,1]`, 1), corrupt, `"9223372036854775808" where an integer`},
		{"nested shape", one(`"U8"`, `[[1]]`, `[0,1]`, 1), corrupt, `"[" where an integer`},
		{"many dimensions", one(`"U8"`, `[`+strings.Repeat("1,", 64)+`1]`, `[0,1]`, 1), corrupt, "more than 64 integers"},
		{"sizes overflow", one(`"F32"`, `[4611686018427387904,4611686018427387904]`, `[0,1]`, 1), corrupt, "too many elements"},
		{"bytes overflow", one(`"F64"`, `[4611686018427387904]`, `[0,0]`, 0), corrupt, "too many elements"},
		{"too few bytes", one(`"F32"`, `[2]`, `[0,7]`, 7), corrupt, `tensor "w": shape [2] of F32 has 7 bytes, want them to be 8`},
		{"too many bytes", one(`"F32"`, `[2]`, `[0,9]`, 9), corrupt, "has 9 bytes, want them to be 8"},
		{"half a byte", one(`"F4"`, `[3]`, `[0,1]`, 1), corrupt, "shape [3] of F4"},
		{"unknown type that overflows", one(`"X9"`, `[4611686018427387904,4611686018427387904]`, `[0,1]`, 1), corrupt, "has too many elements"},
		{"ends before it starts", one(`"U8"`, `[1]`, `[1,0]`, 1), corrupt, "its bytes end at 0, before 1"},
		{"starts late", one(`"U8"`, `[1]`, `[1,2]`, 2), corrupt, `tensor "w": its bytes start at 1, want 0`},
		{"hole", two(`[0,4]`, `[5,9]`, 9), corrupt, `tensor "b": its bytes start at 5, want 4`},
		{"overlap", two(`[0,4]`, `[3,7]`, 8), corrupt, `tensor "b": its bytes start at 3, want 4`},
		{"same bytes", two(`[0,4]`, `[0,4]`, 4), corrupt, `tensor "b": its bytes start at 0, want 4`},
		{"file cut off", two(`[0,4]`, `[4,8]`, 7), corrupt, `tensor "b": its bytes 4 to 8 (after the header) are not all there: 7 bytes follow the header`},
		{"file too long", two(`[0,4]`, `[4,8]`, 9), corrupt, "1 bytes after the last tensor"},
		{"no tensors and bytes", file(`{}`, 1), corrupt, "1 bytes after the last tensor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(c.file)
			if err == nil {
				t.Fatalf("no error, want one with %q", c.text)
			}
			if !errors.As(err, c.kind()) {
				t.Errorf("error %q is a %T, want a %T", err, err, c.kind())
			}
			if !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), `safetensors: "test.safetensors": byte `) {
				t.Errorf("error %q, want %q in it", err, c.text)
			}
		})
	}
}

// TestValid opens small files that are in order.
func TestValid(t *testing.T) {
	for _, c := range []struct {
		name    string
		file    []byte
		tensors int
	}{
		{"nothing", file(`{}`, 0), 0},
		{"padding", file(`{}      `, 0), 0},
		{"in another order", file(`{"b":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},"a":{"shape":[2,2],"dtype":"U8","data_offsets":[0,4]}}`, 8), 2},
		{"empty tensors", file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904,0],"data_offsets":[0,0]}}`, 0), 2},
		{"four bits", file(`{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}`, 2), 1},
		{"unknown type", file(`{"a":{"dtype":"X9","shape":[4],"data_offsets":[0,3]}}`, 3), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := openBytes(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Tensors()) != c.tensors {
				t.Errorf("%d tensors, want %d", len(f.Tensors()), c.tensors)
			}
			for i, x := range f.Tensors() {
				if want := string(rune('a' + i)); x.Name != want {
					t.Errorf("tensor %d is %q, want %q", i, x.Name, want)
				}
			}
		})
	}
}

// TestCutOff opens every beginning of a file, and reads from one that has
// become shorter.
func TestCutOff(t *testing.T) {
	b, err := os.ReadFile("testdata/official.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if _, err := openBytes(b[:n]); err == nil {
			t.Fatalf("no error with %d of %d bytes", n, len(b))
		}
	}
	f, err := openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	f.r = bytes.NewReader(b[:len(b)-1])
	last := f.Tensors()[len(f.Tensors())-1]
	_, err = io.ReadAll(last.Reader())
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Offset != int64(len(b)-1) || corrupt.Tensor != last.Name {
		t.Errorf("error %v, want a CorruptError at byte %d", err, len(b)-1)
	}
	if err := iotest.TestReader(f.Tensor("f32").Reader(), b[f.Tensor("f32").offset:][:60]); err != nil {
		t.Error(err)
	}
}

// TestOpenErrors opens what is no file.
func TestOpenErrors(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Join(folder, "absent")} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) || !strings.HasPrefix(err.Error(), "safetensors: ") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}
