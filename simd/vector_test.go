package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// unaryKernels are the kernels dst[i] = f(x[i]) with their reference in float64 and the relative error
// that is promised, as a function of x.
var unaryKernels = []struct {
	name  string
	f     func(dst, x []float32)
	want  func(x float64) float64
	bound func(x float64) float64
}{
	{"Exp", Exp, math.Exp, func(float64) float64 { return 0x1p-22 }},
	{"ReLU", ReLU, func(x float64) float64 { return max(x, 0) }, func(float64) float64 { return 0 }},
	{"GELU", GELU, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, func(float64) float64 { return 1e-6 }},
	{"GELUTanh", GELUTanh, func(x float64) float64 {
		u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
		return x / (1 + math.Exp(-2*u))
	}, func(x float64) float64 { return 1e-6 * (1 + math.Abs(x+0.044715*x*x*x)) }},
	{"Tanh", Tanh, math.Tanh, func(float64) float64 { return 5e-7 }},
	{"Swish", Swish, func(x float64) float64 { return x / (1 + math.Exp(-x)) }, func(x float64) float64 { return 1e-6 }},
	{"Scale", func(dst, x []float32) { Scale(dst, x, 0.3) }, func(x float64) float64 { return x * float64(float32(0.3)) }, func(float64) float64 { return 0x1p-24 }},
	{"AddItself", func(dst, x []float32) { Add(dst, x, x) }, func(x float64) float64 { return 2 * x }, func(float64) float64 { return 0 }},
}

// hard are the numbers at which kernels go wrong.
func hard() []float32 {
	inf := float32(math.Inf(1))
	list := []float32{0, 1, inf, float32(math.NaN()), math.MaxFloat32, 0x1p-126, 0x1p-149, 0x1.8p-130, 88.7, 88.73, 89, 103, 103.97, 103.98, 104, 105, 1e10, 0.625, 0.6249999, 15, 14.9, 15.1, 9, 10, 1e-20, 1e-6}
	for _, v := range list {
		list = append(list, -v)
	}
	return list
}

// spread returns n numbers of many magnitudes, ordinary ones and the hard ones.
func spread(rng *rand.Rand, n int) []float32 {
	h := hard()
	x := make([]float32, n)
	for i := range x {
		switch rng.IntN(8) {
		case 0:
			x[i] = h[rng.IntN(len(h))]
		case 1:
			x[i] = float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(260)-140))
		default:
			x[i] = float32(rng.NormFloat64() * 5)
		}
	}
	return x
}

// sameFloats compares bits, but any NaN is like any other.
func sameFloats(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d of %d: got %g (%#x), want %g (%#x)", what, i, len(want), got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// framed returns a copy of x at some offset in a slice with canaries around it, and a check of those.
func framed(x []float32, offset int) ([]float32, func(t *testing.T)) {
	b := make([]float32, len(x)+offset+40)
	for i := range b {
		b[i] = canary
	}
	f := b[offset+1 : offset+1+len(x) : offset+1+len(x)]
	copy(f, x)
	return f, func(t *testing.T) {
		t.Helper()
		for i, v := range b {
			if (i < offset+1 || i >= offset+1+len(x)) && v != canary {
				t.Fatalf("wrote outside, at %d of %d", i-offset-1, len(x))
			}
		}
	}
}

func TestUnary(t *testing.T) {
	for _, k := range unaryKernels {
		t.Run(k.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			x := append(hard(), spread(rng, 5000)...)
			restore, _ := Force("generic")
			want := make([]float32, len(x))
			k.f(want, x)
			restore()
			checkAccuracy(t, x, want, k.want, k.bound)
			eachSet(t, func(t *testing.T) {
				for n := 0; n <= 4*32+1; n++ {
					src, srcClean := framed(x[n:2*n], n%5)
					got, clean := framed(make([]float32, n), n%7)
					k.f(got, src)
					sameFloats(t, "apart", got, want[n:2*n])
					k.f(src, src)
					sameFloats(t, "in place", src, want[n:2*n])
					clean(t)
					srcClean(t)
				}
				got := make([]float32, len(x))
				k.f(got, x)
				sameFloats(t, "long", got, want)
			})
		})
	}
}

func checkAccuracy(t *testing.T, x, got []float32, want, bound func(float64) float64) {
	t.Helper()
	worst, at := 0.0, float32(0)
	for i, v := range x {
		w := want(float64(v))
		g := float64(got[i])
		switch {
		case math.IsNaN(w) || math.IsInf(float64(v), 0):
			if v != v && g == g {
				t.Fatalf("f(NaN): got %g", g)
			}
		case math.Abs(w) > math.MaxFloat32:
			if math.Abs(g) < math.MaxFloat32*(1-1e-6) {
				t.Fatalf("f(%g): got %g, want overflow", v, g)
			}
		default:
			if d := math.Abs(g-w) - 0x1p-148; d > bound(float64(v))*math.Abs(w)+tinyTail(w) {
				t.Fatalf("f(%g): got %g, want %g (relative %g)", v, g, w, d/math.Abs(w))
			}
			if math.Abs(w) > 0x1p-126 && math.Abs(g-w)/math.Abs(w) > worst {
				worst, at = math.Abs(g-w)/math.Abs(w), v
			}
		}
	}
	t.Logf("largest relative error %.3g at %g", worst, at)
}

// tinyTail is what a result may miss where an exponential inside is subnormal or zero.
func tinyTail(w float64) float64 {
	if math.Abs(w) < 1e-36 {
		return 1e-36
	}
	return 0
}

func TestBinary(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := spread(rng, 700), spread(rng, 700)
	eachSet(t, func(t *testing.T) {
		for n := 0; n <= 4*32+1; n++ {
			a, b := x[n:2*n], y[2*n:3*n]
			for _, k := range []struct {
				name          string
				kernel, plain func(dst, a, b []float32)
			}{
				{"Add", Add, addGeneric},
				{"AXPY", func(d, a, b []float32) { copy(d, b); AXPY(d, -1.7, a) }, func(d, a, b []float32) { copy(d, b); axpyGeneric(d, -1.7, a) }},
				{"subTwo", func(d, a, b []float32) { active.subTwo(d, a, 3, 0.1) }, func(d, a, b []float32) { subTwoGeneric(d, a, 3, 0.1) }},
			} {
				got, clean := framed(make([]float32, n), n%3)
				want := make([]float32, n)
				k.kernel(got, a, b)
				k.plain(want, a, b)
				sameFloats(t, k.name, got, want)
				clean(t)
			}
			sameFloats(t, "Dot", []float32{Dot(a, b)}, []float32{dotGeneric(a, b)})
			if got, want := Max(a), maxGeneric(a); got != want {
				t.Fatalf("Max of %d: got %g, want %g", n, got, want)
			}
		}
		long := randomFloats(rng, 3000)
		sum := 0.0
		for _, v := range long {
			sum += float64(v) * float64(v)
		}
		if got := float64(Dot(long, long)); math.Abs(got-sum) > 130*0x1p-24*sum {
			t.Fatalf("Dot of 3000: got %g, want %g", got, sum)
		}
	})
}

func TestRowKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	lengths := []int{512, 1000, 1024, 4097}
	for n := 1; n <= 4*32+1; n++ {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, kind := range []string{"normal", "large", "hard"} {
			x, gamma, beta := randomFloats(rng, n), randomFloats(rng, n), randomFloats(rng, n)
			switch kind {
			case "large":
				Scale(x, x, 40)
			case "hard":
				x = spread(rng, n)
			}
			rows := map[string]func(dst []float32){
				"LayerNorm":  func(dst []float32) { copy(dst, x); LayerNorm(dst, dst, gamma, beta, 1e-5) },
				"Softmax":    func(dst []float32) { Softmax(dst, x) },
				"SoftmaxIn":  func(dst []float32) { copy(dst, x); Softmax(dst, dst) },
				"LogSoftmax": func(dst []float32) { LogSoftmax(dst, x) },
			}
			for name, f := range rows {
				want := make([]float32, n)
				restore, _ := Force("generic")
				f(want)
				lse := LogSumExp(x)
				restore()
				if kind != "hard" {
					checkRow(t, name, x, gamma, beta, want)
				}
				for _, set := range Sets() {
					restore, _ := Force(set)
					got, clean := framed(make([]float32, n), n%3)
					f(got)
					sameFloats(t, fmt.Sprintf("%s/%s/%s", set, kind, name), got, want)
					sameFloats(t, set+"/LogSumExp", []float32{LogSumExp(x)}, []float32{lse})
					clean(t)
					restore()
				}
			}
		}
	}
}

// checkRow compares a row kernel with float64; the bounds grow with n/32, the length of a lane.
func checkRow(t *testing.T, name string, x, gamma, beta, got []float32) {
	t.Helper()
	n := float64(len(x))
	mean, size, peak := 0.0, 0.0, math.Inf(-1)
	for _, v := range x {
		mean += float64(v) / n
		peak = max(peak, float64(v))
		size = max(size, math.Abs(float64(v)))
	}
	variance, sum := 0.0, 0.0
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / n
		sum += math.Exp(float64(v) - peak)
	}
	eps := (n/32 + 12) * 0x1p-24
	for i, v := range x {
		want, bound := 0.0, 0.0
		switch name {
		case "LayerNorm":
			z := (float64(v) - mean) / math.Sqrt(variance+1e-5)
			want = z*float64(gamma[i]) + float64(beta[i])
			bound = eps * (1 + math.Abs(z*float64(gamma[i])) + math.Abs(float64(beta[i])) + math.Abs(float64(gamma[i]))*(size/math.Sqrt(variance+1e-5)+1))
		case "LogSoftmax":
			want = float64(v) - peak - math.Log(sum)
			bound = eps * (1 + math.Abs(want))
		default:
			want = math.Exp(float64(v)-peak) / sum
			bound = eps*want*(2+math.Abs(float64(v)-peak)) + 0x1p-149
		}
		if d := math.Abs(float64(got[i]) - want); d > bound {
			t.Fatalf("%s of %d: element %d: got %g, want %g", name, len(x), i, got[i], want)
		}
	}
}

func TestSlotSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for k := 1; k <= 70; k++ {
		for _, heads := range []int{1, 3, 16} {
			for _, hardOnes := range []bool{false, true} {
				q := randomFloats(rng, heads*k)
				if hardOnes {
					q = spread(rng, heads*k)
				}
				want := make([]float32, k)
				slotSoftmaxGeneric(want, q, heads)
				total := 0.0
				for _, v := range want {
					total += float64(v)
				}
				if !hardOnes && math.Abs(total-1) > 1e-5 {
					t.Fatalf("%d slots, %d heads: sum %g", k, heads, total)
				}
				for _, set := range Sets() {
					restore, _ := Force(set)
					got, clean := framed(make([]float32, k), k%3)
					framedQ, _ := framed(q, k%5)
					SlotSoftmax(got, framedQ, heads)
					sameFloats(t, fmt.Sprintf("%s: %d slots, %d heads", set, k, heads), got, want)
					clean(t)
					restore()
				}
			}
		}
	}
}

func TestTopK(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 5, 63, 64, 65, 127, 128, 129, 1000, 32768} {
		for _, k := range []int{0, 1, 2, 5, 10, 100} {
			for _, kind := range []int{0, 1, 2} {
				x := randomFloats(rng, n)
				switch kind {
				case 1: // many equal
					for i := range x {
						x[i] = float32(rng.IntN(7))
					}
				case 2:
					x = spread(rng, n)
				}
				wantV, wantI := topKReference(x, k)
				for _, set := range Sets() {
					restore, _ := Force(set)
					values, indices := make([]float32, k), make([]int32, k+1)
					found := TopK(values, indices, x)
					if found != len(wantV) {
						t.Fatalf("%s: %d of %d: found %d, want %d", set, k, n, found, len(wantV))
					}
					for i := range wantV {
						if values[i] != wantV[i] || indices[i] != wantI[i] {
							t.Fatalf("%s: %d of %d: place %d: got %g at %d, want %g at %d", set, k, n, i, values[i], indices[i], wantV[i], wantI[i])
						}
					}
					restore()
				}
			}
		}
	}
}

// topKReference sorts by repeated selection.
func topKReference(x []float32, k int) (values []float32, indices []int32) {
	used := make([]bool, len(x))
	for range k {
		at := -1
		for i, v := range x {
			if !used[i] && v == v && !math.IsInf(float64(v), -1) && (at < 0 || v > x[at]) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		used[at] = true
		values, indices = append(values, x[at]), append(indices, int32(at))
	}
	return values, indices
}

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
