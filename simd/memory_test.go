package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	lengths := []int{256, 300, 512, 1024}
	for d := 1; d <= 4*32+1; d += 3 {
		lengths = append(lengths, d)
	}
	for _, d := range lengths {
		for _, k := range []int{1, 2, 4, 7, 32} {
			m := randomFloats(rng, k*d)
			kappa, alpha, nu := randomFloats(rng, k), randomFloats(rng, k), randomFloats(rng, d)
			half := make([]uint16, k*d)
			F16FromF32(half, m)
			restore, _ := Force("generic")
			wantM, wantY, wantHalf, wantScores := append([]float32(nil), m...), make([]float32, d), make([]float32, d), make([]float32, k)
			MemoryUpdate(wantM, kappa, nu)
			MemoryRead(wantY, wantM, alpha, 0.7)
			MemoryReadF16(wantHalf, half, alpha, 0.7)
			Scores(wantScores, nu, m, d, 0.125)
			restore()
			for i := range d {
				sum, abs := 0.0, 0.0
				for j := range k {
					v := float64(alpha[j]) * float64(wantM[j*d+i])
					sum, abs = sum+v, abs+math.Abs(v)
				}
				if math.Abs(float64(wantY[i])-0.7*sum) > float64(k+2)*0x1p-24*abs {
					t.Fatalf("read of %d×%d: element %d: got %g, want %g", k, d, i, wantY[i], 0.7*sum)
				}
			}
			for _, set := range Sets() {
				restore, _ := Force(set)
				what := fmt.Sprintf("%s %d×%d", set, k, d)
				gotM, cleanM := framed(m, d%3)
				y, cleanY := framed(make([]float32, d), d%5)
				MemoryUpdate(gotM, kappa, nu)
				sameFloats(t, what+" update", gotM, wantM)
				MemoryRead(y, gotM, alpha, 0.7)
				sameFloats(t, what+" read", y, wantY)
				MemoryReadF16(y, half, alpha, 0.7)
				sameFloats(t, what+" half read", y, wantHalf)
				stepM, cleanStep := framed(m, d%7)
				clear(y)
				MemoryStep(y, stepM, kappa, nu, alpha, 0.7)
				sameFloats(t, what+" step", y, wantY)
				sameFloats(t, what+" step's memory", stepM, wantM)
				scores, cleanScores := framed(make([]float32, k), k)
				Scores(scores, nu, m, d, 0.125)
				sameFloats(t, what+" scores", scores, wantScores)
				for _, c := range []func(*testing.T){cleanM, cleanY, cleanStep, cleanScores} {
					c(t)
				}
				restore()
			}
		}
	}
}

func TestQuantizeRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for k := 1; k <= 4*32+1; k++ {
		for _, kind := range []int{0, 1, 2} {
			const m = 3
			k4 := (k + 3) &^ 3
			x := randomFloats(rng, m*(k+1))
			switch kind {
			case 1:
				x = spread(rng, m*(k+1))
			case 2:
				clear(x)
				x[0] = 0x1p-149
			}
			want := make([]uint8, k)
			for _, set := range Sets() {
				restore, _ := Force(set)
				got, scale := make([]uint8, m*k4+1), make([]float32, m)
				got[m*k4] = 99
				QuantizeRows(got, k4, scale, x, k+1, m, k)
				bf, wantBF := make([]uint16, m*k4), make([]uint16, k)
				RoundRowsBF16(bf, k4, x, k+1, m, k)
				for r := range m {
					row := x[r*(k+1) : r*(k+1)+k]
					s := quantizeRowGeneric(want, row)
					sameFloats(t, set+" scale", scale[r:r+1], []float32{s})
					for i, g := range got[r*k4 : r*k4+k4] {
						if w := append(want, 128, 128, 128)[i]; g != w {
							t.Fatalf("%s: row %d of %d, element %d: got %d, want %d", set, r, k, i, g, w)
						}
						if kind == 0 && i < k && math.Abs(float64(int(g)-128)*float64(s)-float64(row[i])) > float64(s)*0.5001 {
							t.Fatalf("%s: %g became %d·%g", set, row[i], int(g)-128, s)
						}
					}
					roundRowBF16Generic(wantBF, row)
					for i, w := range wantBF {
						if g := bf[r*k4+i]; g != w {
							t.Fatalf("%s: bfloat16 of %g: got %#x, want %#x", set, row[i], g, w)
						}
					}
				}
				if got[m*k4] != 99 {
					t.Fatalf("%s: wrote behind the end", set)
				}
				restore()
			}
		}
	}
}
