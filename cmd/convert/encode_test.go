package main

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"memsizer/format"
)

// chunks is a readFunc over v in chunks of n.
func chunks(v []float32, n int) readFunc {
	return func(fn func([]float32) error) error {
		for c := range slices.Chunk(v, n) {
			if err := fn(c); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestFloatEncoderLimits(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		dtype format.DType
		value float32
		fits  bool
	}{
		{format.F16, 65504, true},
		{format.F16, -65504, true},
		{format.F16, math.Nextafter32(65504, inf), false},
		{format.F16, -65505, false},
		{format.BF16, maxBF16, true},
		{format.BF16, math.Nextafter32(maxBF16, inf), false},
		{format.BF16, -math.MaxFloat32, false},
		{format.F32, math.MaxFloat32, true},
		{format.F32, inf, false},
		{format.F32, float32(math.NaN()), false},
	} {
		v := []float32{0, 1, 2, 3, c.value, 5}
		err := pipe(t.Context(), chunks(v, 3), floatEncoder(c.dtype), func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		var bad *rangeError
		if c.fits && err != nil || !c.fits && (!errors.As(err, &bad) || bad.index != 4) {
			t.Errorf("%v as %v: error is %v", c.value, c.dtype, err)
		}
	}
}

func TestPipe(t *testing.T) {
	v := make([]float32, 10_000)
	for i := range v {
		v[i] = float32(i)
	}
	var got []byte
	err := pipe(t.Context(), chunks(v, 77), floatEncoder(format.F32), func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	})
	if err != nil || !slices.Equal(got, format.AppendFloats(nil, format.F32, v)) {
		t.Errorf("stream of %d bytes, %v", len(got), err)
	}
	full := errors.New("disk full")
	err = pipe(t.Context(), chunks(v, 77), floatEncoder(format.F32), func(io.Reader) error { return full })
	if err != full {
		t.Errorf("error of the writer became %v", err)
	}
	broken := errors.New("cannot read")
	err = pipe(t.Context(), func(func([]float32) error) error { return broken }, floatEncoder(format.F32), func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if err != broken {
		t.Errorf("error of the reader became %v", err)
	}
}

func TestQuantize(t *testing.T) {
	s := format.TensorSpec{Shape: []int{4, 3}, Role: format.RoleMatrix}
	v := []float32{
		1, -127, 63.5,
		0, 0, 0,
		1e-45, 0, -1e-45,
		0.5, 0.25, -0.125,
	}
	scales, err := rowScales(t.Context(), s, chunks(v, 5))
	if want := []float32{1, 1, 1, float32(0.5) / 127}; err != nil || !slices.Equal(scales, want) {
		t.Fatalf("scales %v, %v, want %v", scales, err, want)
	}
	var got []byte
	err = pipe(t.Context(), chunks(v, 5), quantizer(scales, 3), func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	})
	want := []byte{1, 0x81, 64, 0, 0, 0, 0, 0, 0, 127, 64, 0xe0} // halves to even: 63.5 and 63.5; −31.75
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("values %v, %v, want %v", got, err, want)
	}
}

func TestPolicy(t *testing.T) {
	p, err := parsePolicy("i8")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		role  format.Role
		shape []int
		want  format.DType
	}{
		{format.RoleMatrix, []int{2, 3}, format.I8},
		{format.RoleOutput, []int{2, 3}, format.I8},
		{format.RoleEmbedding, []int{2, 3}, format.F16},
		{format.RoleVector, []int{3}, format.F16},
	} {
		if got := p.dtype(format.TensorSpec{Role: c.role, Shape: c.shape}); got != c.want {
			t.Errorf("role %d is %v, want %v", c.role, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
