package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the fixture of the current format version anew")

// memory is a file in memory for a Writer.
type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m.b).ReadAt(p, off) }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(m.b) {
		// What lies between must be written too: make forgetting it visible.
		m.b = append(m.b, bytes.Repeat([]byte{0xEE}, need-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

func (m *memory) Truncate(n int64) error {
	if int(n) > len(m.b) {
		m.b = append(m.b, make([]byte, int(n)-len(m.b))...)
	}
	m.b = m.b[:n]
	return nil
}

// smallConfig is a valid language model with few tensors.
func smallConfig() Config {
	return Config{
		Decoder: Stack{
			Layers: 1, Dim: 4, FFNDim: 6, Activation: "relu", FinalNorm: true, PreNorm: true,
			Embedding:  Embedding{Kind: Plain, Vocab: 5, Dim: 4},
			Positions:  Positions{Kind: SinusoidalPositions, Offset: 2, Max: 16},
			EmbedScale: 2, NormEps: 1e-5,
			Self: Attention{Kind: MemSizer, Heads: 2, Slots: 3, SourceDim: 4},
		},
		Output: Output{Kind: Plain, TiedEmbedding: true},
	}
}

func smallHeader() Header {
	return Header{
		Config:       smallConfig(),
		Tokenization: Tokenization{Tokenizer: "moses", BPE: "subword_nmt", BPEGlossaries: []string{"<é\u2028\"&\x01>"}},
		Provenance: Provenance{Source: "a.pt", SHA256: strings.Repeat("0f", 32), Model: "memsizer_lm",
			Converter: "memsizer test", DTypePolicy: "f16"},
	}
}

// content fills n bytes that compress well when text is set.
func content(seed uint64, n int, text bool) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
		if text {
			b[i] = 'a' + b[i]%4
		}
	}
	return b
}

// writeSmall writes one of everything and returns the plain contents.
func writeSmall(t testing.TB, w *Writer) map[string][]byte {
	t.Helper()
	want := map[string][]byte{
		"dict.target": content(1, 700, true),
		"bpe.codes":   content(2, 40, false), // not worth compressing
		"empty":       {},
		"t.f32":       content(3, 5*4*4, false),
		"t.f16":       content(4, 300*3*2, true),
		"t.bf16":      content(5, 7*2, false),
	}
	for _, n := range []string{"dict.target", "empty", "bpe.codes"} {
		if err := w.AddSection(n, want[n]); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		name  string
		dtype DType
		shape []int
	}{{"t.f32", F32, []int{5, 4}}, {"t.f16", F16, []int{300, 3}}, {"t.bf16", BF16, []int{7}}} {
		if err := w.AddTensor(x.name, x.dtype, x.shape, bytes.NewReader(want[x.name])); err != nil {
			t.Fatal(err)
		}
	}
	want["t.i8"] = []byte{1, 2, 0xff, 0x81, 127, 0}
	if err := w.AddQuantized("t.i8", []int{2, 3}, []float32{0.5, 3e-4}, bytes.NewReader(want["t.i8"])); err != nil {
		t.Fatal(err)
	}
	return want
}

func small(t testing.TB, opts ...WriteOption) ([]byte, map[string][]byte) {
	t.Helper()
	var m memory
	w, err := newWriter("", &m, smallHeader(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	want := writeSmall(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b, want
}

func checkSmall(t *testing.T, r *Reader, want map[string][]byte, compressed []string) {
	t.Helper()
	h := smallHeader()
	h.Container, h.Architecture, h.Quantization = 1, 1, 1
	if !reflect.DeepEqual(*r.Header(), h) {
		t.Errorf("header is %+v, want %+v", *r.Header(), h)
	}
	var names, packed []string
	for _, s := range r.Sections() {
		names = append(names, s.Name)
		if s.Compressed {
			packed = append(packed, s.Name)
		}
		if got, err := r.Section(s.Name); err != nil || !bytes.Equal(got, want[s.Name]) {
			t.Errorf("section %q is %q, %v, want %q", s.Name, got, err, want[s.Name])
		}
	}
	for _, info := range r.Tensors() {
		names = append(names, info.Name)
		if info.Compressed {
			packed = append(packed, info.Name)
		}
		got, err := r.Tensor(info.Name)
		if err != nil || !bytes.Equal(got.Data, want[info.Name]) {
			t.Fatalf("tensor %q is %v, %v, want %v", info.Name, got, err, want[info.Name])
		}
		if info.Offset%256 != 0 || !reflect.DeepEqual(got.TensorInfo, info) {
			t.Errorf("tensor info %+v, in the list %+v", got.TensorInfo, info)
		}
	}
	if want := []string{"dict.target", "empty", "bpe.codes", "t.f32", "t.f16", "t.bf16", "t.i8"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if !slices.Equal(packed, compressed) {
		t.Errorf("compressed are %q, want %q", packed, compressed)
	}
	q, err := r.Tensor("t.i8")
	if err != nil || !slices.Equal(q.Scales, []float32{0.5, 3e-4}) || !slices.Equal(q.Shape, []int{2, 3}) {
		t.Errorf("i8 tensor %+v, %v", q, err)
	}
	if err := r.Verify(); err != nil {
		t.Errorf("Verify: %v", err)
	}
	for _, err := range []error{second(r.Tensor("nothing")), second(r.Section("nothing"))} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("absent name: error is %v, want fs.ErrNotExist", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name       string
		opts       []WriteOption
		compressed []string
	}{
		{"plain", nil, []string{"dict.target"}},
		{"compressed", []WriteOption{CompressTensors()}, []string{"dict.target", "t.f16", "t.i8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, want := small(t, c.opts...)
			if again, _ := small(t, c.opts...); !bytes.Equal(again, b) {
				t.Error("the same input gave other bytes")
			}
			t.Run("ReaderAt", func(t *testing.T) {
				r, err := NewReader(bytes.NewReader(b), int64(len(b)))
				if err != nil {
					t.Fatal(err)
				}
				checkSmall(t, r, want, c.compressed)
				if got := rewrite(t, r); !bytes.Equal(got, b) {
					t.Error("parse and write gave other bytes")
				}
			})
			t.Run("file", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "m.msz")
				w, err := Create(path, smallHeader(), c.opts...)
				if err != nil {
					t.Fatal(err)
				}
				writeSmall(t, w)
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
					t.Fatalf("file differs from the one in memory (%v)", err)
				}
				r, err := Open(path)
				if err != nil {
					t.Fatal(err)
				}
				checkSmall(t, r, want, c.compressed)
				r.Drop("t.f32")
				for _, info := range r.Tensors() {
					r.DropRows(info.Name, 0, info.Shape[0])
					r.DropRows(info.Name, 0, info.Shape[0]+1) // more than there are: nothing
				}
				r.DropRows("no such tensor", 0, 1)
				if x, err := r.Tensor("t.f32"); err != nil || !bytes.Equal(x.Data, want["t.f32"]) {
					t.Errorf("after Drop: %v, %v", x, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if _, err := r.Tensor("t.f32"); !errors.Is(err, os.ErrClosed) {
					t.Errorf("after Close: error is %v, want os.ErrClosed", err)
				}
			})
		})
	}
}

// rewrite copies everything through a Writer.
func rewrite(t testing.TB, r *Reader) []byte {
	t.Helper()
	var m memory
	w, err := newWriter("", &m, *r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sections() {
		if err := w.CopySection(r, s.Name); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range r.Tensors() {
		if err := w.CopyTensor(r, x.Name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// TestHeaderGuess moves the data when the header turns out longer or shorter
// than the tensors of the configuration promise.
func TestHeaderGuess(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100} {
		var m memory
		w, err := newWriter("", &m, smallHeader())
		if err != nil {
			t.Fatal(err)
		}
		var want [][]byte
		for i := range n {
			b := content(uint64(i), 4*(1+i*7919%4000), false)
			want = append(want, b)
			name := strings.Repeat("x", 1+i%200) + string(rune('a'+i%26)) + string(rune('0'+i/26))
			if err := w.AddTensor(name, F32, []int{len(b) / 4}, bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(m.b), int64(len(m.b)))
		if err != nil {
			t.Fatalf("%d tensors: %v", n, err)
		}
		if len(r.Tensors()) != n {
			t.Errorf("%d tensors, want %d", len(r.Tensors()), n)
		}
		for i, x := range r.Tensors() {
			if got, err := r.Tensor(x.Name); err != nil || !bytes.Equal(got.Data, want[i]) {
				t.Errorf("tensor %d of %d differs (%v)", i, n, err)
			}
		}
	}
}

// TestUsualGuess: the tensors of the configuration need no move.
func TestUsualGuess(t *testing.T) {
	var m memory
	w, err := newWriter("", &m, smallHeader())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range w.dir.header.Config.TensorSpecs() {
		if err := w.AddTensor(s.Name, F16, s.Shape, bytes.NewReader(make([]byte, 2*s.Elements()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := align(preambleSize + int64(w.dir.headerLength)); got != w.dataStart {
		t.Errorf("data starts at %d, the guess was %d", got, w.dataStart)
	}
}

// TestSetProvenance: what comes last is written, without moving anything if it
// is as long.
func TestSetProvenance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.msz")
	for _, sum := range []string{strings.Repeat("a5", 32), ""} {
		w, err := Create(path, smallHeader())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range w.dir.header.Config.TensorSpecs() {
			if err := w.AddTensor(s.Name, F16, s.Shape, bytes.NewReader(make([]byte, 2*s.Elements()))); err != nil {
				t.Fatal(err)
			}
		}
		want := smallHeader().Provenance
		want.SHA256 = sum
		if err := w.SetProvenance(want); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := align(preambleSize + int64(w.dir.headerLength)); sum != "" && got != w.dataStart {
			t.Errorf("data starts at %d, the guess was %d", got, w.dataStart)
		}
		if err := w.SetProvenance(want); err == nil {
			t.Error("set after Close")
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header().Provenance; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		r.Close()
	}
	w, err := Create(path, smallHeader())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.SetProvenance(Provenance{SHA256: "xyz"}); err == nil || !strings.Contains(err.Error(), "64 lower-case") {
		t.Errorf("a bad sum: %v", err)
	}
}

func TestWriterErrors(t *testing.T) {
	zeros := func(n int) io.Reader { return bytes.NewReader(make([]byte, n)) }
	for _, c := range []struct {
		name string
		do   func(w *Writer) error
		want string
	}{
		{"short data", func(w *Writer) error { return w.AddTensor("x", F32, []int{2, 3}, zeros(23)) },
			`"x": data ends 1 bytes before its shape does: unexpected EOF`},
		{"long data", func(w *Writer) error { return w.AddTensor("x", F32, []int{2, 3}, zeros(25)) },
			`"x": more data than its shape has`},
		{"failing data", func(w *Writer) error {
			return w.AddTensor("x", F32, []int{1}, io.MultiReader(zeros(2), failing{}))
		}, `"x": no more`},
		{"twice", func(w *Writer) error {
			if err := w.AddTensor("x", F32, []int{1}, zeros(4)); err != nil {
				return err
			}
			return w.AddTensor("x", F32, []int{1}, zeros(4))
		}, `"x": added twice`},
		{"section twice", func(w *Writer) error {
			if err := w.AddSection("x", nil); err != nil {
				return err
			}
			return w.AddSection("x", nil)
		}, `"x": added twice`},
		{"section late", func(w *Writer) error {
			if err := w.AddTensor("x", F32, []int{1}, zeros(4)); err != nil {
				return err
			}
			return w.AddSection("x", nil)
		}, `"x": section added after the first tensor`},
		{"no name", func(w *Writer) error { return w.AddSection("", nil) }, "name of 0 bytes, want 1 to 255"},
		{"bad name", func(w *Writer) error { return w.AddTensor("a b", F32, []int{1}, zeros(4)) }, `name "a b" has the byte 0x20`},
		{"no shape", func(w *Writer) error { return w.AddTensor("x", F32, nil, zeros(4)) }, "shape of 0 dimensions, want 1 to 8"},
		{"zero", func(w *Writer) error { return w.AddTensor("x", F32, []int{0}, zeros(0)) }, "shape [0] has a dimension below 1"},
		{"overflow", func(w *Writer) error { return w.AddTensor("x", F32, []int{1 << 40, 1 << 40}, zeros(0)) }, "beyond any file"},
		{"dtype", func(w *Writer) error { return w.AddTensor("x", 9, []int{1}, zeros(4)) }, "unknown element type 9"},
		{"i8 without scales", func(w *Writer) error { return w.AddTensor("x", I8, []int{1, 1}, zeros(4)) }, "use AddQuantized"},
		{"scales", func(w *Writer) error { return w.AddQuantized("x", []int{2, 2}, []float32{1}, zeros(4)) }, "1 scales for shape [2 2]"},
		{"zero scale", func(w *Writer) error { return w.AddQuantized("x", []int{1, 2}, []float32{0}, zeros(2)) }, "scale of row 0 is 0"},
		{"infinite scale", func(w *Writer) error {
			return w.AddQuantized("x", []int{1, 2}, []float32{float32(math.Inf(1))}, zeros(2))
		}, "scale of row 0 is +Inf"},
		{"-128", func(w *Writer) error {
			return w.AddQuantized("x", []int{1, 2}, []float32{1}, bytes.NewReader([]byte{0, 0x80}))
		}, "value -128, want -127 to 127"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "m.msz")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			w, err := Create(path, smallHeader())
			if err != nil {
				t.Fatal(err)
			}
			err = c.do(w)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "format: "+path+": ") {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if cerr := w.Close(); cerr == nil || err != nil && cerr.Error() != err.Error() {
				t.Errorf("Close gave %v, want %v", cerr, err)
			}
			onlyOld(t, path)
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("no more") }

// onlyOld wants the folder of path to hold nothing but path, with "old" in it.
func onlyOld(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v (%v), want only the old file", entries, err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("old file is %q, %v", b, err)
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.msz")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	t.Run("abort", func(t *testing.T) {
		w, err := Create(path, smallHeader())
		if err != nil {
			t.Fatal(err)
		}
		w.AddSection("x", []byte("abc"))
		w.Abort()
		w.Abort()
		if err := w.Close(); err == nil {
			t.Error("Close after Abort gave no error")
		}
		onlyOld(t, path)
	})
	t.Run("invalid header", func(t *testing.T) {
		for _, c := range []struct {
			change func(h *Header)
			want   string
		}{
			{func(h *Header) { h.Config.Decoder.Layers = 0 }, "decoder.layers is 0"},
			{func(h *Header) { h.Provenance.Source = "/home/me/a.pt" }, "want a file's base name"},
			{func(h *Header) { h.Provenance.SHA256 = "AB" }, "want 64 lower-case hexadecimal digits"},
			{func(h *Header) { h.Provenance.Sources = []SourceFile{{`a\b`, ""}} }, "want a file's base name"},
			{func(h *Header) { h.Provenance.Model = "\xff" }, "is not UTF-8"},
		} {
			h := smallHeader()
			c.change(&h)
			if _, err := Create(path, h); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		}
		h := smallHeader()
		h.Tokenization.BPESeparator = "\xff" // shows only when the header is encoded
		w, err := Create(path, h)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err == nil || !strings.Contains(err.Error(), "not in its canonical form") {
			t.Errorf("error is %v, want one about the canonical form", err)
		}
		onlyOld(t, path)
	})
	t.Run("folder", func(t *testing.T) {
		if _, err := Create(dir, smallHeader()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("error is %v", err)
		}
		if _, err := Create(filepath.Join(dir, "none", "m.msz"), smallHeader()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error is %v, want fs.ErrNotExist", err)
		}
	})
	t.Run("link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link.msz")
		if err := os.Symlink(path, link); err != nil {
			t.Skip(err)
		}
		w, err := Create(link, smallHeader())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link was replaced (%v, %v)", fi, err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o640 {
			t.Errorf("mode is %v (%v), want the old file's 0640", fi.Mode(), err)
		}
	})
}

// TestAlignment holds the layout to doc.go without the Reader's help.
func TestAlignment(t *testing.T) {
	b, want := small(t)
	n := binary.LittleEndian.Uint64(b[16:])
	if got := binary.LittleEndian.Uint64(b[24:]); got != uint64(len(b)) {
		t.Errorf("file length in the preamble is %d, want %d", got, len(b))
	}
	at := (32 + int(n) + 255) / 256 * 256
	at += (bytes.Index(b[at:], want["bpe.codes"]) + 255) / 256 * 256
	if !bytes.HasPrefix(b[at:], want["bpe.codes"]) {
		t.Error("a section does not start at a multiple of 256")
	}
	if !bytes.HasSuffix(b, want["t.i8"]) {
		t.Error("the last section does not end the file")
	}
}
