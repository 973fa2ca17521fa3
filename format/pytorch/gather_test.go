package pytorch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, x *Tensor) []byte {
	t.Helper()
	b, err := io.ReadAll(x.Reader())
	if err != nil {
		t.Error(err)
	}
	return b
}

// memoryTensor returns a tensor over the elements 0, 1, 2, ... of size bytes.
func memoryTensor(elements int64, dtype DType, offset int64, shape, strides []int) *Tensor {
	size := dtype.Size()
	b := make([]byte, elements*int64(size))
	for i := range elements {
		var e [16]byte
		binary.LittleEndian.PutUint64(e[:], uint64(i))
		copy(b[i*int64(size):], e[:size])
	}
	f := &File{r: bytes.NewReader(b), size: int64(len(b)), name: "memory"}
	s := &Storage{DType: dtype, Elements: elements, file: f}
	return &Tensor{DType: dtype, Shape: shape, Strides: strides, Offset: offset, Storage: s}
}

// naive reads the elements one by one.
func naive(x *Tensor) []byte {
	size := int64(x.DType.Size())
	all, _ := io.ReadAll(io.NewSectionReader(x.Storage.file.r, 0, x.Storage.bytes()))
	var out []byte
	index := make([]int, len(x.Shape))
	for range x.Elements() {
		at := x.Offset
		for i, j := range index {
			at += int64(j) * int64(x.Strides[i])
		}
		out = append(out, all[at*size:(at+1)*size]...)
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < x.Shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return out
}

// TestGather compares readers of random views with reading element by element.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	types := []DType{Float32, Float16, Float64, Int8, Complex128}
	for range 2000 {
		var shape, strides []int
		for range r.IntN(5) {
			shape = append(shape, r.IntN(6))
			strides = append(strides, []int{0, 1, 2, 3, 5, 7, 24, 100, 3000}[r.IntN(9)])
		}
		if r.IntN(2) == 0 { // contiguous, permuted
			next := 1
			for _, i := range r.Perm(len(shape)) {
				strides[i] = next
				next *= shape[i]
			}
		}
		offset := int64(r.IntN(4))
		elements := offset
		if !slices.Contains(shape, 0) {
			elements, _ = span(offset, shape, strides)
		}
		x := memoryTensor(elements, types[r.IntN(len(types))], offset, shape, strides)
		want := naive(x)
		if got := readAll(t, x); !bytes.Equal(got, want) {
			t.Fatalf("%v of shape %v, strides %v, offset %d: got %x, want %x", x.DType, shape, strides, offset, got, want)
		}
		if x.Contiguous() {
			continue
		}
		l := limits{block: 1 + r.Int64N(200), window: 1 + r.Int64N(100), gap: r.Int64N(40)}
		if got, err := io.ReadAll(x.gather(l)); !bytes.Equal(got, want) || err != nil {
			t.Fatalf("%v of shape %v, strides %v, offset %d, limits %v: got %x and error %v, want %x", x.DType, shape, strides, offset, l, got, err, want)
		}
	}
}

// TestGatherLarge reads views that take several blocks and windows.
func TestGatherLarge(t *testing.T) {
	for _, c := range []struct {
		name           string
		elements       int64
		shape, strides []int
	}{
		{"transposed", 3000 * 3001, []int{3001, 3000}, []int{1, 3001}},
		{"far apart pairs", 5_000_000, []int{2, 500}, []int{1, 10_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := memoryTensor(c.elements, Int32, 0, c.shape, c.strides)
			got := readAll(t, x)
			if int64(len(got)) != x.Bytes() {
				t.Fatalf("%d bytes, want %d", len(got), x.Bytes())
			}
			index := make([]int, len(c.shape))
			for n := 0; n < len(got); n += 4 {
				want := uint32(0)
				for i, j := range index {
					want += uint32(j * c.strides[i])
				}
				if v := binary.LittleEndian.Uint32(got[n:]); v != want {
					t.Fatalf("element %v is %d, want %d", index, v, want)
				}
				for i := len(index) - 1; i >= 0; i-- {
					if index[i]++; index[i] < c.shape[i] {
						break
					}
					index[i] = 0
				}
			}
		})
	}
}

// TestReaderBehaviour holds the readers to the rules of io.Reader.
func TestReaderBehaviour(t *testing.T) {
	for _, strides := range [][]int{{7, 1}, {1, 5}} {
		x := memoryTensor(35, Float32, 0, []int{5, 7}, strides)
		if err := iotest.TestReader(x.Reader(), naive(x)); err != nil {
			t.Error(err)
		}
	}
	f := openFile(t, "testdata/views-deflated.pt")
	for _, w := range tensorsOf(f) {
		if err := iotest.TestReader(w.tensor.Reader(), readAll(t, w.tensor)); err != nil {
			t.Errorf("%s: %v", w.path, err)
		}
	}
}

// TestReaderCutOff reads tensors of a file that has become shorter.
func TestReaderCutOff(t *testing.T) {
	for _, strides := range [][]int{{7, 1}, {1, 5}} {
		x := memoryTensor(35, Float32, 0, []int{5, 7}, strides)
		x.Storage.file.r = bytes.NewReader(make([]byte, 100))
		_, err := io.ReadAll(x.Reader())
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("strides %v: error %v, want a CorruptError", strides, err)
		}
	}
}

func TestContiguous(t *testing.T) {
	for _, c := range []struct {
		shape, strides []int
		want           bool
	}{
		{nil, nil, true}, {[]int{3}, []int{1}, true}, {[]int{3}, []int{2}, false}, {[]int{1}, []int{9}, true}, {[]int{2, 3}, []int{3, 1}, true},
		{[]int{2, 3}, []int{1, 2}, false}, {[]int{2, 1, 3}, []int{3, 77, 1}, true}, {[]int{0, 3}, []int{9, 9}, true}, {[]int{2}, []int{0}, false},
	} {
		if got := (&Tensor{Shape: c.shape, Strides: c.strides}).Contiguous(); got != c.want {
			t.Errorf("shape %v, strides %v: %v, want %v", c.shape, c.strides, got, c.want)
		}
	}
}

// TestConcurrent reads all tensors of a file from several goroutines at once.
func TestConcurrent(t *testing.T) {
	for _, name := range []string{"testdata/views.pt", "testdata/views-legacy.pt", "testdata/views-deflated.pt"} {
		f := openFile(t, name)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for _, w := range tensorsOf(f) {
					if n, err := io.Copy(io.Discard, w.tensor.Reader()); n != w.tensor.Bytes() || err != nil {
						t.Errorf("%s: %s gave %d bytes and error %v, want %d", name, w.path, n, err, w.tensor.Bytes())
					}
				}
			})
		}
		group.Wait()
	}
}
