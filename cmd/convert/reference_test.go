package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// convertFlags are the flags and the input of a reference case.
func convertFlags(dir string) []string {
	in := filepath.Join(dir, "checkpoint.pt")
	args := tokensOnly
	for _, name := range []string{"checkpoint_best.pt", "model.safetensors"} {
		if p := filepath.Join(dir, name); exists(p) {
			in = p
		}
	}
	if base := filepath.Base(dir); base == "bare-state-dict" || base == "safetensors" {
		args = append(args[:len(args):len(args)], "--args", filepath.Join(dir, "args.json"))
	}
	return append(args[:len(args):len(args)], in)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestVerifyReferenceCases converts every checkpoint with recorded values and
// verifies it: in f32 within 1e-4, in f16 within the default.
func TestVerifyReferenceCases(t *testing.T) {
	for _, dir := range caseDirs(t, "reference.safetensors", "mt-", "transformer", "bart", "lm-", "old-names", "container-", "bare-state-dict", "safetensors") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			ref := filepath.Join(dir, "reference.safetensors")
			out := filepath.Join(t.TempDir(), "m.msz")
			must(t, append([]string{"-q", "-o", out, "--dtype", "f32"}, convertFlags(dir)...)...)
			must(t, "verify", out, "--reference", ref, "--tolerance", "1e-4")
			must(t, append([]string{"-q", "-o", out}, convertFlags(dir)...)...)
			must(t, "verify", out, "--reference", ref)
		})
	}
}

// TestRefused: nothing is written and the error names what is wrong.
func TestRefused(t *testing.T) {
	dir := filepath.Join(referenceDir, "refuse")
	if !exists(dir) {
		t.Skip("no refuse cases beside the repository")
	}
	dicts := filepath.Join(referenceDir, "mt-shared")
	for name, want := range map[string]string{
		"empty":              "the file is empty",
		"text":               "web page",
		"truncated":          "byte 88149",
		"os-system":          `"posix.system"`,
		"wrong-shape":        `"decoder.layers.1.fc1.weight": shape [63 32], want [64 32]`,
		"missing-tensor":     `missing tensor "decoder.layers.0.self_attn.k_layer_norm.weight"`,
		"unknown-tensor":     `unexpected tensor "decoder.layers.0.surprise.weight"`,
		"nan-weight":         `tensor "decoder.layers.0.fc1.weight": element 100 is NaN`,
		"fp16-overflow":      `tensor "decoder.layers.0.fc1.weight": element 100 is 100000`,
		"other-architecture": `"fconv_iwslt_de_en"`,
	} {
		t.Run(name, func(t *testing.T) {
			in := filepath.Join(dir, name+".pt")
			folder := t.TempDir()
			out := filepath.Join(folder, "m.msz")
			r := command(t.Context(), append([]string{"-o", out, "--dict-dir", dicts, in}, tokensOnly...)...)
			if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, in) {
				t.Errorf("status %d, stdout %q, stderr %q, want %q", r.code, r.stdout, r.stderr, want)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
				t.Errorf("left %v (%v)", left, err)
			}
		})
	}
}

// TestInspectRefused: inspect shows what the tensors' names and shapes tell.
func TestInspectRefused(t *testing.T) {
	dir := filepath.Join(referenceDir, "refuse")
	if !exists(dir) {
		t.Skip("no refuse cases beside the repository")
	}
	for name, want := range map[string]string{
		"wrong-shape":        "decoder.layers.1.fc1.weight",
		"missing-tensor":     "decoder.layers.0.self_attn.k_layer_norm.weight",
		"unknown-tensor":     "decoder.layers.0.surprise.weight",
		"other-architecture": "fconv_iwslt_de_en",
	} {
		args := append([]string{"inspect", "--dict-dir", filepath.Join(referenceDir, "mt-shared"), filepath.Join(dir, name+".pt")}, tokensOnly...)
		out := must(t, args...)
		if !strings.Contains(out, want) || strings.Contains(out, "nothing keeps it") {
			t.Errorf("%s: no %q in\n%s", name, want, out)
		}
	}
}

// TestTrainedModelSize: the f16 file is little more than half of what it was
// made from, and made twice it is the same.
func TestTrainedModelSize(t *testing.T) {
	dir := filepath.Join(referenceDir, "multi30k-en-de")
	if !exists(dir) {
		t.Skip("the trained model is not beside the repository")
	}
	var before int64
	for _, name := range []string{"dict.en.txt", "dict.de.txt", "bpe.codes"} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		before += fi.Size()
	}
	a, b := filepath.Join(t.TempDir(), "a.msz"), filepath.Join(t.TempDir(), "b.msz")
	for _, out := range []string{a, b} {
		args := append([]string{"-o", out}, trainedFlags(dir)...)
		printed := must(t, append(args, filepath.Join(dir, "checkpoint_best.pt"))...)
		if !strings.Contains(printed, "1,499,768") {
			t.Errorf("the number of parameters was not printed:\n%s", printed)
		}
	}
	same(t, a, b)
	fi, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	before += 4 * 1_499_768
	if got := float64(fi.Size()) / float64(before); got > 0.505 {
		t.Errorf("%d bytes of %d: %.4f, want at most 0.505", fi.Size(), before, got)
	}
}

// TestFailureKeepsOutput: a conversion that fails does not touch the file that
// was there.
func TestFailureKeepsOutput(t *testing.T) {
	in := filepath.Join(referenceDir, "refuse", "nan-weight.pt")
	if !exists(in) {
		t.Skip("no refuse cases beside the repository")
	}
	out := filepath.Join(t.TempDir(), "m.msz")
	if err := os.WriteFile(out, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := command(t.Context(), append([]string{"-o", out, "--dict-dir", filepath.Join(referenceDir, "mt-shared"), in}, tokensOnly...)...)
	if b, err := os.ReadFile(out); r.code != 1 || err != nil || string(b) != "precious" {
		t.Errorf("status %d, the old file is %q (%v)", r.code, b, err)
	}
}
