package safetensors

import "fmt"

// CorruptError reports bytes that the format does not allow.
type CorruptError struct {
	File   string // as given to Open or NewFile
	Offset int64  // of the byte to blame
	Tensor string // name of the tensor to blame, "" if none
	What   string // what is wrong, with what was met and what was wanted
}

// Error returns the file, the byte, the tensor and what is wrong there.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("safetensors: %q: byte %d: corrupt: %s%s", e.File, e.Offset, subject(e.Tensor), e.What)
}

// UnsupportedError reports content that is valid, or another kind of file
// altogether, and that this package does not read.
type UnsupportedError struct {
	File   string
	Offset int64
	Tensor string
	What   string // what it is
}

// Error returns the file, the byte, the tensor and what is met there.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("safetensors: %q: byte %d: unsupported: %s%s", e.File, e.Offset, subject(e.Tensor), e.What)
}

func subject(tensor string) string {
	if tensor == "" {
		return ""
	}
	return fmt.Sprintf("tensor %q: ", tensor)
}
