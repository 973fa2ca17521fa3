package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memsizer/format"
	"memsizer/format/safetensors"
	"memsizer/runtime"
)

// tensorsOf are tensors for a recording.
type tensorsOf []safetensors.NamedTensor

func (s *tensorsOf) ints(name string, shape []int, v ...int64) {
	var b bytes.Buffer
	for _, x := range v {
		for i := range 8 {
			b.WriteByte(byte(x >> (8 * i)))
		}
	}
	*s = append(*s, safetensors.NamedTensor{Name: name, DType: "I64", Shape: shape, Data: &b})
}

func (s *tensorsOf) floats(name string, shape []int, v []float32) {
	*s = append(*s, safetensors.NamedTensor{Name: name, DType: "F32", Shape: shape,
		Data: bytes.NewReader(format.AppendFloats(nil, format.F32, v))})
}

func (s tensorsOf) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.safetensors")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := safetensors.Write(f, s, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// recordTiny runs the tiny model itself and records it as a reference, with
// padding as fairseq's: left in the source, right in the target. change may
// alter a recorded value.
func recordTiny(t *testing.T, model string, change func(name string, v []float32)) string {
	t.Helper()
	m, err := runtime.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := m.Header().Config
	src := [][]int64{{1, 1, 7, 2}, {9, 8, 7, 2}}
	prev := [][]int64{{2, 5, 6}, {2, 4, 1}}
	values := map[string][]float32{}
	put := func(name string, n, t, d, i, j int, row []float32) {
		if values[name] == nil {
			values[name] = make([]float32, n*t*d)
		}
		copy(values[name][(i*t+j)*d:], row)
	}
	vocab, dim := c.Decoder.Embedding.Vocab, c.Decoder.Dim
	shapes := map[string][]int{}
	for i := range src {
		var s, p []int32
		for _, id := range src[i] {
			if id != 1 {
				s = append(s, int32(id))
			}
		}
		for _, id := range prev[i] {
			if id != 1 {
				p = append(p, int32(id))
			}
		}
		trace := func(name string, k int, rows [][]float32) {
			full, at, t := name, 4-len(s), 4
			if k >= 0 {
				full = fmt.Sprintf("%s.%d", name, k)
			}
			if name == "decoder_inner" {
				at, t = 0, 3
			}
			shapes[full] = []int{2, t, dim}
			for r, row := range rows {
				put(full, 2, t, dim, i, at+r, row)
			}
		}
		err := m.Logits(s, p, false, trace, func(pos int, scores []float32) {
			shapes["logits"] = []int{2, 3, vocab}
			put("logits", 2, 3, vocab, i, pos, scores)
			shapes["log_probs"] = []int{2, 3, vocab}
			put("log_probs", 2, 3, vocab, i, pos, logSoftmax(scores))
			step := fmt.Sprintf("step_logits.%d", i)
			shapes[step] = []int{len(p), vocab}
			put(step, 1, len(p), vocab, 0, pos, scores)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var out tensorsOf
	out.ints("src_tokens", []int{2, 4}, append(src[0], src[1]...)...)
	out.ints("prev_output_tokens", []int{2, 3}, append(prev[0], prev[1]...)...)
	for name, v := range values {
		change(name, v)
		out.floats(name, shapes[name], v)
	}
	out.floats("something_else", []int{1}, []float32{0})
	return out.write(t)
}

func TestVerify(t *testing.T) {
	model := tiny(t, "--dtype", "f32")
	t.Run("equal", func(t *testing.T) {
		ref := recordTiny(t, model, func(string, []float32) {})
		var c comparison
		if err := json.Unmarshal([]byte(must(t, "verify", model, "-r", ref, "--tolerance", "1e-6", "--json")), &c); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, q := range c.Quantities {
			names = append(names, q.Name)
			if q.Max > 1e-6 || q.Rows == 0 || !q.Within {
				t.Errorf("%+v, want no difference", q)
			}
			if scores := strings.Contains(q.Name, "log"); scores != (q.Top1 != nil) || scores && *q.Top1 != 1 {
				t.Errorf("%s: top-1 agreement %v", q.Name, q.Top1)
			}
		}
		want := "encoder_layer.0 encoder_layer.1 encoder_out decoder_inner.0 decoder_inner.1 decoder_inner.2 logits log_probs step_logits.0 step_logits.1"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("compared %s, want %s", got, want)
		}
		if !c.Within || c.First != "" || len(c.Unused) != 1 {
			t.Errorf("result is %+v", c)
		}
		if c.Quantities[0].Rows != 6 || c.Quantities[3].Rows != 5 {
			t.Errorf("rows %d and %d, want 6 and 5 without padding", c.Quantities[0].Rows, c.Quantities[3].Rows)
		}
	})
	t.Run("different", func(t *testing.T) {
		ref := recordTiny(t, model, func(name string, v []float32) {
			if name == "decoder_inner.1" || name == "logits" {
				v[3*32+5] += 0.25
			}
		})
		r := command(t.Context(), "verify", model, "-r", ref)
		if r.code != 1 || r.stderr != "" || !strings.Contains(r.stdout, "decoder_inner.1 is the first to leave the bound of 0.0001") ||
			!strings.Contains(r.stdout, "[1, 0, 5]") {
			t.Errorf("status %d, stderr %q\n%s", r.code, r.stderr, r.stdout)
		}
	})
	t.Run("padding", func(t *testing.T) {
		ref := recordTiny(t, model, func(name string, v []float32) {
			if name == "encoder_out" {
				v[0] = float32(math.NaN())
			}
			if name == "logits" {
				v[len(v)-1] = 99
			}
		})
		must(t, "verify", model, "-r", ref, "--tolerance", "1e-6")
	})
	t.Run("NaN", func(t *testing.T) {
		ref := recordTiny(t, model, func(name string, v []float32) {
			if name == "logits" {
				v[7] = float32(math.NaN())
			}
		})
		if r := command(t.Context(), "verify", model, "-r", ref, "--tolerance", "1e30"); r.code != 1 {
			t.Errorf("status %d\n%s", r.code, r.stdout)
		}
	})
}

func TestQuantity(t *testing.T) {
	var q quantity
	q.addScores([]float32{1, 4, -20, 0.5}, []float32{1.5, 4, -10, 0.5}, 3, 1)
	q.addScores([]float32{1, 0, 0, 0}, []float32{0, 0.125, 0, 0}, 3, 2)
	if q.Max != 10 || q.Bound != 1 || fmt.Sprint(q.At) != "[3 1 2]" || q.Got != -20 || q.Want != -10 {
		t.Errorf("quantity is %+v", q)
	}
	if q.same != 1 || q.Rows != 2 || q.sum != 0.5+10+1+0.125 || q.count != 8 {
		t.Errorf("quantity is %+v", q)
	}
}

func TestReferenceErrors(t *testing.T) {
	model := tiny(t)
	src := func(s *tensorsOf) { s.ints("src_tokens", []int{1, 2}, 7, 2) }
	prev := func(s *tensorsOf) { s.ints("prev_output_tokens", []int{1, 2}, 2, 7) }
	inner := func(s *tensorsOf) { s.floats("decoder_inner.0", []int{1, 2, 32}, make([]float32, 64)) }
	for _, c := range []struct {
		name string
		make func(s *tensorsOf)
		want string
	}{
		{"no source", func(s *tensorsOf) { prev(s); inner(s) }, `no tensor "src_tokens"`},
		{"no target", func(s *tensorsOf) { src(s); inner(s) }, `no tensor "prev_output_tokens"`},
		{"nothing to compare", func(s *tensorsOf) { src(s); prev(s) }, "nothing to compare"},
		{"other sentences", func(s *tensorsOf) { src(s); inner(s); s.ints("prev_output_tokens", []int{2, 1}, 2, 2) }, "1 sentences in src_tokens, 2 in"},
		{"shape", func(s *tensorsOf) { src(s); prev(s); s.floats("decoder_inner.0", []int{1, 2, 31}, make([]float32, 62)) },
			`tensor "decoder_inner.0" has shape [1 2 31], the model has [1 2 32]`},
		{"no such layer", func(s *tensorsOf) { src(s); prev(s); s.floats("decoder_inner.3", []int{1, 2, 32}, make([]float32, 64)) }, "the model has []"},
		{"no such sentence", func(s *tensorsOf) { src(s); prev(s); s.floats("step_logits.1", []int{2, 512}, make([]float32, 1024)) }, "the model has []"},
		{"id types", func(s *tensorsOf) { prev(s); inner(s); s.floats("src_tokens", []int{1, 1}, []float32{2}) }, "want integers of two dimensions"},
		{"value types", func(s *tensorsOf) { src(s); prev(s); s.ints("logits", []int{1}, 1) }, "want floating-point numbers"},
		{"negative id", func(s *tensorsOf) { prev(s); inner(s); s.ints("src_tokens", []int{1, 1}, -2) }, "token 0 is -2"},
		{"id beyond the vocabulary", func(s *tensorsOf) { prev(s); inner(s); s.ints("src_tokens", []int{1, 1}, 512) }, "512"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s tensorsOf
			c.make(&s)
			path := s.write(t)
			r := command(t.Context(), "verify", model, "-r", path)
			if r.code != 1 || !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, path) {
				t.Errorf("status %d, stderr %q, want %q", r.code, r.stderr, c.want)
			}
		})
	}
}
