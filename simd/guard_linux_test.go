package simd

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns a zeroed slice that ends where memory ends: touching what is behind it is a fault.
func guarded[T any](t *testing.T, n int) []T {
	t.Helper()
	var e T
	size := n * int(unsafe.Sizeof(e))
	page := syscall.Getpagesize()
	length := (size+page-1)/page*page + page
	m, err := syscall.Mmap(-1, 0, length, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	if err := syscall.Mprotect(m[length-page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[length-page-size])), n)
}

func guardedCopy[T any](t *testing.T, x []T) []T {
	g := guarded[T](t, len(x))
	copy(g, x)
	return g
}

// TestGuardPages runs every kernel on slices that end at the end of mapped memory: a read behind the end
// faults, which canaries do not see.
func TestGuardPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, y, d := guardedCopy(t, randomFloats(rng, n)), guardedCopy(t, randomFloats(rng, n)), guarded[float32](t, n)
			h := guarded[uint16](t, n)
			bytes, scale := guarded[uint8](t, (n+3)&^3), guarded[float32](t, 1)
			even := guarded[uint16](t, (n+1)&^1)
			memory := guardedCopy(t, randomFloats(rng, 3*n))
			half := guarded[uint16](t, 3*n)
			three, more := guardedCopy(t, randomFloats(rng, 3)), guardedCopy(t, randomFloats(rng, 3))
			values, indices := guarded[float32](t, 3), guarded[int32](t, 3)
			eachSet(t, func(t *testing.T) {
				F16FromF32(h, x)
				F32FromF16(d, h)
				BF16FromF32(h, x)
				F32FromBF16(d, h)
				for _, k := range unaryKernels {
					k.f(d, x)
				}
				AXPY(d, 2, x)
				Dot(x, y)
				LayerNorm(d, x, y, y, 1e-5)
				Softmax(d, x)
				LogSoftmax(d, x)
				SlotSoftmax(d, memory, 3)
				TopK(values, indices, x)
				QuantizeRows(bytes, len(bytes), scale, x, n, 1, n)
				RoundRowsBF16(even, len(even), x, n, 1, n)
				MemoryStep(d, memory, three, x, more, 1)
				MemoryUpdate(memory, three, x)
				MemoryRead(d, memory, three, 1)
				MemoryReadF16(d, half, three, 1)
				Scores(three, x, memory, n, 1)
			})
		})
	}
}

// TestGuardPagesMatMul is TestGuardPages for products.
func TestGuardPagesMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for _, s := range [][3]int{{1, 32, 1}, {1, 130, 5}, {2, 128, 3}, {3, 65, 4}, {4, 64, 7}, {5, 33, 8}, {6, 40, 2}, {14, 32, 9}, {20, 50, 6}, {1, 256, 300}} {
		m, n, k := s[0], s[1], s[2]
		t.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(t *testing.T) {
			p := newProblem(rng, m, n, k)
			x := guarded[float32](t, m*k)
			f32s, f16s := guardedCopy(t, p.f32), guardedCopy(t, p.f16)
			bf := guarded[uint16](t, PackedLenBF16(n, k))
			PackBF16FromF32(bf, n, k, 0, p.w)
			k2, k4 := (k+1)&^1, (k+3)&^3
			x16, x8 := guarded[uint16](t, m*k2), guarded[uint8](t, m*k4)
			w8, comp, scale, xscale := guarded[int8](t, PackedLenI8(n, k)), guarded[int32](t, Panels(n)*Panel), guarded[float32](t, Panels(n)*Panel), guarded[float32](t, m)
			d := guarded[float32](t, m*n)
			e := &Epilogue{Bias: guarded[float32](t, n), Activation: ActReLU, Residual: guarded[float32](t, m*n), LdResidual: n}
			eachSet(t, func(t *testing.T) {
				MatMulF32(d, n, x, k, m, f32s, n, k, 0, Panels(n), e)
				MatMulF16(d, n, x, k, m, f16s, n, k, 0, Panels(n), e)
				MatMulBF16(d, n, x16, k2, m, bf, n, k, 0, Panels(n), e)
				MatMulI8(d, n, x8, k4, xscale, m, w8, scale, comp, n, k, 0, Panels(n), e)
			})
		})
	}
}
