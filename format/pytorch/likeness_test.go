package pytorch

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLikeness opens files of other kinds: the error says what they are.
func TestLikeness(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar, "file.txt")
	copy(tar[257:], "ustar\x0000")
	oldTorch := append([]byte(nil), tar...)
	copy(oldTorch, "sys_info\x00")
	safetensors := append(binary.LittleEndian.AppendUint64(nil, 8), "{}      "...)
	for _, c := range []struct{ name, file, want string }{
		{"gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00", "this is a gzip file; unpack it first"},
		{"zstd", "\x28\xb5\x2f\xfd\x04\x00", "this is a zstd file; unpack it first"},
		{"bzip2", "BZh91AY&SY", "this is a bzip2 file; unpack it first"},
		{"xz", "\xfd7zXZ\x00\x00\x04", "this is an xz file; unpack it first"},
		{"Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "this is a Git LFS pointer, not the file it points to"},
		{"web page", "<html>", "this is a web page, not a checkpoint"},
		{"web page after blanks", "\xef\xbb\xbf\r\n  <!DOCTYPE HTML PUBLIC>\n<title>", "this is a web page, not a checkpoint"},
		{"web page as XML", "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\">", "this is a web page, not a checkpoint"},
		{"XML", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "this is an XML document (an error message of the download's server?)"},
		{"safetensors", string(safetensors), "this is a safetensors file (name it .safetensors)"},
		{"ONNX", "\x08\x07\x12\x07pytorch\x1a\x051.13", "this is an ONNX model (name it .onnx)"},
		{"HDF5", "\x89HDF\r\n\x1a\n\x00", "this is an HDF5 file"},
		{"GGUF", "GGUF\x03\x00\x00\x00", "this is a GGUF file"},
		{"NumPy", "\x93NUMPY\x01\x00", "this is a NumPy array"},
		{"tar", string(tar), "this is a tar archive; unpack it first"},
		{"old torch", string(oldTorch), "this is the tar container of torch before 0.1.10"},
		{"plain pickle", "\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}\x94.", "this is a plain Python pickle, not what torch.save writes"},
		{"zeros", strings.Repeat("\x00", 5000), "this is zeros in its first 1024 bytes"},
		{"text", "epoch 1, loss 3.2\nepoch 2", `this is a text file, not a checkpoint; it starts with "epoch 1, loss 3.2"`},
		{"text cut in a letter", strings.Repeat("a", 1023) + "äöü", `it starts with "` + strings.Repeat("a", 40) + `"`},
		{"unknown", "\x00\x01\x02\x03\x04\x05\x06\x07\x08", "this is no kind of file that is known here; it starts with the bytes 00 01 02 03 04 05 06 07"},
		{"one byte", "\x80", "it starts with the bytes 80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openBytes([]byte(c.file))
			wantError(t, err, unsupportedKind(), "byte 0: unsupported: this is ")
			wantError(t, err, unsupportedKind(), c.want)
		})
	}
	_, err := openBytes(nil)
	wantError(t, err, corruptKind(), "byte 0: corrupt: the file is empty")
}

// TestOpenErrors opens what is no file.
func TestOpenErrors(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Join(folder, "absent.pt")} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) || !strings.HasPrefix(err.Error(), "pytorch: ") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// TestClose checks that tensors cannot be read from a closed file.
func TestClose(t *testing.T) {
	f, err := Open("testdata/views.pt")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, w := range tensorsOf(f) {
		if n, err := w.tensor.Reader().Read(make([]byte, 1)); w.tensor.Bytes() > 0 && (n != 0 || err == nil || !strings.Contains(err.Error(), os.ErrClosed.Error())) {
			t.Errorf("%s: read %d bytes with error %v", w.path, n, err)
		}
	}
}
