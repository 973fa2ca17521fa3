package format

import (
	"encoding/json"
	"fmt"
)

// DType is the element type of a stored tensor.
type DType uint8

const (
	F32  DType = iota // IEEE 754 binary32
	F16               // IEEE 754 binary16
	BF16              // upper half of binary32
	I8                // signed bytes −127…127 with one f32 scale per row of a matrix
)

// DTypes are all element types of this quantisation revision.
var DTypes = []DType{F32, F16, BF16, I8}

var dtypeNames = [...]string{"f32", "f16", "bf16", "i8"}

var dtypeSizes = [...]int{4, 2, 2, 1}

// String is the name used in headers and on command lines: "f32", "f16",
// "bf16" or "i8".
func (d DType) String() string {
	if int(d) >= len(dtypeNames) {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypeNames[d]
}

// Size is the number of bytes of one element (I8: 1, its scales not counted).
// It panics on a value that is not one of the constants.
func (d DType) Size() int {
	if int(d) >= len(dtypeSizes) {
		panic("format: Size of an unknown dtype")
	}
	return dtypeSizes[d]
}

// ParseDType is the inverse of [DType.String].
func ParseDType(s string) (DType, error) {
	for i, n := range dtypeNames {
		if s == n {
			return DType(i), nil
		}
	}
	return 0, fmt.Errorf("format: element type %q, want one of %q", s, dtypeNames)
}

// MarshalJSON writes the name.
func (d DType) MarshalJSON() ([]byte, error) {
	if int(d) >= len(dtypeNames) {
		return nil, fmt.Errorf("format: unknown element type %d", uint8(d))
	}
	return json.Marshal(dtypeNames[d])
}

// UnmarshalJSON reads the name.
func (d *DType) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := ParseDType(s)
	if err != nil {
		return err
	}
	*d = v
	return nil
}
