package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Ladder lists the names of all instruction sets, of all architectures, in the order in which a machine
// that has several prefers the later one.
var Ladder = []string{"generic", "avx2", "avxvnni", "avx512", "avx512vnni", "avx512bf16", "neon", "neonfhm", "neondot"}

// kernels is one column of the dispatch table: an implementation of every kernel.
// A set copies the table of the set below it and replaces what it does better.
type kernels struct {
	name string

	f32FromF16  func(dst []float32, src []uint16)
	f16FromF32  func(dst []uint16, src []float32)
	f32FromBF16 func(dst []float32, src []uint16)
	bf16FromF32 func(dst []uint16, src []float32)

	quantizeRow  func(dst []uint8, x []float32) float32
	roundRowBF16 func(dst []uint16, x []float32)

	matMulF32  func(dst []float32, ldd int, x []float32, ldx, m int, w []float32, n, k, p0, p1 int, e *Epilogue)
	matMulF16  func(dst []float32, ldd int, x []float32, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue)
	matMulBF16 func(dst []float32, ldd int, x []uint16, ldx, m int, w []uint16, n, k, p0, p1 int, e *Epilogue)
	matMulI8   func(dst []float32, ldd int, x []uint8, ldx int, xscale []float32, m int, w []int8, scale []float32, comp []int32, n, k, p0, p1 int, e *Epilogue)

	epilogue func(e *Epilogue, dst []float32, ldd, r0, r1, c0, c1 int)

	add       func(dst, a, b []float32)
	scale     func(dst, x []float32, s float32)
	axpy      func(dst []float32, a float32, x []float32)
	dot       func(x, y []float32) float32
	max       func(x []float32) float32
	maxAbs    func(x []float32) float32
	relu      func(dst, x []float32)
	exp       func(dst, x []float32)
	gelu      func(dst, x []float32)
	geluTanh  func(dst, x []float32)
	tanh      func(dst, x []float32)
	swish     func(dst, x []float32)
	layerNorm func(dst, x, gamma, beta []float32, eps float32)

	expSum      func(dst, x []float32, m float32) float32
	subTwo      func(dst, x []float32, a, b float32)
	slotSoftmax func(alpha, q []float32, heads int)
	firstAbove  func(x []float32, i int, v float32) int

	weightedSum    func(dst, p, v []float32, ldv int, s float32)
	weightedSumF16 func(dst, p []float32, v []uint16, ldv int, s float32)
	memoryStep     func(y, m, kappa, nu, alpha []float32, s float32)
	scores         func(dst, q, keys []float32, ldk int, s float32)

	peakFMA  func(n int) int
	peakI8   func(n int) int
	peakBF16 func(n int) int
	read     func(p []byte, stride, n int)
}

// sets are the tables this machine can run, ascending; active is the one in use.
var (
	sets   []*kernels
	active *kernels
)

func init() {
	sets = available()
	active = sets[len(sets)-1]
	name, forced := os.LookupEnv("MEMSIZER_SIMD")
	if !forced || name == "" {
		return
	}
	if _, err := Force(name); err != nil {
		fmt.Fprintf(os.Stderr, "MEMSIZER_SIMD: %v\n", err)
		os.Exit(2)
	}
}

// Set returns the name of the instruction set in use.
func Set() string { return active.name }

// Sets returns the names of the sets this machine has, ascending; the first is always "generic".
func Sets() []string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.name
	}
	return names
}

// Force makes all kernels use the named set until restore is called. It is meant for tests and
// benchmarks that run every variant; it must not be called while a kernel runs in another goroutine.
// The error tells an unknown name from a set which this machine lacks.
func Force(name string) (restore func(), err error) {
	before := active
	for _, s := range sets {
		if s.name == name {
			active = s
			return func() { active = before }, nil
		}
	}
	if !slices.Contains(Ladder, name) {
		return nil, fmt.Errorf("simd: unknown instruction set %q, want one of %s", name, strings.Join(Ladder, ", "))
	}
	return nil, fmt.Errorf("simd: this machine or build lacks the instruction set %q, it has %s", name, strings.Join(Sets(), ", "))
}
