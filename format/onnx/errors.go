package onnx

import "fmt"

// CorruptError reports bytes that the format does not allow, or external data
// that is not there as the model says.
type CorruptError struct {
	File   string // name of the file, as given to Open or NewFile
	Offset int64  // byte in the file, −1 where no byte is to blame
	What   string // what is wrong, with what was met and what was wanted
}

// Error returns the place and what is wrong there.
func (e *CorruptError) Error() string {
	return "onnx: " + place(e.File, e.Offset) + "corrupt: " + e.What
}

// UnsupportedError reports content that may be valid but that this package
// does not read.
type UnsupportedError struct {
	File   string
	Offset int64 // byte in the file, −1 where no byte is to blame
	What   string
}

// Error returns the place and what is met there.
func (e *UnsupportedError) Error() string {
	return "onnx: " + place(e.File, e.Offset) + "unsupported: " + e.What
}

func place(file string, offset int64) string {
	switch {
	case file == "" && offset < 0:
		return ""
	case file == "":
		return fmt.Sprintf("byte %d: ", offset)
	case offset < 0:
		return fmt.Sprintf("%q: ", file)
	}
	return fmt.Sprintf("%q: byte %d: ", file, offset)
}
