package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"memsizer/format"
)

// policy says which element type a tensor gets.
type policy struct {
	name   string
	matrix format.DType // linear weights, those of the output layer included
	other  format.DType // tables that are only looked up, biases, norms
}

// parsePolicy reads --dtype.
func parsePolicy(s string) (policy, error) {
	d, err := format.ParseDType(s)
	if err != nil {
		return policy{}, usagef("--dtype %q, want f16, f32, bf16 or i8", s)
	}
	p := policy{s, d, d}
	if d == format.I8 {
		// The output layer is a third of what a decoder reads at each step, and
		// measured to bear 8 bits (numbers in package format). A table that is only
		// looked up would be no faster; vectors are too small to matter.
		p.other = format.F16
	}
	return p, nil
}

func (p policy) dtype(s format.TensorSpec) format.DType {
	switch s.Role {
	case format.RoleMatrix, format.RoleOutput:
		return p.matrix
	}
	return p.other
}

// readFunc streams a tensor's elements in chunks; see fairseq.Tensor.Read.
type readFunc func(fn func(chunk []float32) error) error

// rangeError reports a value that the element type cannot hold.
type rangeError struct {
	dtype format.DType
	index int64
	value float32
	limit float32
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("element %d is %v, beyond %s's ±%v", e.index, e.value, e.dtype, e.limit)
}

// Largest finite values.
const (
	maxF16  = 65504
	maxBF16 = 0x1.fep127
)

// addTensor streams a tensor into the file as elements of type d.
func addTensor(ctx context.Context, w *format.Writer, s format.TensorSpec, d format.DType, read readFunc) error {
	if d != format.I8 {
		return pipe(ctx, read, floatEncoder(d), func(r io.Reader) error {
			return w.AddTensor(s.Name, d, s.Shape, r)
		})
	}
	scales, err := rowScales(ctx, s, read)
	if err != nil {
		return err
	}
	return pipe(ctx, read, quantizer(scales, s.Shape[1]), func(r io.Reader) error {
		return w.AddQuantized(s.Name, s.Shape, scales, r)
	})
}

// encoder turns a chunk, which starts at the flat index first, into bytes
// appended to dst.
type encoder func(dst []byte, chunk []float32, first int64) ([]byte, error)

// pipe runs read, encodes its chunks and gives the bytes to use as a stream.
func pipe(ctx context.Context, read readFunc, encode encoder, use func(io.Reader) error) error {
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		var first int64
		var buf []byte
		err := read(func(chunk []float32) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if buf, err = encode(buf[:0], chunk, first); err != nil {
				return err
			}
			first += int64(len(chunk))
			_, err = pw.Write(buf)
			return err
		})
		pw.CloseWithError(err) // EOF when it is nil
		done <- err
	}()
	err := use(pr)
	pr.CloseWithError(errStopped)
	if readErr := <-done; readErr != nil && readErr != errStopped {
		return readErr
	}
	return err
}

var errStopped = fmt.Errorf("writing stopped")

func floatEncoder(d format.DType) encoder {
	limit := float32(math.MaxFloat32)
	switch d {
	case format.F16:
		limit = maxF16
	case format.BF16:
		limit = maxBF16
	}
	return func(dst []byte, chunk []float32, first int64) ([]byte, error) {
		if i := format.FirstBeyond(chunk, limit); i >= 0 {
			return nil, &rangeError{d, first + int64(i), chunk[i], limit}
		}
		return format.AppendFloats(slices.Grow(dst, len(chunk)*d.Size()), d, chunk), nil
	}
}

// rowScales is, for each row, its largest magnitude over 127; 1 for a row
// whose values are too small for that to be a number.
func rowScales(ctx context.Context, s format.TensorSpec, read readFunc) ([]float32, error) {
	cols := s.Shape[1]
	scales := make([]float32, s.Shape[0])
	var at int64
	err := read(func(chunk []float32) error {
		for row, part := range rowParts(chunk, at, cols) {
			top := scales[row]
			for _, v := range part {
				top = max(top, float32(math.Abs(float64(v))))
			}
			scales[row] = top
		}
		at += int64(len(chunk))
		return ctx.Err()
	})
	for i, v := range scales {
		scales[i] = v / 127
		if scales[i] == 0 {
			scales[i] = 1
		}
	}
	return scales, err
}

// quantizer rounds v/scale to the nearest integer, halves to even.
func quantizer(scales []float32, cols int) encoder {
	return func(dst []byte, chunk []float32, first int64) ([]byte, error) {
		dst = slices.Grow(dst, len(chunk))
		for row, part := range rowParts(chunk, first, cols) {
			scale := float64(scales[row])
			for _, v := range part {
				q := math.RoundToEven(float64(v) / scale)
				dst = append(dst, byte(int8(max(-127, min(127, q)))))
			}
		}
		return dst, nil
	}
}

// rowParts cuts a chunk, which starts at the flat index first, at the ends of
// rows.
func rowParts(chunk []float32, first int64, cols int) iter.Seq2[int, []float32] {
	return func(yield func(int, []float32) bool) {
		row, column := int(first/int64(cols)), int(first%int64(cols))
		for len(chunk) > 0 {
			n := min(len(chunk), cols-column)
			if !yield(row, chunk[:n]) {
				return
			}
			chunk, row, column = chunk[n:], row+1, 0
		}
	}
}
