package safetensors

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// rewrite writes the tensors and metadata of f.
func rewrite(t *testing.T, f *File) []byte {
	t.Helper()
	var tensors []NamedTensor
	for _, x := range f.Tensors() {
		tensors = append(tensors, NamedTensor{x.Name, x.DType, x.Shape, x.Reader()})
	}
	var b bytes.Buffer
	if err := Write(&b, tensors, f.Metadata()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWriteOfficial reads a file of the safetensors library and writes the same
// bytes.
func TestWriteOfficial(t *testing.T) {
	want, err := os.ReadFile("testdata/official.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if got := rewrite(t, openFile(t, "testdata/official.safetensors")); !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWrite checks order, padding and metadata.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, []NamedTensor{
		{"b", "U8", []int{3}, strings.NewReader("xyz")},
		{"h", "F16", nil, strings.NewReader("12")},
		{"a", "U8", []int{0, 5}, nil},
	}, map[string]string{"z": "<1>", "k": "ä\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"__metadata__":{"k":"ä\n","z":"<1>"},"h":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]},"a":{"dtype":"U8","shape":[0,5],"data_offsets":[5,5]}}`
	if got := b.String()[8:]; strings.TrimRight(got[:len(got)-5], " ") != want || got[len(got)-5:] != "12xyz" {
		t.Errorf("got %q, want %q", got, want)
	}
	if b.Len()%8 != 5 {
		t.Errorf("the header is not padded: %d bytes in all", b.Len())
	}
	f, err := openBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := rewrite(t, f); !bytes.Equal(got, b.Bytes()) {
		t.Errorf("written again: %q, want %q", got, b.Bytes())
	}
	b.Reset()
	if err := Write(&b, nil, nil); err != nil || b.String() != "\x08\x00\x00\x00\x00\x00\x00\x00{}      " {
		t.Errorf("nothing: %q, error %v", b.String(), err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestWriteErrors writes what cannot be written.
func TestWriteErrors(t *testing.T) {
	x := func(name, dtype string, shape []int, data string) NamedTensor {
		return NamedTensor{name, dtype, shape, strings.NewReader(data)}
	}
	for _, c := range []struct {
		name    string
		w       io.Writer
		tensors []NamedTensor
		text    string
	}{
		{"unknown type", io.Discard, []NamedTensor{x("a", "U16", nil, "12")}, `tensor "a": element type "U16"`},
		{"negative size", io.Discard, []NamedTensor{x("a", "U8", []int{-1}, "")}, "shape [-1]"},
		{"overflow", io.Discard, []NamedTensor{x("a", "F64", []int{1 << 62, 1 << 62}, "")}, "shape"},
		{"name twice", io.Discard, []NamedTensor{x("a", "U8", nil, "1"), x("a", "U8", nil, "1")}, `tensor name "a" is taken`},
		{"name of the metadata", io.Discard, []NamedTensor{x("__metadata__", "U8", nil, "1")}, "is taken"},
		{"name is not UTF-8", io.Discard, []NamedTensor{x("\xff", "U8", nil, "1")}, "is not UTF-8"},
		{"too little data", io.Discard, []NamedTensor{x("a", "F32", nil, "123")}, `tensor "a": 3 bytes of data, want 4`},
		{"too much data", io.Discard, []NamedTensor{x("a", "F32", nil, "12345")}, `tensor "a": more than 4 bytes`},
		{"no data", io.Discard, []NamedTensor{{"a", "F32", nil, nil}}, "has no data"},
		{"no space", brokenWriter{}, []NamedTensor{x("a", "F32", nil, "1234")}, "no space"},
		{"no space in the middle", brokenWriter{}, []NamedTensor{x("a", "U8", []int{1 << 18}, strings.Repeat("x", 1<<18))}, "no space"},
	} {
		if err := Write(c.w, c.tensors, nil); err == nil || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), "safetensors: write: ") {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.text)
		}
	}
}

// FuzzOpen opens arbitrary files. What opens can be written, and is the same
// when it is read again.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"official", "unsigned"} {
		b, err := os.ReadFile("testdata/" + name + ".safetensors")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(file(`{"b":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},"a":{"shape":[2,2],"dtype":"U8","data_offsets":[0,4]}}`, 8))
	f.Add(file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := openBytes(b)
		if err != nil {
			return
		}
		for _, tensor := range x.Tensors() {
			if !isReadable(tensor.DType) {
				return
			}
		}
		once := rewrite(t, x)
		y, err := openBytes(once)
		if err != nil {
			t.Fatalf("what was written does not open: %v", err)
		}
		if twice := rewrite(t, y); !bytes.Equal(once, twice) {
			t.Fatalf("written once %q, twice %q", once, twice)
		}
		if len(x.Tensors()) != len(y.Tensors()) {
			t.Fatalf("%d tensors, and %d when written", len(x.Tensors()), len(y.Tensors()))
		}
		for _, want := range x.Tensors() {
			got := y.Tensor(want.Name)
			if got == nil || got.Size != want.Size || sum(t, got.Reader()) != sum(t, want.Reader()) {
				t.Fatalf("tensor %q changed when written", want.Name)
			}
		}
	})
}
