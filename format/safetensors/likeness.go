package safetensors

import (
	"bytes"
	"strings"
)

// likeness says what a file that starts with head looks like, "" if like
// nothing that is given by mistake.
func likeness(head []byte) string {
	for _, s := range []struct{ prefix, what string }{
		{"PK\x03\x04", "this is a zip archive or PyTorch checkpoint (name it .pt), not a safetensors file"},
		{"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", "this is a PyTorch checkpoint (name it .pt), not a safetensors file"},
		{"version https://git-lfs.github.com/spec/", "this is a Git LFS pointer, not the file it points to; fetch that with git lfs pull"},
		{"\x1f\x8b", "this is a gzip file; unpack it first"},
		{"\x28\xb5\x2f\xfd", "this is a zstd file; unpack it first"},
		{"GGUF", "this is a GGUF file, not a safetensors file"},
		{"\x89HDF", "this is an HDF5 file, not a safetensors file"},
	} {
		if bytes.HasPrefix(head, []byte(s.prefix)) {
			return s.what
		}
	}
	s := strings.ToLower(string(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))))
	if strings.HasPrefix(s, "<!doctype html") || strings.HasPrefix(s, "<html") || strings.HasPrefix(s, "<head") {
		return "this is a web page, not a safetensors file; the download gave a page in its place"
	}
	if strings.HasPrefix(s, "{") {
		return "this is a text file (JSON?), not a safetensors file"
	}
	return ""
}
