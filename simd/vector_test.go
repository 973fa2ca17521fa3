package simd

import (
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
			if got, want := MaxAbs(a), maxAbsGeneric(a); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("MaxAbs of %d: got %g, want %g", n, got, want)
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
