package safetensors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// NamedTensor is a tensor for Write.
type NamedTensor struct {
	Name  string
	DType string    // one of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL
	Shape []int     // nil for a scalar
	Data  io.Reader // exactly the tensor's bytes, row-major, little-endian
}

// Write writes a safetensors file: the tensors in the given order, except that
// those of larger elements come first, so that every tensor is aligned to its
// element size. The metadata may be nil; it is written in the order of its
// keys. The same arguments give the same bytes. The Data of each tensor is read
// when its turn comes.
func Write(w io.Writer, tensors []NamedTensor, metadata map[string]string) error {
	order := slices.Clone(tensors)
	slices.SortStableFunc(order, func(a, b NamedTensor) int { return int(elementBits[b.DType]) - int(elementBits[a.DType]) })
	header, sizes, err := encodeHeader(order, metadata)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := binary.Write(out, binary.LittleEndian, uint64(len(header))); err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	if _, err := out.Write(header); err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	for i, t := range order {
		if err := writeData(out, t, sizes[i]); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	return nil
}

// writeData copies a tensor's bytes and checks their number.
func writeData(w io.Writer, t NamedTensor, size int64) error {
	if t.Data == nil && size == 0 {
		return nil
	}
	if t.Data == nil {
		return fmt.Errorf("safetensors: write: tensor %q has no data", t.Name)
	}
	n, err := io.Copy(w, io.LimitReader(t.Data, size))
	if err != nil {
		return fmt.Errorf("safetensors: write: tensor %q: %w", t.Name, err)
	}
	if n < size {
		return fmt.Errorf("safetensors: write: tensor %q: %d bytes of data, want %d", t.Name, n, size)
	}
	var more [1]byte
	if n, _ := io.ReadFull(t.Data, more[:]); n > 0 {
		return fmt.Errorf("safetensors: write: tensor %q: more than %d bytes of data", t.Name, size)
	}
	return nil
}

// encodeHeader returns the header, padded with spaces to a multiple of eight
// bytes, and the size of each tensor.
func encodeHeader(tensors []NamedTensor, metadata map[string]string) ([]byte, []int64, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if metadata != nil {
		fmt.Fprintf(&b, "%q:{", metadataKey)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := quote(&b, key); err != nil {
				return nil, nil, err
			}
			b.WriteByte(':')
			if err := quote(&b, metadata[key]); err != nil {
				return nil, nil, err
			}
		}
		b.WriteByte('}')
	}
	seen := make(map[string]bool, len(tensors))
	sizes := make([]int64, len(tensors))
	next := int64(0)
	for i, t := range tensors {
		size, ok := byteSize(t.DType, t.Shape)
		if !isReadable(t.DType) || !ok || slices.ContainsFunc(t.Shape, func(d int) bool { return d < 0 }) || next+size < 0 {
			return nil, nil, fmt.Errorf("safetensors: write: tensor %q: element type %q and shape %v", t.Name, t.DType, t.Shape)
		}
		if seen[t.Name] || t.Name == metadataKey {
			return nil, nil, fmt.Errorf("safetensors: write: tensor name %q is taken", t.Name)
		}
		seen[t.Name] = true
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := quote(&b, t.Name); err != nil {
			return nil, nil, err
		}
		shape, _ := json.Marshal(append([]int{}, t.Shape...))
		fmt.Fprintf(&b, `:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, t.DType, shape, next, next+size)
		sizes[i] = size
		next += size
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > maxHeader {
		return nil, nil, fmt.Errorf("safetensors: write: a header of %d bytes, at most %d", b.Len(), maxHeader)
	}
	return b.Bytes(), sizes, nil
}

// quote appends s as a JSON string.
func quote(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("safetensors: write: %q is not UTF-8", s)
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	b.Truncate(b.Len() - 1) // Encode's newline
	return nil
}
