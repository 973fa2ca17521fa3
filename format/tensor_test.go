package format

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/x448/float16"
)

func TestDType(t *testing.T) {
	for _, d := range DTypes {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again DType
		if err := json.Unmarshal(b, &again); err != nil || again != d {
			t.Errorf("%s became %v, %v", b, again, err)
		}
	}
	if got := DType(9).String(); got != "dtype(9)" {
		t.Errorf("String of 9 is %q", got)
	}
	if _, err := json.Marshal(DType(9)); err == nil {
		t.Error("an unknown type was encoded")
	}
	for _, s := range []string{`"F16"`, `""`, `1`} {
		var d DType
		if err := json.Unmarshal([]byte(s), &d); err == nil {
			t.Errorf("%s became %v", s, d)
		}
	}
}

func TestFloats(t *testing.T) {
	src := make([]float32, 3*conversionChunk+17)
	for i := range src {
		src[i] = float32(math.Sin(float64(i))) * float32(math.Pow(10, float64(i%9-5)))
	}
	copy(src, []float32{0, float32(math.Copysign(0, -1)), 65504, 6e-8, 1.0009766, -1})
	for _, c := range []struct {
		dtype DType
		round func(float32) float32
	}{
		{F32, func(v float32) float32 { return v }},
		{F16, func(v float32) float32 { return float16.Fromfloat32(v).Float32() }},
		{BF16, func(v float32) float32 {
			b := math.Float32bits(v)
			return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
		}},
	} {
		t.Run(c.dtype.String(), func(t *testing.T) {
			data := AppendFloats(nil, c.dtype, src)
			x := Tensor{TensorInfo: TensorInfo{DType: c.dtype, Shape: []int{len(src)}}, Data: data}
			for _, first := range []int{0, 1, conversionChunk + 3, len(src)} {
				got := make([]float32, len(src)-first)
				x.Float32s(got, first)
				for i, v := range got {
					if want := c.round(src[first+i]); math.Float32bits(v) != math.Float32bits(want) {
						t.Fatalf("element %d from %d is %v, want %v", i, first, v, want)
					}
				}
			}
		})
	}
}

func TestQuantizedFloats(t *testing.T) {
	var m memory
	w, err := newWriter("", &m, smallHeader())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddQuantized("q", []int{3, 2}, []float32{1, 0.5, 2}, bytes.NewReader([]byte{1, 0xff, 127, 0x81, 0, 3})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(m.b), int64(len(m.b)))
	if err != nil {
		t.Fatal(err)
	}
	q, err := r.Tensor("q")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 5)
	q.Float32s(got, 1)
	if want := []float32{-1, 63.5, -63.5, 0, 6}; !slices.Equal(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
}

func TestFloat32sBounds(t *testing.T) {
	x := Tensor{TensorInfo: TensorInfo{DType: F32, Shape: []int{2}}, Data: make([]byte, 8)}
	defer func() {
		if recover() == nil {
			t.Error("no panic beyond the elements")
		}
	}()
	x.Float32s(make([]float32, 2), 1)
}

func TestFirstBeyond(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, n := range []int{0, 1, 5, 31, 4096, 4097, 10000} {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(i%7) - 3
		}
		if got := FirstBeyond(v, 3); got != -1 {
			t.Errorf("%d small values: %d, want -1", n, got)
		}
		for _, at := range []int{0, n / 2, n - 1} {
			for _, bad := range []float32{nan, inf, -inf, 3.5, -3.5} {
				if n == 0 {
					continue
				}
				old := v[at]
				v[at] = bad
				if got := FirstBeyond(v, 3); got != at {
					t.Errorf("%v at %d of %d: %d", bad, at, n, got)
				}
				v[at] = old
			}
		}
	}
}
