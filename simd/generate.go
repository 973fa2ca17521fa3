package simd

//go:generate go run -C _asm . -pkg simd -out ../convert_amd64.s -stubs ../convert_stub_amd64.go convert
//go:generate go run -C _asm . -pkg simd -out ../float_amd64.s -stubs ../float_stub_amd64.go float
//go:generate go run -C _asm . -pkg simd -out ../peak_amd64.s -stubs ../peak_stub_amd64.go peak
//go:generate go run -C _asm . -pkg simd -out ../int8_amd64.s -stubs ../int8_stub_amd64.go int8
//go:generate go run -C _asm . -pkg simd -out ../bfloat_amd64.s -stubs ../bfloat_stub_amd64.go bfloat
//go:generate go run -C _asm . -pkg simd -out ../elementwise_amd64.s -stubs ../elementwise_stub_amd64.go elementwise
//go:generate go run -C _asm . -pkg simd -out ../reduce_amd64.s -stubs ../reduce_stub_amd64.go reduce
//go:generate go run -C _asm . -pkg simd -out ../memory_amd64.s -stubs ../memory_stub_amd64.go memory
//go:generate go run -C _asm . -pkg simd -out ../quantize_amd64.s -stubs ../quantize_stub_amd64.go quantize
//go:generate go run -C _asm ./arm64 -out ../convert_arm64.s -stubs ../convert_stub_arm64.go convert
//go:generate go run -C _asm ./arm64 -out ../float_arm64.s -stubs ../float_stub_arm64.go float
//go:generate go run -C _asm ./arm64 -out ../int8_arm64.s -stubs ../int8_stub_arm64.go int8
//go:generate go run -C _asm ./arm64 -out ../elementwise_arm64.s -stubs ../elementwise_stub_arm64.go elementwise
//go:generate go run -C _asm ./arm64 -out ../reduce_arm64.s -stubs ../reduce_stub_arm64.go reduce
//go:generate go run -C _asm ./arm64 -out ../memory_arm64.s -stubs ../memory_stub_arm64.go memory
//go:generate go run -C _asm ./arm64 -out ../quantize_arm64.s -stubs ../quantize_stub_arm64.go quantize
//go:generate go run -C _asm ./arm64 -out ../peak_arm64.s -stubs ../peak_stub_arm64.go peak
