package onnx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"memsizer/format/onnx"
)

func parse(data []byte) (*onnx.File, error) {
	return onnx.NewFile(bytes.NewReader(data), int64(len(data)), "x.onnx")
}

// TestMalformed has one malformed file per error.
func TestMalformed(t *testing.T) {
	deep := message(nil)
	for range 40 {
		deep = message(nil).sub(1, node("If", message(nil).str(1, "then_branch").num(20, 5).sub(6, deep)))
	}
	many := message(nil)
	for range 40000 {
		many = many.sub(1, message(nil).str(4, "A"))
	}
	dims := message(nil)
	for range 65 {
		dims = dims.num(1, 1)
	}
	for _, c := range []struct {
		name string
		data message
		want string
	}{
		{"empty", nil, "the file is empty"},
		{"text", message("<html><body>not found</body></html>"), "wire type"},
		{"no graph", message(nil).num(1, 8), "the model has no graph"},
		{"two graphs", message(nil).sub(7, nil).sub(7, nil), "a second graph"},
		{"graph is a number", message(nil).num(7, 1), "graph has wire type 0, want 2"},
		{"graph longer than the file", append(message(nil), 7<<3|2, 0xff, 0x01, 0), "is 255 bytes, 1 are left"},
		{"length beyond 64 bits", append(message(nil), 7<<3|2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01), "overflow"},
		{"cut tag", append(message(nil), 0x80), "unexpected EOF"},
		{"cut number", append(message(nil), 1<<3, 0x80), "unexpected EOF"},
		{"field zero", append(message(nil), 0, 0), "field tag"},
		{"group", append(message(nil), 9<<3|3, 9<<3|4), "wire type 3"},
		{"ir version is a string", message(nil).str(1, "8"), "ir_version has wire type 2, want 0"},
		{"node without operator", model(message(nil).sub(1, message(nil).str(1, "abc"))), "has no operator"},
		{"empty node", model(message(nil).sub(1, nil)), "a node of 0 bytes"},
		{"millions of nodes", model(many), "more structure than a file of"},
		{"nested graphs", model(deep), "nested more than 16 deep"},
		{"attribute without type", model(message(nil).sub(1, node("A", message(nil).str(1, "a")))), "has type 0"},
		{"attribute of an unknown type", model(message(nil).sub(1, node("A", message(nil).str(1, "a").num(20, 99)))), "has type 99"},
		{"tensor attribute without tensor", model(message(nil).sub(1, node("A", message(nil).str(1, "a").num(20, 4)))), "has no tensor"},
		{"graph attribute without graph", model(message(nil).sub(1, node("A", message(nil).str(1, "a").num(20, 5)))), "has no graph"},
		{"float attribute as a string", model(message(nil).sub(1, node("A", message(nil).str(2, "a")))), "attribute float has wire type 2"},
		{"floats of five bytes", model(message(nil).sub(1, node("A", message(nil).num(20, 6).str(7, "abcde")))), "take 5 bytes"},
		{"packed number that is cut", model(message(nil).sub(1, node("A", message(nil).num(20, 7).str(8, "\x80")))), "ends inside a number"},
		{"packed number beyond 64 bits", model(message(nil).sub(1, node("A", message(nil).num(20, 7).str(8, strings.Repeat("\xff", 10)+"\x01")))), "a number beyond 64 bits"},
		{"tensor without type", model(message(nil).sub(5, tensorProto("w", 0, 1).str(9, "abcd"))), "has no element type"},
		{"negative dimension", model(message(nil).sub(5, tensorProto("w", 1, -1))), "has dimensions [-1]"},
		{"dimensions that overflow", model(message(nil).sub(5, tensorProto("w", 1, 1<<40, 1<<40))), "more elements than any file holds"},
		{"dimensions that overflow to nothing", model(message(nil).sub(5, tensorProto("w", 1, 1<<32, 1<<32))), "more elements than any file holds"},
		{"raw data too short", model(message(nil).sub(5, tensorProto("w", 1, 2).str(9, "abcd"))), "has 4 bytes, want 8"},
		{"raw data too long", model(message(nil).sub(5, tensorProto("w", 10, 1).str(9, "abcd"))), "has 4 bytes, want 2"},
		{"no data", model(message(nil).sub(5, tensorProto("w", 1, 1<<30))), "has 0 values, want 1073741824"},
		{"too few values", model(message(nil).sub(5, tensorProto("w", 7, 3).packed(7, 1, 2))), "has 2 values, want 3"},
		{"values in another type's field", model(message(nil).sub(5, tensorProto("w", 7, 2).packed(5, 1, 2))), "has data in field 5"},
		{"raw and typed data", model(message(nil).sub(5, tensorProto("w", 7, 1).packed(7, 1).str(9, "abcdefgh"))), "has data in field 7"},
		{"float data of six bytes", model(message(nil).sub(5, tensorProto("w", 1, 1).str(4, "abcdef"))), "takes 6 bytes"},
		{"65 dimensions", model(message(nil).sub(5, append(tensorProto("w", 1), dims...))), "65 dimensions"},
		{"value of 65 dimensions", model(message(nil).sub(11, message(nil).str(1, "x").sub(2, message(nil).sub(1, message(nil).sub(2, manySubs(65)))))), "65 dimensions"},
		{"segments", model(message(nil).sub(5, tensorProto("w", 1, 1).sub(3, nil))), "in segments"},
		{"unknown location", model(message(nil).sub(5, tensorProto("w", 1, 1).num(14, 2))), "has data location 2"},
		{"external without a place", model(message(nil).sub(5, tensorProto("w", 1, 1).num(14, 1))), "has no location"},
		{"external of another length", model(message(nil).sub(5, external(external(tensorProto("w", 1, 1).num(14, 1), "location", "a"), "length", "5"))), "has length 5, want 4"},
		{"external at a word", model(message(nil).sub(5, external(external(tensorProto("w", 1, 1).num(14, 1), "location", "a"), "offset", "here"))), `has offset "here"`},
		{"external at less than nothing", model(message(nil).sub(5, external(external(tensorProto("w", 1, 1).num(14, 1), "location", "a"), "offset", "-4"))), `has offset "-4"`},
		{"raw and external data", model(message(nil).sub(5, external(tensorProto("w", 1, 1).num(14, 1).str(9, "abcd"), "location", "a"))), "both raw and external"},
		{"attribute of a function", model(message(nil).sub(1, node("A", message(nil).str(21, "alpha")))), "refers to an attribute of a function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(c.data)
			var corrupt *onnx.CorruptError
			var unsupported *onnx.UnsupportedError
			if !errors.As(err, &corrupt) && !errors.As(err, &unsupported) {
				t.Fatalf("got error %v, want a CorruptError or UnsupportedError", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %q, want %q in it", err, c.want)
			}
			if !strings.HasPrefix(err.Error(), `onnx: "x.onnx": `) {
				t.Errorf("error %q does not name the file", err)
			}
		})
	}
}

func manySubs(n int) (m message) {
	for range n {
		m = m.sub(1, nil)
	}
	return m
}

// TestTruncated cuts a model everywhere: an error or, between fields of the
// model, a shorter model, but never a panic.
func TestTruncated(t *testing.T) {
	data, err := os.ReadFile("testdata/lm-op15/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data); n += 97 {
		if _, err := parse(data[:n]); err == nil {
			t.Errorf("%d of %d bytes are a model", n, len(data))
		}
	}
}

// TestElements reads every type from raw and typed fields.
func TestElements(t *testing.T) {
	bits := func(list ...uint32) (s string) {
		for _, v := range list {
			s += string([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
		}
		return s
	}
	one := math.Float64bits(1.5)
	double := string([]byte{byte(one), byte(one >> 8), byte(one >> 16), byte(one >> 24), byte(one >> 32), byte(one >> 40), byte(one >> 48), byte(one >> 56)})
	for _, c := range []struct {
		name   string
		tensor message
		floats []float32
		ints   []int64
	}{
		{"float32 raw", tensorProto("w", 1, 2).str(9, bits(0x3f800000, 0xc0000000)), []float32{1, -2}, nil},
		{"float32 typed", tensorProto("w", 1, 2).str(4, bits(0x3f800000, 0xc0000000)), []float32{1, -2}, nil},
		{"float32 not packed", tensorProto("w", 1, 2).fixed32(4, 0x3f800000).fixed32(4, 0xc0000000), []float32{1, -2}, nil},
		{"float32 in two pieces", tensorProto("w", 1, 3).str(4, bits(0x3f800000, 0xc0000000)).fixed32(4, 0x40400000), []float32{1, -2, 3}, nil},
		{"float16 raw", tensorProto("w", 10, 2).str(9, "\x00\x3c\x01\x00"), []float32{1, 0x1p-24}, nil},
		{"float16 typed", tensorProto("w", 10, 2).packed(5, 0x3c00, 1), []float32{1, 0x1p-24}, nil},
		{"bfloat16 raw", tensorProto("w", 16, 2).str(9, "\x80\x3f\x00\xc0"), []float32{1, -2}, nil},
		{"bfloat16 typed", tensorProto("w", 16, 1).packed(5, 0x3f80), []float32{1}, nil},
		{"float64 raw", tensorProto("w", 11, 1).str(9, double), []float32{1.5}, nil},
		{"float64 typed", tensorProto("w", 11).str(10, double), []float32{1.5}, nil},
		{"int64 raw", tensorProto("w", 7, 1).str(9, "\xfe\xff\xff\xff\xff\xff\xff\xff"), nil, []int64{-2}},
		{"int64 typed", tensorProto("w", 7, 3).packed(7, 5, -2, 1<<40), nil, []int64{5, -2, 1 << 40}},
		{"int64 not packed", tensorProto("w", 7, 2).num(7, 5).num(7, -2), nil, []int64{5, -2}},
		{"int32 raw", tensorProto("w", 6, 1).str(9, "\xfe\xff\xff\xff"), nil, []int64{-2}},
		{"int32 typed", tensorProto("w", 6, 2).packed(5, 7, -2), nil, []int64{7, -2}},
		{"int16 typed", tensorProto("w", 5, 1).packed(5, -3), nil, []int64{-3}},
		{"int8 raw", tensorProto("w", 3, 2).str(9, "\xff\x01"), nil, []int64{-1, 1}},
		{"uint8 raw", tensorProto("w", 2, 2).str(9, "\xff\x01"), nil, []int64{255, 1}},
		{"uint16 raw", tensorProto("w", 4, 1).str(9, "\xff\xff"), nil, []int64{65535}},
		{"uint32 typed", tensorProto("w", 12, 1).packed(11, 1<<31), nil, []int64{1 << 31}},
		{"uint64 typed", tensorProto("w", 13, 1).packed(11, 1<<50), nil, []int64{1 << 50}},
		{"bool raw", tensorProto("w", 9, 3).str(9, "\x00\x01\x01"), nil, []int64{0, 1, 1}},
		{"bool typed", tensorProto("w", 9, 2).packed(5, 1, 0), nil, []int64{1, 0}},
		{"no elements", tensorProto("w", 1, 0, 4), []float32{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := parse(model(message(nil).sub(5, c.tensor)))
			if err != nil {
				t.Fatal(err)
			}
			w := &f.Graph.Initializers[0]
			if c.floats != nil {
				got := make([]float32, len(c.floats))
				for at := range len(got) + 1 { // from everywhere to the end
					if err := w.Float32s(got[at:], int64(at)); err != nil {
						t.Fatal(err)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(c.floats) {
					t.Errorf("got %v, want %v", got, c.floats)
				}
				if err := w.Int64s(make([]int64, len(got)), 0); err == nil {
					t.Error("floats were read as integers")
				}
				return
			}
			got := make([]int64, len(c.ints))
			for at := range len(got) + 1 {
				if err := w.Int64s(got[at:], int64(at)); err != nil {
					t.Fatal(err)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(c.ints) {
				t.Errorf("got %v, want %v", got, c.ints)
			}
			if err := w.Int64s(make([]int64, len(got)+1), 0); err == nil {
				t.Error("more elements than there are were read")
			}
			if err := w.Float32s(make([]float32, len(got)), 0); err == nil {
				t.Error("integers were read as floats")
			}
		})
	}
}

func TestUint64BeyondInt64(t *testing.T) {
	f, err := parse(model(message(nil).sub(5, tensorProto("w", 13, 1).packed(11, -1))))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Graph.Initializers[0].Int64s(make([]int64, 1), 0)
	var unsupported *onnx.UnsupportedError
	if !errors.As(err, &unsupported) {
		t.Errorf("got error %v, want an UnsupportedError", err)
	}
}

// TestExternal opens external data in and around a model's folder.
func TestExternal(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "model")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model/a.bin", "model/sub/b.bin", "secret.bin"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte("\x00\x00\x80\x3f\x00\x00\x00\xc0"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	links := runtime.GOOS != "windows"
	if links {
		for name, to := range map[string]string{"out.bin": "../secret.bin", "in.bin": "sub/b.bin", "dir": ".."} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		location, offset, length string
		link                     bool
		want                     string // in the error; "" for success
		value                    float32
	}{
		{"a.bin", "", "", false, "", 1},
		{"a.bin", "4", "4", false, "", -2},
		{"sub/b.bin", "4", "", false, "", -2},
		{"in.bin", "0", "4", true, "", 1},
		{"a.bin", "5", "", false, "bytes 5 to 9, the file has 8", 0},
		{"a.bin", "9223372036854775807", "", false, "the file has 8", 0},
		{"absent.bin", "", "", false, "absent.bin", 0},
		{"sub", "", "", false, "not a regular file", 0},
		{"../secret.bin", "", "", false, "not a path below the model's folder", 0},
		{"sub/../../secret.bin", "", "", false, "not a path below the model's folder", 0},
		{filepath.Join(top, "secret.bin"), "", "", false, "not a path below the model's folder", 0},
		{`..\secret.bin`, "", "", false, "not a path below the model's folder", 0},
		{"out.bin", "", "", true, "escapes", 0},
		{"dir/secret.bin", "", "", true, "escapes", 0},
	} {
		t.Run(c.location+"@"+c.offset, func(t *testing.T) {
			if c.link && !links {
				t.Skip("no symbolic links")
			}
			w := external(tensorProto("w", 1, 1).num(14, 1), "location", c.location)
			if c.offset != "" {
				w = external(w, "offset", c.offset)
			}
			if c.length != "" {
				w = external(w, "length", c.length)
			}
			path := filepath.Join(dir, "m.onnx")
			if err := os.WriteFile(path, model(message(nil).sub(5, w)), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := onnx.Open(path)
			if c.want != "" {
				var corrupt *onnx.CorruptError
				if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got error %v, want a CorruptError with %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := make([]float32, 1)
			if err := f.Graph.Initializers[0].Float32s(got, 0); err != nil {
				t.Fatal(err)
			}
			if got[0] != c.value {
				t.Errorf("got %v, want %v", got[0], c.value)
			}
		})
	}
}

// TestExternalWithoutFolder describes external tensors but does not read them.
func TestExternalWithoutFolder(t *testing.T) {
	f, err := parse(model(message(nil).sub(5, external(tensorProto("w", 1, 1).num(14, 1), "location", "a.bin"))))
	if err != nil {
		t.Fatal(err)
	}
	w := &f.Graph.Initializers[0]
	if w.External() != "a.bin" || w.Bytes() != 4 {
		t.Errorf("external %q of %d bytes, want \"a.bin\" of 4", w.External(), w.Bytes())
	}
	var unsupported *onnx.UnsupportedError
	if err := w.Float32s(make([]float32, 1), 0); !errors.As(err, &unsupported) {
		t.Errorf("got error %v, want an UnsupportedError", err)
	}
}

// TestBeyondFourGigabytes reads a tensor that begins behind 2^32 bytes of a
// (sparse) external file.
func TestBeyondFourGigabytes(t *testing.T) {
	dir := t.TempDir()
	const at = 5 << 30
	w, err := os.Create(filepath.Join(dir, "w.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteAt([]byte("\x00\x00\x00\xc0"), at); err != nil {
		t.Skipf("no sparse files: %v", err)
	}
	big := external(external(tensorProto("big", 1, at/4).num(14, 1), "location", "w.bin"), "offset", "4")
	last := external(external(tensorProto("last", 1, 1).num(14, 1), "location", "w.bin"), "offset", fmt.Sprint(int64(at)))
	path := filepath.Join(dir, "m.onnx")
	if err := os.WriteFile(path, model(message(nil).sub(5, big).sub(5, last)), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]float32, 1)
	if err := f.Graph.Initializers[0].Float32s(got, at/4-1); err != nil || got[0] != -2 {
		t.Errorf("last element of a large tensor: got %v (%v), want -2", got[0], err)
	}
	if err := f.Graph.Initializers[1].Float32s(got, 0); err != nil || got[0] != -2 {
		t.Errorf("tensor behind 5 GB: got %v (%v), want -2", got[0], err)
	}
}

// TestOwnMemory opens a model without copying its weights: what is kept is
// less than a tenth of a file that is mostly weights.
func TestOwnMemory(t *testing.T) {
	const n = 16 << 20
	data := model(message(nil).sub(5, tensorProto("w", 2, n).str(9, string(make([]byte, n)))))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > n/10 {
		t.Errorf("opening allocated %d bytes", used)
	}
	if err := f.Graph.Initializers[0].Int64s(make([]int64, 1), n-1); err != nil {
		t.Error(err)
	}
}

// errorReader fails beyond some bytes.
type errorReader struct {
	data []byte
	upto int64
}

func (r errorReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.upto {
		return 0, io.ErrClosedPipe
	}
	return copy(p, r.data[off:]), nil
}

func TestReadError(t *testing.T) {
	data, err := os.ReadFile("testdata/lm-op15/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := onnx.NewFile(errorReader{data, 1000}, int64(len(data)), "x"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want that of the reader", err)
	}
	if _, err := onnx.NewFile(bytes.NewReader(data), int64(len(data))+100, "x"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file shorter than stated: got error %v", err)
	}
}
