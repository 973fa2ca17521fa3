package pytorch

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// signatures are the first bytes of files that are given by mistake.
var signatures = []struct{ prefix, what string }{
	{"\x1f\x8b", "a gzip file; unpack it first"},
	{"\x28\xb5\x2f\xfd", "a zstd file; unpack it first"},
	{"BZh", "a bzip2 file; unpack it first"},
	{"\xfd7zXZ\x00", "an xz file; unpack it first"},
	{"\x04\x22\x4d\x18", "an lz4 file; unpack it first"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"},
	{"Rar!\x1a\x07", "a RAR archive; unpack it first"},
	{"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the file it points to; fetch that with git lfs pull"},
	{"\x89MSZ\r\n\x1a\n", "an .msz model, which is what conversion gives"},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras?)"},
	{"GGUF", "a GGUF file"},
	{"ggml", "a GGML file"},
	{"lmgg", "a GGML file"},
	{"\x93NUMPY", "a NumPy array"},
	{"\x7fELF", "a program"},
	{"MZ", "a program"},
	{"%PDF-", "a PDF document"},
	{"\x89PNG", "an image"},
	{"\xff\xd8\xff", "an image"},
	{"SQLite format 3\x00", "an SQLite database"},
}

// likeness says what a file that is not a checkpoint looks like, from its first
// bytes (up to 1,024) and its size.
func likeness(head []byte, size int64) string {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.prefix)) {
			return "this is " + s.what
		}
	}
	switch {
	case isSafetensors(head, size):
		return "this is a safetensors file (name it .safetensors), not what torch.save writes"
	case isTar(head):
		if name, _, _ := bytes.Cut(head[:100], []byte{0}); oneOf(string(name), "sys_info", "pickle", "storages", "tensors") {
			return "this is the tar container of torch before 0.1.10; load it with an old torch and save it again"
		}
		return "this is a tar archive; unpack it first"
	case isWebPage(head):
		return "this is a web page, not a checkpoint; the download gave a page in its place"
	case bytes.HasPrefix(head, []byte("<?xml")):
		return "this is an XML document (an error message of the download's server?), not a checkpoint"
	case isONNX(head):
		return "this is an ONNX model (name it .onnx), not what torch.save writes"
	case len(head) > 2 && head[0] == 0x80 && head[1] <= 5:
		return "this is a plain Python pickle, not what torch.save writes"
	case len(bytes.Trim(head, "\x00")) == 0:
		return fmt.Sprintf("this is zeros in its first %d bytes (a download that was not completed?)", len(head))
	}
	if text, ok := firstText(head); ok {
		return fmt.Sprintf("this is a text file, not a checkpoint; it starts with %q", text)
	}
	return fmt.Sprintf("this is no kind of file that is known here; it starts with the bytes % x", head[:min(8, len(head))])
}

func oneOf(s string, list ...string) bool {
	for _, l := range list {
		if s == l {
			return true
		}
	}
	return false
}

// isSafetensors looks for a header length that fits, and the brace after it.
func isSafetensors(head []byte, size int64) bool {
	if len(head) < 9 || head[8] != '{' {
		return false
	}
	n := binary.LittleEndian.Uint64(head)
	return n >= 2 && n <= uint64(size)-8
}

// isTar looks for the magic of POSIX and GNU archives.
func isTar(head []byte) bool {
	return len(head) >= 512 && string(head[257:262]) == "ustar"
}

// isWebPage looks for the tags that HTML starts with.
func isWebPage(head []byte) bool {
	s := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")))
	if !strings.HasPrefix(s, "<") {
		return false
	}
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<title", "<script", "<meta"} {
		if strings.HasPrefix(s, tag) || (strings.HasPrefix(s, "<!--") || strings.HasPrefix(s, "<?xml")) && strings.Contains(s, tag) {
			return true
		}
	}
	return false
}

// isONNX looks for the version, field 1 of an ONNX ModelProto, and the
// producer's name, domain or graph after it.
func isONNX(head []byte) bool {
	return len(head) > 4 && head[0] == 0x08 && head[1] >= 1 && head[1] < 0x40 &&
		bytes.IndexByte([]byte{0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42}, head[2]) >= 0
}

// firstText returns up to 40 bytes of the first line of what is text as far as
// head shows it.
func firstText(head []byte) (string, bool) {
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 {
			if len(head)-i < utf8.UTFMax && len(head) >= 64 {
				break // cut in the middle of a rune
			}
			return "", false
		}
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return "", false
		}
		i += n
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	for len(line) > 40 {
		_, n := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-n]
	}
	return line, len(line) > 0
}

// zipLikeness says what a zip archive without a pickle of torch's looks like,
// from the names of its members.
func zipLikeness(files []*zip.File) string {
	var names []string
	for _, f := range files {
		switch base := f.Name[strings.LastIndexByte(f.Name, '/')+1:]; {
		case strings.HasSuffix(base, ".npy"):
			return "this is a NumPy .npz archive"
		case base == "constants.pkl" || base == "model.json" || strings.Contains(f.Name, "/code/"):
			return torchScript
		case base == "archive_format" || strings.Contains(f.Name, "/data/weights/"):
			return "this is a program of torch.export; save the model's state_dict() with torch.save"
		case base == "[Content_Types].xml":
			return "this is an office document"
		case base == "config.json" && strings.HasPrefix(files[0].Name, "metadata"):
			return "this is a Keras model"
		}
		if len(names) < 3 {
			names = append(names, fmt.Sprintf("%.60q", f.Name))
		}
	}
	if len(names) == 0 {
		return "this is an empty zip archive"
	}
	for _, f := range files {
		for _, ending := range []string{".pt", ".pth", ".bin", ".ckpt"} {
			if strings.HasSuffix(f.Name, ending) {
				return fmt.Sprintf("this is a zip archive of other files, %.60q among them; unpack it first", f.Name)
			}
		}
	}
	return fmt.Sprintf("this is a zip archive without torch's data.pkl; it has %s", strings.Join(names, ", "))
}

const torchScript = "this is a TorchScript program (torch.jit.save); save the model's state_dict() with torch.save"
