package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

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
