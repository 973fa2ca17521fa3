package main

import (
	"encoding/binary"
	"io"
	"testing"

	"memsizer/format/safetensors"
)

// sourceTokens reads src_tokens [B, S] of a recorded reference and strips the
// padding of each sentence.
func sourceTokens(t *testing.T, path string) [][]int32 {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x := f.Tensor("src_tokens")
	if x == nil || x.DType != "I64" || len(x.Shape) != 2 {
		t.Fatalf("%s: no src_tokens [B, S] of I64", path)
	}
	data, err := io.ReadAll(x.Reader())
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]int32, x.Shape[0])
	for i := range rows {
		for j := range x.Shape[1] {
			if id := int64(binary.LittleEndian.Uint64(data[8*(i*x.Shape[1]+j):])); id != 1 {
				rows[i] = append(rows[i], int32(id))
			}
		}
	}
	return rows
}
