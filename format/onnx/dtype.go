package onnx

import "fmt"

// DType is an element type, by its number in onnx.proto.
type DType int32

// The element types. Those after BFloat16 have names here but are not read.
const (
	Undefined  DType = 0
	Float      DType = 1 // IEEE binary32
	Uint8      DType = 2
	Int8       DType = 3
	Uint16     DType = 4
	Int16      DType = 5
	Int32      DType = 6
	Int64      DType = 7
	String     DType = 8
	Bool       DType = 9
	Float16    DType = 10
	Double     DType = 11 // IEEE binary64
	Uint32     DType = 12
	Uint64     DType = 13
	Complex64  DType = 14
	Complex128 DType = 15
	BFloat16   DType = 16
)

var dtypeNames = [...]string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string",
	"bool", "float16", "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16",
	"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2"}

var dtypeSizes = [...]int64{0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2}

// String returns the type's name, "float32".
func (d DType) String() string {
	if d >= 0 && int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("type %d", int32(d))
}

// Size is the size of an element in bytes, 0 for strings and for the types
// that are not read.
func (d DType) Size() int64 {
	if d >= 0 && int(d) < len(dtypeSizes) {
		return dtypeSizes[d]
	}
	return 0
}

// IsFloat reports whether [Tensor.Float32s] reads the type.
func (d DType) IsFloat() bool {
	return d == Float || d == Float16 || d == BFloat16 || d == Double
}

// IsInteger reports whether [Tensor.Int64s] reads the type: integers and bool.
func (d DType) IsInteger() bool {
	switch d {
	case Uint8, Int8, Uint16, Int16, Int32, Int64, Bool, Uint32, Uint64:
		return true
	}
	return false
}
