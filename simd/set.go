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
