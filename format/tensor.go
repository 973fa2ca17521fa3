package format

import (
	"encoding/binary"
	"math"
	"slices"

	"memsizer/simd"
)

// Tensor is a tensor with its values.
type Tensor struct {
	TensorInfo
	// Data holds the elements, little-endian, row-major [out, in]; for I8 the
	// int8 values. It is read-only, and when it comes from a memory map it is
	// valid until the Reader is closed.
	Data []byte
	// Scales has one factor per row for I8, else nil: element [i, j] is
	// Scales[i]·Data[i, j].
	Scales []float32
}

// conversionChunk is the number of elements converted at a time.
const conversionChunk = 4096

// Float32s writes the len(dst) elements from the flat index first on to dst.
// It panics when the tensor does not have them.
func (t *Tensor) Float32s(dst []float32, first int) {
	if first < 0 || int64(first)+int64(len(dst)) > t.Elements() {
		panic("format: Float32s beyond the tensor's elements")
	}
	size := t.DType.Size()
	src := t.Data[first*size : (first+len(dst))*size]
	switch t.DType {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case F16:
		fromHalves(dst, src, simd.F32FromF16)
	case BF16:
		fromHalves(dst, src, simd.F32FromBF16)
	case I8:
		cols := t.Shape[1]
		for i := range dst {
			dst[i] = t.Scales[(first+i)/cols] * float32(int8(src[i]))
		}
	}
}

func fromHalves(dst []float32, src []byte, convert func([]float32, []uint16)) {
	var halves [conversionChunk]uint16
	for len(dst) > 0 {
		n := min(len(dst), len(halves))
		for i := range n {
			halves[i] = binary.LittleEndian.Uint16(src[2*i:])
		}
		convert(dst[:n], halves[:n])
		dst, src = dst[n:], src[2*n:]
	}
}

// AppendFloats appends src to dst as elements of type F32, F16 or BF16,
// little-endian, rounded to nearest even. A value beyond the type's range
// becomes an infinity: callers look for it first. It panics on I8.
func AppendFloats(dst []byte, dtype DType, src []float32) []byte {
	switch dtype {
	case F32:
		for _, v := range src {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
		}
		return dst
	case F16:
		return appendHalves(dst, src, simd.F16FromF32)
	case BF16:
		return appendHalves(dst, src, simd.BF16FromF32)
	}
	panic("format: AppendFloats to a type that is not floating-point")
}

func appendHalves(dst []byte, src []float32, convert func([]uint16, []float32)) []byte {
	var halves [conversionChunk]uint16
	at := len(dst)
	dst = slices.Grow(dst, 2*len(src))[:at+2*len(src)]
	for len(src) > 0 {
		n := min(len(src), len(halves))
		convert(halves[:n], src[:n])
		out := dst[at:][:2*n]
		for i, h := range halves[:n] {
			binary.LittleEndian.PutUint16(out[2*i:], h)
		}
		at, src = at+2*n, src[n:]
	}
	return dst
}

// FirstBeyond is the index of the first element of v that is NaN or larger than
// limit in magnitude; −1 if there is none.
func FirstBeyond(v []float32, limit float32) int {
	for at := 0; at < len(v); at += conversionChunk {
		part := v[at:min(at+conversionChunk, len(v))]
		if simd.MaxAbs(part) <= limit {
			continue
		}
		for i, x := range part {
			if !(x <= limit && x >= -limit) {
				return at + i
			}
		}
	}
	return -1
}
