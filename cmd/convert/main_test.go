package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memsizer/format"
)

// result is what a command line gave.
type result struct {
	code           int
	stdout, stderr string
}

func command(ctx context.Context, args ...string) result {
	var out, err bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &err)
	return result{code, out.String(), err.String()}
}

// must runs a command line that succeeds.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := command(t.Context(), args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("convert %q: status %d, stderr %q", args, r.code, r.stderr)
	}
	return r.stdout
}

// tiny writes a synthetic model.
func tiny(t *testing.T, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.msz")
	must(t, append([]string{"synth", "-o", path, "--preset", "tiny"}, flags...)...)
	return path
}

// TestDigest: the provenance holds the SHA-256 of the checkpoint.
func TestDigest(t *testing.T) {
	in := filepath.Join("..", "..", "testdata", "multi30k-en-de", "checkpoint_best.pt")
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "m.msz")
	must(t, "-o", out, "--tokenizer", "none", "--bpe", "none", in)
	r, err := format.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := r.Header().Provenance
	if want := fmt.Sprintf("%x", sha256.Sum256(data)); p.SHA256 != want || p.Source != "checkpoint_best.pt" {
		t.Errorf("source %q, SHA-256 %s, want %s", p.Source, p.SHA256, want)
	}
}

func TestUsageErrors(t *testing.T) {
	model := tiny(t)
	dir := t.TempDir()
	pt := filepath.Join(dir, "a.pt")
	if err := os.WriteFile(pt, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "b.pt")
	if err := os.Symlink(pt, link); err != nil {
		link = pt
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nothing", nil, 2, "want a checkpoint"},
		{"no output", []string{pt}, 2, "no output file"},
		{"standard output", []string{"-o", "-", pt}, 2, "cannot be written to standard output"},
		{"standard input", []string{"-o", "m.msz", "-"}, 2, "cannot be read from standard input"},
		{"unknown flag", []string{"--nothing"}, 2, "unknown flag: --nothing"},
		{"unknown dtype", []string{"-o", "m.msz", "--dtype", "f8", pt}, 2, `--dtype "f8", want f16, f32, bf16 or i8`},
		{"two checkpoints", []string{"-o", "m.msz", pt, pt}, 2, "--average averages several"},
		{"average of one", []string{"-o", "m.msz", "--average", pt}, 2, "at least two"},
		{"input is output", []string{"-o", pt, pt}, 2, "is the input and the output"},
		{"input is output by a link", []string{"-o", pt, link}, 2, "is the input and the output"},
		{"no such file", []string{"-o", "m.msz", filepath.Join(dir, "none.pt")}, 1, "no such file"},
		{"folder", []string{"-o", "m.msz", dir}, 1, "is a folder, want a checkpoint"},
		{"converted already", []string{"-o", filepath.Join(dir, "m.msz"), model}, 1, "is a .msz file already"},
		{"inspect nothing", []string{"inspect"}, 2, "want one file"},
		{"inspect two", []string{"inspect", model, model}, 2, "want one file"},
		{"verify without reference", []string{"verify", model}, 2, "name it with --reference"},
		{"verify standard input", []string{"verify", model, "-r", "-"}, 2, "cannot be read from standard input"},
		{"tolerance", []string{"verify", model, "-r", pt, "--tolerance", "NaN"}, 2, "--tolerance NaN, want 0 or more"},
		{"synth without output", []string{"synth"}, 2, "no output file"},
		{"synth with an argument", []string{"synth", "-o", "m.msz", "x"}, 2, "want none"},
		{"unknown preset", []string{"synth", "-o", "m.msz", "--preset", "x"}, 2, `--preset "x" is not known`},
		{"impossible size", []string{"synth", "-o", "m.msz", "--dim", "30"}, 2, "heads, which do not divide the dimension 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := command(t.Context(), c.args...)
			if r.code != c.code || !strings.HasPrefix(r.stderr, "convert: error: ") || !strings.Contains(r.stderr, c.want) || r.stdout != "" {
				t.Errorf("status %d, stdout %q, stderr %q; want %d and %q", r.code, r.stdout, r.stderr, c.code, c.want)
			}
		})
	}
	if _, err := os.Stat("m.msz"); err == nil {
		t.Error("a refused command line wrote m.msz")
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"inspect", "--help"}, {"verify", "--help"}, {"synth", "--help"}} {
		if out := must(t, args...); !strings.HasPrefix(out, "  convert ") || !strings.Contains(out, "Flags:") {
			t.Errorf("help of %q does not begin with an example:\n%s", args, out)
		}
	}
}

func TestSynth(t *testing.T) {
	for _, dtype := range []string{"f32", "f16", "bf16", "i8"} {
		t.Run(dtype, func(t *testing.T) {
			a, b := tiny(t, "--dtype", dtype), tiny(t, "--dtype", dtype)
			same(t, a, b)
			r, err := format.Open(a)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := r.Verify(); err != nil {
				t.Fatal(err)
			}
			specs := r.Header().Config.TensorSpecs()
			if len(specs) != len(r.Tensors()) {
				t.Fatalf("%d tensors, want %d", len(r.Tensors()), len(specs))
			}
			for i, x := range r.Tensors() {
				want := dtype
				if r := specs[i].Role; dtype == "i8" && r != format.RoleMatrix && r != format.RoleOutput {
					want = "f16"
				}
				if x.Name != specs[i].Name || x.DType.String() != want {
					t.Errorf("tensor %d is %q %v, want %q %s", i, x.Name, x.DType, specs[i].Name, want)
				}
			}
		})
	}
	t.Run("seed", func(t *testing.T) {
		a, _ := os.ReadFile(tiny(t))
		b, _ := os.ReadFile(tiny(t, "--seed", "2"))
		if bytes.Equal(a, b) {
			t.Error("another seed gave the same file")
		}
	})
	t.Run("compress", func(t *testing.T) {
		a, err := os.Stat(tiny(t))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.Stat(tiny(t, "--compress"))
		if err != nil {
			t.Fatal(err)
		}
		if b.Size() >= a.Size() {
			t.Errorf("%d bytes compressed, %d plain", b.Size(), a.Size())
		}
	})
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s and %s differ", a, b)
	}
}

// TestPresets holds the paper's parameter counts.
func TestPresets(t *testing.T) {
	want := map[string]int64{
		"mt": 175_915_016, "mt-full": 160_380_488, "mt-softmax": 209_911_808,
		"lm": 357_225_472, "lm-softmax": 448_473_088,
		"bart": 338_297_872, "bart-softmax": 0, "tiny": 50_728,
	}
	for _, p := range presets {
		c := p.config()
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		n, known := want[p.name]
		if got := c.Parameters(); !known || n != 0 && got != n {
			t.Errorf("%s has %d parameters, want %d", p.name, got, n)
		}
		resize(&c, sizes{layers: 3, dim: 64, ffn: 96, heads: 2, vocab: 1000, causal: 5, cross: 6})
		if err := c.Validate(); err != nil {
			t.Errorf("%s resized: %v", p.name, err)
		}
		if c.Decoder.Layers != 3 || c.Decoder.Dim != 64 || c.Decoder.Embedding.Vocab != 1000 {
			t.Errorf("%s resized is %+v", p.name, c.Decoder)
		}
	}
}

func TestInspect(t *testing.T) {
	model := tiny(t, "--dtype", "i8")
	text := must(t, "inspect", model)
	for _, want := range []string{"container 1, architecture 1, quantization 1", "self memsizer (H 4, K 4)", "cross memsizer (H 4, K 8)",
		"parameters    50,728", "decoder.layers.1.fc2.weight", "all checksums are right"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var rep mszReport
	if err := json.Unmarshal([]byte(must(t, "inspect", "--json", model)), &rep); err != nil {
		t.Fatal(err)
	}
	if rep.Parameters != 50728 || rep.Container != 1 || len(rep.Tensors) != len(rep.Config.TensorSpecs()) || rep.Damage != "" {
		t.Errorf("report is %+v", rep)
	}

	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(model, b, 0o666); err != nil {
		t.Fatal(err)
	}
	r := command(t.Context(), "inspect", "--json", model)
	if err := json.Unmarshal([]byte(r.stdout), &rep); err != nil {
		t.Fatal(err)
	}
	if r.code != 1 || !strings.Contains(rep.Damage, "decoder.layers.1.final_layer_norm.bias") || !strings.Contains(r.stderr, "is damaged") {
		t.Errorf("damaged file: status %d, damage %q, stderr %q", r.code, rep.Damage, r.stderr)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	r := command(ctx, "synth", "-o", filepath.Join(dir, "m.msz"), "--preset", "tiny")
	if r.code != 130 || !strings.Contains(r.stderr, "interrupted") {
		t.Errorf("status %d, stderr %q", r.code, r.stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}
