//go:build purego || !(amd64 || arm64)

package simd

// available returns the generic set: this build has no assembly.
func available() []*kernels { return []*kernels{&generic} }
