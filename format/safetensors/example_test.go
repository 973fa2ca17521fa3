package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"strings"

	"memsizer/format/safetensors"
)

// Write two tensors and read one of them back.
func Example() {
	var file bytes.Buffer
	err := safetensors.Write(&file, []safetensors.NamedTensor{
		{Name: "ids", DType: "U8", Shape: []int{3}, Data: strings.NewReader("\x00\x01\x02")},
		{Name: "weight", DType: "F32", Shape: []int{1, 2}, Data: bytes.NewReader([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})},
	}, map[string]string{"format": "pt"})
	if err != nil {
		log.Fatal(err)
	}

	f, err := safetensors.NewFile(bytes.NewReader(file.Bytes()), int64(file.Len()), "memory")
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range f.Tensors() {
		fmt.Println(t.Name, t.DType, t.Shape, t.Size, "bytes")
	}
	values := make([]float32, 2)
	if err := binary.Read(f.Tensor("weight").Reader(), binary.LittleEndian, values); err != nil {
		log.Fatal(err)
	}
	fmt.Println(values)
	// Output:
	// weight F32 [1 2] 8 bytes
	// ids U8 [3] 3 bytes
	// [1 2]
}
