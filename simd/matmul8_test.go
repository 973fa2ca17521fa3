package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestMatMulI8 wants the bits of the generic kernel, with values at the ends of their ranges, where
// narrower arithmetic saturates.
func TestMatMulI8(t *testing.T) {
	for si, s := range shapes() {
		m, n, k := s[0], s[1], s[2]
		rng := rand.New(rand.NewPCG(uint64(m), uint64(n*1000+k)))
		k4 := (k + 3) &^ 3
		ldx, ldd := k4+rng.IntN(3), n+rng.IntN(3)
		x := make([]uint8, m*ldx+1)
		rows := make([]int8, n*k)
		for i := range x {
			x[i] = uint8(rng.IntN(256))
			if si%3 == 0 {
				x[i] = 255
			}
		}
		for i := range rows {
			rows[i] = int8(rng.IntN(255) - 127)
			if si%3 == 0 {
				rows[i] = 127 - int8(254*(si/3%2))
			}
		}
		w := make([]int8, PackedLenI8(n, k))
		comp := make([]int32, Panels(n)*Panel)
		cut := rng.IntN(n + 1)
		PackI8(w, comp, n, k, cut, rows[cut*k:])
		PackI8(w, comp, n, k, 0, rows[:cut*k])
		scale, xscale := randomFloats(rng, len(comp)), randomFloats(rng, m+1)
		p0, p1 := 0, Panels(n)
		if rng.IntN(2) == 0 {
			p0 = rng.IntN(p1)
			p1 = p0 + 1 + rng.IntN(p1-p0)
		}
		c0, c1 := p0*Panel, min(p1*Panel, n)
		e := randomEpilogue(rng, m, n)
		want, _ := canvas(m, ldd, c0, c1)
		matMulI8Generic(want, ldd, x, ldx, xscale, m, w, scale, comp, n, k, p0, p1, nil)
		for r := range m {
			for c := c0; c < c1; c++ {
				sum := int32(0)
				for i := range k {
					sum += (int32(x[r*ldx+i]) - 128) * int32(rows[c*k+i])
				}
				if got, want := want[r*ldd+c], float32(sum)*xscale[r]*scale[c]; got != want {
					t.Fatalf("%v: row %d, column %d: got %g, want %g", s, r, c, got, want)
				}
			}
		}
		e.apply(want, ldd, 0, m, c0, c1)
		for _, name := range Sets() {
			restore, err := Force(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s/%dx%dx%d", name, m, n, k), func(t *testing.T) {
				got, clean := canvas(m, ldd, c0, c1)
				MatMulI8(got, ldd, x, ldx, xscale, m, w, scale, comp, n, k, p0, p1, e)
				clean(t)
				checkBits(t, got, want)
			})
			restore()
		}
	}
}

// TestMatMulBF16 wants the bits of the generic kernel, and of a set with its own instruction for bfloat16
// the bound that is stated.
func TestMatMulBF16(t *testing.T) {
	testMatMulBF16(t, Sets())
}

func testMatMulBF16(t *testing.T, sets []string) {
	for _, s := range shapes() {
		m, n, k := s[0], s[1], s[2]
		rng := rand.New(rand.NewPCG(uint64(m), uint64(n*1000+k)))
		k2 := (k + 1) &^ 1
		ldx, ldb, ldd := k+rng.IntN(3), k2+rng.IntN(3), n+rng.IntN(3)
		x := randomFloats(rng, m*ldx+1)
		xb := make([]uint16, m*ldb+1)
		RoundRowsBF16(xb, ldb, x, ldx, m, k)
		rows := randomFloats(rng, n*k)
		w := make([]uint16, PackedLenBF16(n, k))
		PackBF16FromF32(w, n, k, 0, rows)
		want, _ := canvas(m, ldd, 0, n)
		matMulBF16Generic(want, ldd, xb, ldb, m, w, n, k, 0, Panels(n), nil)
		for _, name := range sets {
			restore, err := Force(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s/%dx%dx%d", name, m, n, k), func(t *testing.T) {
				got, clean := canvas(m, ldd, 0, n)
				MatMulBF16(got, ldd, xb, ldb, m, w, n, k, 0, Panels(n), nil)
				clean(t)
				if active.peakBF16(1) == 0 {
					checkBits(t, got, want)
				}
				for r := range m {
					for c := range n {
						sum, abs := 0.0, 0.0
						for i := range k {
							v := float64(f32FromBF16(xb[r*ldb+i])) * float64(f32FromBF16(bf16FromF32(rows[c*k+i])))
							sum += v
							abs += math.Abs(v)
						}
						if d := math.Abs(float64(got[r*ldd+c]) - sum); d > float64(k)*(0x1p-24*abs+0x1p-126) {
							t.Fatalf("row %d, column %d: got %g, want %g", r, c, got[r*ldd+c], sum)
						}
					}
				}
			})
			restore()
		}
	}
}

// TestPackKeepsGroups compares every kind of packing with its definition.
func TestPackKeepsGroups(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 64, 100} {
		for _, k := range []int{1, 3, 4, 31, 32, 36, 64, 70} {
			testPack[float32](t, n, k, 1)
			testPack[uint16](t, n, k, 1)
			testPack[uint16](t, n, k, 2)
			testPack[int8](t, n, k, 4)
		}
	}
}

func testPack[T float32 | uint16 | int8](t *testing.T, n, k, g int) {
	t.Helper()
	src := make([]T, n*k)
	for i := range src {
		src[i] = T(i*7%127 + 1)
	}
	kp := (k + g - 1) / g * g
	got, want := make([]T, Panels(n)*Panel*kp), make([]T, Panels(n)*Panel*kp)
	cut := n / 3 // rows may come in parts
	pack(got, k, g, cut, src[cut*k:])
	pack(got, k, g, 0, src[:cut*k])
	for r := range n {
		for c := range k {
			want[(r/Panel*(kp/g)+c/g)*Panel*g+r%Panel*g+c%g] = src[r*k+c]
		}
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%T, %d rows of %d in groups of %d: element %d is %v, want %v", src[0], n, k, g, i, got[i], want[i])
		}
	}
}
