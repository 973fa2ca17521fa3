package format

import "fmt"

// CorruptError reports a file that breaks the rules of the .msz container:
// cut, damaged, or written by something that did not follow them.
type CorruptError struct {
	Path   string // file name, "" when read from an io.ReaderAt
	What   string // what is wrong, with got and want
	Offset int64  // byte offset in the file where it shows, −1 when it has none
	Tensor string // tensor or section concerned, "" for none
}

func (e *CorruptError) Error() string {
	return "format: " + place(e.Path, e.Tensor) + e.What + at(e.Offset)
}

// UnsupportedError reports a file that may be valid but that this version
// cannot read: a newer container, architecture or quantisation revision.
type UnsupportedError struct {
	Path string
	What string // what was met and what can be read
}

func (e *UnsupportedError) Error() string {
	return "format: " + place(e.Path, "") + e.What
}

func place(path, name string) string {
	s := ""
	if path != "" {
		s = path + ": "
	}
	if name != "" {
		s += fmt.Sprintf("%q: ", name)
	}
	return s
}

func at(offset int64) string {
	if offset < 0 {
		return ""
	}
	return fmt.Sprintf(" (at byte %d)", offset)
}
