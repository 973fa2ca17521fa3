package pytorch

import "fmt"

// Place says where in a file an error was met.
type Place struct {
	File   string // name of the file, as given to Open or NewFile
	Member string // member of the zip archive, "" outside one

	// Offset is the byte in the file, MemberOffset that in Member (the same
	// where there is no member). Each is -1 where it is not known: Offset
	// inside a compressed member, both where no byte is to blame.
	Offset, MemberOffset int64
}

// String names the place, `"a.pt": byte 70 ("archive/data.pkl" byte 6)`.
func (p Place) String() string {
	s := fmt.Sprintf("%q", p.File)
	switch {
	case p.Offset >= 0 && p.Member != "" && p.MemberOffset >= 0:
		return fmt.Sprintf("%s: byte %d (%q byte %d)", s, p.Offset, p.Member, p.MemberOffset)
	case p.Offset >= 0 && p.Member != "":
		return fmt.Sprintf("%s: byte %d (%q)", s, p.Offset, p.Member)
	case p.Offset >= 0:
		return fmt.Sprintf("%s: byte %d", s, p.Offset)
	case p.Member != "" && p.MemberOffset >= 0:
		return fmt.Sprintf("%s: %q byte %d", s, p.Member, p.MemberOffset)
	case p.Member != "":
		return fmt.Sprintf("%s: %q", s, p.Member)
	}
	return s
}

// CorruptError reports bytes that the format does not allow.
type CorruptError struct {
	Place
	What string // what is wrong, with what was met and what was wanted
}

// Error returns the place and what is wrong there.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("pytorch: %s: corrupt: %s", e.Place, e.What)
}

// UnsupportedError reports content that is valid, or another kind of file
// altogether, and that this package does not read.
type UnsupportedError struct {
	Place
	What string // what it is
}

// Error returns the place and what is met there.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("pytorch: %s: unsupported: %s", e.Place, e.What)
}

// ForbiddenGlobalError reports a pickle that names a module or function by
// which loading it would run commands, open files or connections, or load
// further code. It was refused before anything was made of it.
type ForbiddenGlobalError struct {
	Place
	Global string // as the file has it, "posix.system"
}

// Error returns the global's name and its place.
func (e *ForbiddenGlobalError) Error() string {
	return fmt.Sprintf("pytorch: %s: refused: the pickle asks for %q, which no model needs and which could run code", e.Place, e.Global)
}
