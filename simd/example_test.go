package simd_test

import (
	"fmt"

	"memsizer/simd"
)

// A linear layer: weights [n,k] are packed once, then multiplied with rows of activations.
func ExampleMatMulF16() {
	const n, k = 2, 3
	weights := []float32{1, 2, 3, 4, 5, 6} // [n,k]
	packed := make([]uint16, simd.PackedLen(n, k))
	simd.PackF16FromF32(packed, n, k, 0, weights)

	x := []float32{1, 0, -1, 2, 2, 2} // two rows
	y := make([]float32, 2*n)
	bias := &simd.Epilogue{Bias: []float32{10, 20}}
	simd.MatMulF16(y, n, x, k, 2, packed, n, k, 0, simd.Panels(n), bias)
	fmt.Println(y)
	// Output: [8 18 22 50]
}

func ExampleTopK() {
	values, indices := make([]float32, 2), make([]int32, 2)
	n := simd.TopK(values, indices, []float32{1, 7, 3, 7})
	fmt.Println(n, values, indices)
	// Output: 2 [7 7] [1 3]
}

// One causal step of a MemSizer memory: write κνᵀ, then read with the slot weights.
func ExampleMemoryStep() {
	memory := make([]float32, 2*3) // K = 2 slots, D = 3
	y := make([]float32, 3)
	simd.MemoryStep(y, memory, []float32{1, 2}, []float32{1, 10, 100}, []float32{0.5, 0.5}, 1)
	fmt.Println(y)
	// Output: [1.5 15 150]
}
