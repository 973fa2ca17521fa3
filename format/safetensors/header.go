package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"unicode/utf8"
)

const metadataKey = "__metadata__"

// maxDims is the most dimensions that a tensor may have.
const maxDims = 64

// header parses the JSON of a header, token by token: encoding/json by itself
// takes the last of two equal names, and names in any case.
type header struct {
	file *File
	d    *json.Decoder
}

// parse reads the header into the file's tensors (with offsets from the end of
// the header) and metadata.
func (f *File) parse(b []byte) error {
	if b = bytes.TrimRight(b, " "); len(b) == 0 || b[0] != '{' {
		return f.corrupt(8, "", "the header does not start with '{'")
	}
	if !utf8.Valid(b) {
		return f.corrupt(8, "", "the header is not UTF-8")
	}
	h := &header{f, json.NewDecoder(bytes.NewReader(b))}
	h.d.UseNumber()
	seenMetadata := false
	err := h.object("", func(name string) error {
		if name == metadataKey {
			if seenMetadata {
				return h.corrupt("", "%q is there twice", name)
			}
			seenMetadata = true
			return h.metadata()
		}
		if f.byName[name] != nil {
			return h.corrupt(name, "it is there twice")
		}
		t, err := h.tensor(name)
		if err != nil {
			return err
		}
		f.byName[name] = t
		f.tensors = append(f.tensors, t)
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := h.d.Token(); err != io.EOF {
		return h.corrupt("", "something follows the header's JSON object")
	}
	return nil
}

func (h *header) corrupt(tensor, format string, args ...any) error {
	return h.file.corrupt(8+h.d.InputOffset(), tensor, format, args...)
}

// token returns the next token.
func (h *header) token(tensor string) (json.Token, error) {
	t, err := h.d.Token()
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, h.corrupt(tensor, "the header's JSON is cut off")
	case errors.As(err, &syntax):
		return nil, h.file.corrupt(8+syntax.Offset, tensor, "the header's JSON: %v", syntax)
	case err != nil:
		return nil, h.corrupt(tensor, "the header's JSON: %v", err)
	}
	return t, nil
}

// delim reads the delimiter want.
func (h *header) delim(tensor string, want json.Delim) error {
	t, err := h.token(tensor)
	if err != nil {
		return err
	}
	if t != want {
		return h.corrupt(tensor, "%.40q where %q belongs", show(t), want.String())
	}
	return nil
}

func show(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		return t.String()
	case json.Number:
		return t.String()
	case string:
		return t
	case bool:
		return strconv.FormatBool(t)
	}
	return "null"
}

// text reads a string.
func (h *header) text(tensor string) (string, error) {
	t, err := h.token(tensor)
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", h.corrupt(tensor, "%.40q where a string belongs", show(t))
	}
	return s, nil
}

// object reads an object and calls value at the value of each name.
func (h *header) object(tensor string, value func(name string) error) error {
	if err := h.delim(tensor, '{'); err != nil {
		return err
	}
	for h.d.More() {
		name, err := h.text(tensor)
		if err != nil {
			return err
		}
		if err := value(name); err != nil {
			return err
		}
	}
	return h.delim(tensor, '}')
}

func (h *header) metadata() error {
	h.file.metadata = make(map[string]string)
	return h.object("", func(name string) error {
		if _, twice := h.file.metadata[name]; twice {
			return h.corrupt("", "metadata %.40q is there twice", name)
		}
		s, err := h.text("")
		h.file.metadata[name] = s
		return err
	})
}

// tensor reads the description of a tensor.
func (h *header) tensor(name string) (*Tensor, error) {
	t := &Tensor{Name: name, file: h.file}
	var offsets []int
	seen := make(map[string]bool, 3)
	err := h.object(name, func(key string) (err error) {
		if seen[key] {
			return h.corrupt(name, "%.40q is there twice", key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			t.DType, err = h.text(name)
		case "shape":
			t.Shape, err = h.integers(name, maxDims)
		case "data_offsets":
			offsets, err = h.integers(name, 2)
		default:
			err = h.corrupt(name, "%.40q, want dtype, shape and data_offsets", key)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(seen) != 3 || len(offsets) != 2 {
		return nil, h.corrupt(name, "dtype, shape and two data_offsets are not all there")
	}
	if offsets[1] < offsets[0] {
		return nil, h.corrupt(name, "its bytes end at %d, before %d, where they start", offsets[1], offsets[0])
	}
	t.offset, t.Size = int64(offsets[0]), int64(offsets[1]-offsets[0])
	if elementBits[t.DType] == 0 { // of a size that is not known; Reader refuses it
		if _, ok := byteSize("U8", t.Shape); !ok {
			return nil, h.corrupt(name, "shape %v has too many elements", t.Shape)
		}
		return t, nil
	}
	n, ok := byteSize(t.DType, t.Shape)
	switch {
	case !ok:
		return nil, h.corrupt(name, "shape %v of %s has too many elements", t.Shape, t.DType)
	case n != t.Size:
		return nil, h.corrupt(name, "shape %v of %s has %d bytes, want them to be %d", t.Shape, t.DType, t.Size, n)
	}
	return t, nil
}

// integers reads an array of at most limit integers that are not negative.
func (h *header) integers(tensor string, limit int) ([]int, error) {
	if err := h.delim(tensor, '['); err != nil {
		return nil, err
	}
	var list []int
	for h.d.More() {
		t, err := h.token(tensor)
		if err != nil {
			return nil, err
		}
		n, ok := t.(json.Number)
		v, err := strconv.ParseUint(string(n), 10, 64)
		if !ok || err != nil || v > math.MaxInt {
			return nil, h.corrupt(tensor, "%.40q where an integer from 0 to %d belongs", show(t), math.MaxInt)
		}
		if len(list) == limit {
			return nil, h.corrupt(tensor, "more than %d integers in a list", limit)
		}
		list = append(list, int(v))
	}
	return list, h.delim(tensor, ']')
}
