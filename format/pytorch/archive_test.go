package pytorch

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// member is one of a zip archive that a test makes.
type member struct {
	name   string
	data   string
	method uint16
}

func zipOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
		if err == nil {
			_, err = io.WriteString(w, m.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkpointOf returns an archive of a pickle and a storage "0" of 16 bytes.
func checkpointOf(t testing.TB, pickle string) []byte {
	t.Helper()
	return zipOf(t, member{name: "a/data.pkl", data: pickle}, member{name: "a/data/0", data: strings.Repeat("\x00", 16)}, member{name: "a/version", data: "3\n"})
}

func openBytes(b []byte) (*File, error) {
	return NewFile(bytes.NewReader(b), int64(len(b)), "test.pt")
}

// wantError checks the kind and text of an error, and that it names the file.
func wantError(t *testing.T, err error, kind any, text string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", text)
	}
	if !errors.As(err, kind) {
		t.Errorf("error %q is a %T, want a %T", err, err, kind)
	}
	if n := strings.Count(err.Error(), "pytorch: "); n != 1 {
		t.Errorf("error %q names the package %d times, want once", err, n)
	}
	if !strings.Contains(err.Error(), text) {
		t.Errorf("error %q, want %q in it", err, text)
	}
	if !strings.HasPrefix(err.Error(), `pytorch: "test.pt"`) {
		t.Errorf("error %q does not name the file", err)
	}
}

func corruptKind() any     { return new(*CorruptError) }
func unsupportedKind() any { return new(*UnsupportedError) }
func forbiddenKind() any   { return new(*ForbiddenGlobalError) }

const (
	storageID = "(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"
	rebuild   = "ctorch._utils\n_rebuild_tensor_v2\n"
	hooks     = "\x89ccollections\nOrderedDict\n)RtR"
)

// tensorPickle returns a pickle of a tensor of storage "0", four floats.
func tensorPickle(offset, shape, strides string) string {
	return "\x80\x02" + rebuild + "(" + storageID + offset + shape + strides + hooks + "."
}

// TestArchiveErrors opens archives that are not in order.
func TestArchiveErrors(t *testing.T) {
	good := tensorPickle("K\x00", "K\x04\x85", "K\x01\x85")
	store := func(name, data string) member { return member{name: name, data: data} }
	pickle, storage := store("a/data.pkl", good), store("a/data/0", strings.Repeat("\x00", 16))
	for _, c := range []struct {
		name    string
		members []member
		kind    any
		text    string
	}{
		{"no pickle", []member{store("readme", "x")}, unsupportedKind(), `a zip archive without torch's data.pkl; it has "readme"`},
		{"no members", nil, unsupportedKind(), "an empty zip archive"},
		{"NumPy", []member{store("weight.npy", "x")}, unsupportedKind(), "NumPy .npz"},
		{"TorchScript", []member{pickle, store("a/code/m.py", ""), store("a/constants.pkl", "")}, unsupportedKind(), "TorchScript"},
		{"TorchScript without a pickle", []member{store("a/constants.pkl", "")}, unsupportedKind(), "TorchScript"},
		{"torch.export", []member{store("m/archive_format", "pt2")}, unsupportedKind(), "torch.export"},
		{"zipped checkpoint", []member{store("m/model.pt", "x")}, unsupportedKind(), `"m/model.pt" among them; unpack it first`},
		{"two pickles", []member{pickle, storage, store("b/data.pkl", good)}, corruptKind(), `"b/data.pkl"): corrupt: the archive has "a/data.pkl" too`},
		{"a member twice", []member{pickle, storage, storage}, corruptKind(), `("a/data/0"): corrupt: the archive has this member twice`},
		{"big-endian", []member{pickle, storage, store("a/byteorder", "big")}, unsupportedKind(), "a big-endian file"},
		{"no byte order", []member{pickle, storage, store("a/byteorder", "middle")}, corruptKind(), `byte order "middle", want "little"`},
		{"long byte order", []member{pickle, storage, store("a/byteorder", strings.Repeat("x", 100))}, corruptKind(), "100 bytes, at most 64"},
		{"future version", []member{pickle, storage, store("a/version", "11\n")}, unsupportedKind(), "archive version 11, at most 10"},
		{"no version", []member{pickle, storage, store("a/version", "three")}, corruptKind(), `archive version "three", want a number`},
		{"no storage", []member{pickle}, corruptKind(), `storage "0": the archive has no member "a/data/0"`},
		{"short storage", []member{pickle, store("a/data/0", "abc")}, corruptKind(), `storage "0" of 4 float32 elements: member "a/data/0" has 3 bytes`},
		{"bytes after the pickle", []member{store("a/data.pkl", "\x80\x02N.N."), storage}, corruptKind(), `("a/data.pkl" byte 4): corrupt: 2 bytes after the end of the pickle`},
		{"empty pickle", []member{store("a/data.pkl", "")}, corruptKind(), "the pickle is cut off"},
		{"pickle bomb", []member{{"a/data.pkl", strings.Repeat("\x00", 3<<20), zip.Deflate}}, corruptKind(), "a pickle of 3145728 bytes, compressed to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes(zipOf(t, c.members...))
			wantError(t, err, c.kind, c.text)
		})
	}
	t.Run("cut off", func(t *testing.T) {
		b := checkpointOf(t, good)
		for n := 1; n < len(b); n++ {
			if _, err := openBytes(b[:n]); err == nil {
				t.Fatalf("no error with %d of %d bytes", n, len(b))
			} else if n > 4 {
				wantError(t, err, corruptKind(), "cut off")
			}
		}
	})
	t.Run("wrong checksums", func(t *testing.T) {
		b := checkpointOf(t, good)
		i := bytes.Index(b, []byte("OrderedDict"))
		b[i] = 'o' // still a pickle, an inert object in it
		_, err := openBytes(b)
		wantError(t, err, corruptKind(), "checksum")
		b = checkpointOf(t, good)
		b[bytes.Index(b, []byte("a/data/0"))+len("a/data/0")+7] = 1
		f, err := openBytes(b)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadFull(f.Root().(*Tensor).Reader(), make([]byte, 16))
		wantError(t, err, corruptKind(), `("a/data/0" byte 0): corrupt: the checksum`)
	})
}

// TestArchiveSizes changes the sizes in an archive's directory.
func TestArchiveSizes(t *testing.T) {
	good := checkpointOf(t, tensorPickle("K\x00", "K\x04\x85", "K\x01\x85"))
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	next := directory + bytes.Index(good[directory+4:], []byte("PK\x01\x02")) + 4 // of a/data/0
	for _, c := range []struct {
		name  string
		at    int
		value uint32
		text  string
	}{
		{"large compressed", 20, 1 << 30, "of 1073741824 bytes, need more than the file's"},
		{"large uncompressed", 24, 1 << 30, `member "a/data/0" has 1073741824 bytes`},
		{"different sizes", 20, 17, "stored in 17 bytes, is 16 bytes"},
		{"outside", 42, 1 << 20, "corrupt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bytes.Clone(good)
			binary.LittleEndian.PutUint32(b[next+c.at:], c.value)
			_, err := openBytes(b)
			wantError(t, err, corruptKind(), c.text)
		})
	}
}

// TestNoChecksum reads an archive that was written without checksums, as torch
// can be told to: all of them are 0.
func TestNoChecksum(t *testing.T) {
	b, err := os.ReadFile("testdata/dtypes.pt")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; {
		n := bytes.Index(b[i:], []byte("PK\x01\x02"))
		if n < 0 {
			break
		}
		i += n + 16
		binary.LittleEndian.PutUint32(b[i:], 0)
	}
	f, err := openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tensorsOf(f)); n != 11 {
		t.Errorf("%d tensors, want 11", n)
	}
	for _, w := range tensorsOf(f) {
		readAll(t, w.tensor)
	}
}

// TestNoPrefix reads an archive whose members are not in a folder.
func TestNoPrefix(t *testing.T) {
	f, err := openBytes(zipOf(t, member{name: "data.pkl", data: tensorPickle("K\x00", "K\x04\x85", "K\x01\x85")}, member{name: "data/0", data: "0123456789abcdef"}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(readAll(t, f.Root().(*Tensor))), "0123456789abcdef"; got != want {
		t.Errorf("got elements %q, want %q", got, want)
	}
}

// TestCompressedChecksum reads whole compressed storages with a wrong checksum.
func TestCompressedChecksum(t *testing.T) {
	b := zipOf(t, member{name: "a/data.pkl", data: tensorPickle("K\x00", "K\x04\x85", "K\x01\x85")}, member{name: "a/data/0", data: "0123456789abcdef", method: zip.Deflate})
	directory := bytes.LastIndex(b, []byte("PK\x01\x02"))
	b[directory+16]++
	f, err := openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadFull(f.Root().(*Tensor).Reader(), make([]byte, 16))
	wantError(t, err, corruptKind(), "checksum")
}

// TestCompressed reads a compressed storage that does not hold what it says.
func TestCompressed(t *testing.T) {
	b := zipOf(t, member{name: "a/data.pkl", data: tensorPickle("K\x00", "K\x02K\x02\x86", "K\x01K\x02\x86"), method: zip.Deflate},
		member{name: "a/data/0", data: "0123456789abcdef", method: zip.Deflate})
	f, err := openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(readAll(t, f.Root().(*Tensor))), "012389ab4567cdef"; got != want {
		t.Errorf("got elements %q, want %q", got, want)
	}
	at := bytes.Index(b, []byte("a/data/0")) + len("a/data/0")
	for i := range 16 {
		b[at+i] ^= 0xff
	}
	f, err = openBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(f.Root().(*Tensor).Reader())
	wantError(t, err, corruptKind(), `"a/data/0"`)
}
