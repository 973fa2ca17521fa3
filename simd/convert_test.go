package simd

import (
	"math"
	"testing"
)

// eachSet runs a test with every instruction set of this machine and says which it lacks.
func eachSet(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, name := range Sets() {
		t.Run(name, func(t *testing.T) {
			restore, err := Force(name)
			if err != nil {
				t.Fatal(err)
			}
			defer restore()
			f(t)
		})
	}
}

func TestF32FromF16(t *testing.T) {
	src := make([]uint16, 1<<16)
	want := make([]float32, len(src))
	for i := range src {
		src[i] = uint16(i)
	}
	f32FromF16Generic(want, src)
	eachSet(t, func(t *testing.T) {
		for n := 0; n <= 4*32+1; n++ {
			for off := 0; off < 3; off++ {
				at := (n*977 + off) % (len(src) - n)
				got := make([]float32, n+2)
				got[n], got[n+1] = 7, 7
				F32FromF16(got, src[at:at+n])
				checkBits(t, got[:n], want[at:at+n])
				if got[n] != 7 || got[n+1] != 7 {
					t.Fatalf("n=%d: wrote behind the end", n)
				}
			}
		}
		got := make([]float32, len(src))
		F32FromF16(got, src)
		checkBits(t, got, want)
	})
}

func TestF16FromF32(t *testing.T) {
	src := conversionInputs()
	want := make([]uint16, len(src))
	f16FromF32Generic(want, src)
	eachSet(t, func(t *testing.T) {
		got := make([]uint16, len(src)+1)
		got[len(src)] = 7
		F16FromF32(got, src)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%g (%#x): got %#x, want %#x", src[i], math.Float32bits(src[i]), got[i], want[i])
			}
		}
		if got[len(src)] != 7 {
			t.Fatal("wrote behind the end")
		}
		for n := 0; n <= 4*32+1; n++ {
			got := make([]uint16, n+1)
			got[n] = 7
			F16FromF32(got, src[n:2*n])
			for i, g := range got[:n] {
				if g != want[n+i] {
					t.Fatalf("n=%d, %d: got %#x, want %#x", n, i, g, want[n+i])
				}
			}
			if got[n] != 7 {
				t.Fatalf("n=%d: wrote behind the end", n)
			}
		}
	})
}

func TestBF16(t *testing.T) {
	src := conversionInputs()
	want := make([]uint16, len(src))
	bf16FromF32Generic(want, src)
	for i, f := range src { // against arithmetic in float64
		if g := f32FromBF16(want[i]); f != f {
			if g == g {
				t.Fatalf("NaN %#x became %g", math.Float32bits(f), g)
			}
		} else if d := math.Abs(float64(g) - float64(f)); !math.IsInf(float64(g), 0) && d > math.Abs(float64(f))/256+0x1p-134 {
			t.Fatalf("%g became %g", f, g)
		}
	}
	eachSet(t, func(t *testing.T) {
		for n := 0; n < 140; n++ {
			got := make([]uint16, n+1)
			got[n] = 7
			BF16FromF32(got, src[3*n:4*n])
			for i, g := range got[:n] {
				if g != want[3*n+i] {
					t.Fatalf("n=%d, %d: got %#x, want %#x", n, i, g, want[3*n+i])
				}
			}
			if got[n] != 7 {
				t.Fatalf("n=%d: wrote behind the end", n)
			}
		}
		got := make([]uint16, len(src))
		BF16FromF32(got, src)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%#x: got %#x, want %#x", math.Float32bits(src[i]), got[i], want[i])
			}
		}
		wide, back := make([]float32, len(src)+1), make([]float32, len(src))
		wide[len(src)] = 7
		F32FromBF16(wide, want)
		f32FromBF16Generic(back, want)
		checkBits(t, wide[:len(src)], back)
		if wide[len(src)] != 7 {
			t.Fatal("wrote behind the end")
		}
	})
}

// conversionInputs are numbers at and beside every rounding boundary of half, and many others.
func conversionInputs() []float32 {
	var list []float32
	for h := range 1 << 16 {
		u := math.Float32bits(f32FromBF16(uint16(h)))
		for _, d := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001} {
			list = append(list, math.Float32frombits(u+d))
		}
	}
	half := make([]float32, 1<<16)
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	f32FromF16Generic(half, all)
	for _, f := range half {
		u := math.Float32bits(f)
		for _, d := range []uint32{0, 1, 0xfff, 0x1000, 0x1001, 0x1fff} {
			list = append(list, math.Float32frombits(u+d))
		}
	}
	return list
}

// checkBits compares the bits, NaN payloads included.
func checkBits(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("element %d: got %g (%#x), want %g (%#x)", i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
