package text

import "fmt"

// CorruptError reports a dictionary, codes file or model that breaks the
// rules of its kind.
type CorruptError struct {
	Name   string // file or section
	Line   int    // 1-based, 0 for files without lines
	Offset int64  // byte offset, used when Line is 0; −1 where none is to blame
	What   string // what is wrong, with got and want
}

// Error returns the place and what is wrong there.
func (e *CorruptError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("text: %q line %d: %s", e.Name, e.Line, e.What)
	case e.Offset >= 0:
		return fmt.Sprintf("text: %q byte %d: %s", e.Name, e.Offset, e.What)
	}
	return fmt.Sprintf("text: %q: %s", e.Name, e.What)
}

// UnsupportedError reports a setting or file that is valid and that this
// package does not implement.
type UnsupportedError struct {
	Name string // file, section or setting
	What string // what it asks for and what there is
}

// Error returns the name and what is asked for there.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("text: %q: unsupported: %s", e.Name, e.What)
}

func corruptLine(name string, line int, format string, args ...any) error {
	return &CorruptError{Name: name, Line: line, Offset: -1, What: fmt.Sprintf(format, args...)}
}

func corruptByte(name string, offset int64, format string, args ...any) error {
	return &CorruptError{Name: name, Offset: offset, What: fmt.Sprintf(format, args...)}
}
