package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/x448/float16"
	"google.golang.org/protobuf/encoding/protowire"
)

// chunk is how many elements are converted at a time.
const chunk = 8192

// Sequential reports whether elements can only be reached by walking over all
// that come before them, as in fields of variable-length numbers. Whoever
// reads such a tensor out of order reads it whole first.
func (t *Tensor) Sequential() bool {
	return t.storage == typed && t.column != 4 && t.column != 10
}

// Float32s reads len(dst) elements from element at on, row-major. Half
// precision and bfloat16 are exact in float32, float64 is rounded to nearest
// even. It is an error if the tensor is of another type or has fewer
// elements.
func (t *Tensor) Float32s(dst []float32, at int64) error {
	if !t.DType.IsFloat() {
		return t.wrong("a float type")
	}
	size := int(t.DType.Size())
	return t.read(at, int64(len(dst)), func(b []byte) {
		switch t.DType {
		case Float:
			for ; len(b) >= 4; b = b[4:] {
				dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(b))
				dst = dst[1:]
			}
			return
		}
		for ; len(b) >= size; b = b[size:] {
			switch t.DType {
			case Float16:
				dst[0] = float16.Frombits(binary.LittleEndian.Uint16(b)).Float32()
			case BFloat16:
				dst[0] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
			case Double:
				dst[0] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
			}
			dst = dst[1:]
		}
	})
}

// Float64s is Float32s without the rounding of float64.
func (t *Tensor) Float64s(dst []float64, at int64) error {
	if t.DType != Double {
		return t.wrong("float64")
	}
	return t.read(at, int64(len(dst)), func(b []byte) {
		for ; len(b) >= 8; b = b[8:] {
			dst[0] = math.Float64frombits(binary.LittleEndian.Uint64(b))
			dst = dst[1:]
		}
	})
}

// Int64s reads len(dst) elements from element at on, row-major; bool is 0 or
// 1, uint64 beyond int64 an error, and so is another type.
func (t *Tensor) Int64s(dst []int64, at int64) error {
	if !t.DType.IsInteger() {
		return t.wrong("an integer type")
	}
	size := int(t.DType.Size())
	big := false
	err := t.read(at, int64(len(dst)), func(b []byte) {
		for ; len(b) >= size; b = b[size:] {
			v := integer(t.DType, b)
			big = big || t.DType == Uint64 && v < 0
			dst[0] = v
			dst = dst[1:]
		}
	})
	if err == nil && big {
		return &UnsupportedError{t.file.Name, t.off, fmt.Sprintf("tensor %q of %v has values beyond int64", t.Name, t.DType)}
	}
	return err
}

func integer(d DType, b []byte) int64 {
	switch d {
	case Uint8:
		return int64(b[0])
	case Bool:
		return int64(min(b[0], 1))
	case Int8:
		return int64(int8(b[0]))
	case Uint16:
		return int64(binary.LittleEndian.Uint16(b))
	case Int16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case Uint32:
		return int64(binary.LittleEndian.Uint32(b))
	case Int32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (t *Tensor) wrong(want string) error {
	return fmt.Errorf("onnx: %q: tensor %q is of %v, want %s", t.file.Name, t.Name, t.DType, want)
}

// read calls fn with the little-endian bytes of n elements from at on, in
// pieces of whole elements.
func (t *Tensor) read(at, n int64, fn func([]byte)) error {
	if at < 0 || n < 0 || at > t.elements || n > t.elements-at {
		return fmt.Errorf("onnx: %q: tensor %q: elements %d to %d, it has %d", t.file.Name, t.Name, at, at+n, t.elements)
	}
	if n == 0 {
		return nil
	}
	switch t.storage {
	case raw:
		return t.readAt(t.file.src.r, at, n, fn)
	case external:
		if t.outer.r == nil {
			return &UnsupportedError{t.file.Name, -1, fmt.Sprintf("tensor %q has its data in %q, and there is no folder to look in", t.Name, t.outer.location)}
		}
		return t.readAt(t.outer.r, at, n, fn)
	}
	return t.readTyped(at, n, fn)
}

// buffers are kept for reading, so that streaming a model leaves no garbage.
var buffers = sync.Pool{New: func() any { return new([chunk * 16]byte) }}

func (t *Tensor) readAt(r io.ReaderAt, at, n int64, fn func([]byte)) error {
	size := t.DType.Size()
	buf := buffers.Get().(*[chunk * 16]byte)
	defer buffers.Put(buf)
	off := t.off + at*size
	for n > 0 {
		b := buf[:min(n, chunk)*size]
		if got, err := r.ReadAt(b, off); got < len(b) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("onnx: %q: tensor %q: %w", t.file.Name, t.Name, err)
		}
		fn(b)
		off += int64(len(b))
		n -= int64(len(b)) / size
	}
	return nil
}

// readTyped walks the typed field, which may come in several pieces.
func (t *Tensor) readTyped(at, n int64, fn func([]byte)) error {
	s := &source{r: t.file.src.r, size: t.file.src.size, name: t.file.src.name}
	c := s.fields(t.off, t.n)
	size := t.DType.Size()
	out := make([]byte, 0, min(n, chunk)*size+8)
	emit := func(v uint64) bool {
		if at > 0 {
			at--
			return true
		}
		out = binary.LittleEndian.AppendUint64(out, v)[:len(out)+int(size)]
		n--
		if n == 0 || int64(len(out)) >= chunk*size {
			fn(out)
			out = out[:0]
		}
		return n > 0
	}
	for n > 0 {
		f, ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			return s.corrupt(t.off, "tensor %q ends early", t.Name)
		}
		switch {
		case f.num != t.column:
		case f.typ != protowire.BytesType:
			emit(f.value)
		case t.column == 4 || t.column == 10:
			if err := t.fixed(s, f, &at, emit); err != nil {
				return err
			}
		default:
			if err := s.varints(f.off, f.n, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// fixed walks a packed field of fixed-size numbers, without touching those in
// front of at.
func (t *Tensor) fixed(s *source, f field, at *int64, emit func(uint64) bool) error {
	size := t.DType.Size()
	skip := min(*at, f.n/size)
	*at -= skip
	for off, end := f.off+skip*size, f.off+f.n; off < end; {
		b, err := s.peek(off, min(windowSize, end-off))
		if err != nil {
			return err
		}
		b = b[:int64(len(b))/size*size]
		off += int64(len(b))
		for ; len(b) > 0; b = b[size:] {
			v := uint64(0)
			if size == 4 {
				v = uint64(binary.LittleEndian.Uint32(b))
			} else {
				v = binary.LittleEndian.Uint64(b)
			}
			if !emit(v) {
				return nil
			}
		}
	}
	return nil
}

// roundBFloat16 rounds to nearest even; a NaN stays one.
func roundBFloat16(f float32) float32 {
	u := math.Float32bits(f)
	if f != f {
		return math.Float32frombits(u | 0x400000)
	}
	return math.Float32frombits((u + 0x7fff + u>>16&1) &^ 0xffff)
}
