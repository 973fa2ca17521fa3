package pytorch

import "fmt"

// DType is the element type of a tensor or storage.
type DType uint8

// Element types. The complex and 8-bit float types are described and streamed
// like the others; what they mean is the caller's business.
const (
	Invalid DType = iota
	Float32
	Float16
	BFloat16
	Float64
	Int64
	Int32
	Int16
	Int8
	Uint8
	Bool
	Uint16
	Uint32
	Uint64
	Complex32
	Complex64
	Complex128
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
)

var dtypes = [...]struct {
	name string
	size int
}{
	Invalid:        {"invalid", 0},
	Float32:        {"float32", 4},
	Float16:        {"float16", 2},
	BFloat16:       {"bfloat16", 2},
	Float64:        {"float64", 8},
	Int64:          {"int64", 8},
	Int32:          {"int32", 4},
	Int16:          {"int16", 2},
	Int8:           {"int8", 1},
	Uint8:          {"uint8", 1},
	Bool:           {"bool", 1},
	Uint16:         {"uint16", 2},
	Uint32:         {"uint32", 4},
	Uint64:         {"uint64", 8},
	Complex32:      {"complex32", 4},
	Complex64:      {"complex64", 8},
	Complex128:     {"complex128", 16},
	Float8E4M3FN:   {"float8_e4m3fn", 1},
	Float8E4M3FNUZ: {"float8_e4m3fnuz", 1},
	Float8E5M2:     {"float8_e5m2", 1},
	Float8E5M2FNUZ: {"float8_e5m2fnuz", 1},
}

// String returns torch's name of the type, "float32".
func (d DType) String() string {
	if int(d) < len(dtypes) {
		return dtypes[d].name
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// Size returns the size of an element in bytes, 0 for Invalid.
func (d DType) Size() int {
	if int(d) < len(dtypes) {
		return dtypes[d].size
	}
	return 0
}

// dtypeNames maps torch's names, as in the global torch.float32, to types.
var dtypeNames = func() map[string]DType {
	m := make(map[string]DType)
	for i, d := range dtypes {
		if DType(i) != Invalid {
			m[d.name] = DType(i)
		}
	}
	for alias, name := range map[string]string{
		"float": "float32", "half": "float16", "double": "float64", "long": "int64",
		"int": "int32", "short": "int16", "cfloat": "complex64", "cdouble": "complex128",
	} {
		m[alias] = m[name]
	}
	return m
}()

// storageDTypes maps the names of torch's storage classes to element types.
var storageDTypes = map[string]DType{
	"FloatStorage": Float32, "HalfStorage": Float16, "BFloat16Storage": BFloat16, "DoubleStorage": Float64,
	"LongStorage": Int64, "IntStorage": Int32, "ShortStorage": Int16, "CharStorage": Int8,
	"ByteStorage": Uint8, "BoolStorage": Bool,
	"ComplexFloatStorage": Complex64, "ComplexDoubleStorage": Complex128,
	// Quantized tensors store their integers; what scales them is in the
	// call that rebuilds the tensor, which stays inert.
	"QInt8Storage": Int8, "QUInt8Storage": Uint8, "QInt32Storage": Int32,
	"QUInt4x2Storage": Uint8, "QUInt2x4Storage": Uint8,
	"UntypedStorage": Uint8, "_UntypedStorage": Uint8,
}
