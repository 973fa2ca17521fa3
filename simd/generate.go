package simd

//go:generate go run -C _asm . -pkg simd -out ../convert_amd64.s -stubs ../convert_stub_amd64.go convert
//go:generate go run -C _asm . -pkg simd -out ../float_amd64.s -stubs ../float_stub_amd64.go float
