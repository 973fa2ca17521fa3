package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copied copies files of a bundled model into a folder of its own.
func copied(t *testing.T, model string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join("../../testdata", model, n))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, n), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestUnusableTextFiles: what a loaded model would refuse is refused before
// anything is written, by the file's name, and inspect says so too.
func TestUnusableTextFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		content string
		flags   []string // the last one names the file
		want    string
	}{
		{"subword-nmt codes", "#version: 0.2\na b\nc\n", []string{"--bpe", "subword_nmt", "--bpe-codes"}, `line 3: BPE code "c", want two symbols`},
		{"fastBPE codes", "a b 3\nc d x\n", []string{"--bpe", "fastbpe", "--bpe-codes"}, `line 2: BPE code "c d x", want two symbols and a count`},
		{"not a SentencePiece model", "\x0a\x05ab", []string{"--bpe", "sentencepiece", "--sentencepiece-model"}, "SentencePiece model"},
		{"byte BPE", "\x0a\x05ab", []string{"--bpe", "byte_bpe", "--sentencepiece-model"}, "SentencePiece model"},
		{"encoder.json", "[]", []string{"--bpe", "gpt2", "--gpt2-vocab-bpe", "../../runtime/text/testdata/segmentation/gpt2/vocab.bpe", "--gpt2-encoder-json"}, "want a JSON object"},
		{"vocab.bpe", "#version: 0.2\na b c\n", []string{"--bpe", "gpt2", "--gpt2-encoder-json", "../../runtime/text/testdata/segmentation/gpt2/encoder.json", "--gpt2-vocab-bpe"}, "line 2: merge operation"},
		{"threshold's vocabulary", "a\n", []string{"--bpe", "subword_nmt", "--bpe-codes", "../../testdata/multi30k-en-de/bpe.codes", "--bpe-vocab-threshold", "5", "--bpe-vocab"}, "line 1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copied(t, "mt-shared", "checkpoint.pt", "dict.s.txt", "dict.t.txt")
			file := filepath.Join(dir, "given")
			if err := os.WriteFile(file, []byte(c.content), 0o666); err != nil {
				t.Fatal(err)
			}
			pt, out := filepath.Join(dir, "checkpoint.pt"), filepath.Join(dir, "m.msz")
			flags := append([]string{"--tokenizer", "none"}, append(c.flags, file)...)
			r := command(t.Context(), append([]string{"-o", out, pt}, flags...)...)
			if r.code != 1 || !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, file) || r.stdout != "" {
				t.Errorf("status %d, stdout %q, stderr %q; want 1, %q and the file's name", r.code, r.stdout, r.stderr, c.want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a model was written")
			}
			seen := must(t, append([]string{"inspect", pt}, flags...)...)
			if !strings.Contains(seen, "problem") || !strings.Contains(seen, c.want) {
				t.Errorf("inspect does not say %q:\n%s", c.want, seen)
			}
		})
	}
}

// TestInputsAreSpared: no file that a model is read from is written over.
func TestInputsAreSpared(t *testing.T) {
	dir := copied(t, "multi30k-en-de", "checkpoint_best.pt", "dict.en.txt", "dict.de.txt", "bpe.codes")
	args := filepath.Join(dir, "args.json")
	if err := os.WriteFile(args, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	graph := copyFolder(t, "../../format/onnx/testdata/half-external")
	for _, c := range []struct {
		file string
		args []string
	}{
		{filepath.Join(dir, "dict.en.txt"), nil},
		{filepath.Join(dir, "dict.de.txt"), nil},
		{filepath.Join(dir, "bpe.codes"), nil},
		{args, []string{"--args", args}},
		{filepath.Join(graph, "weights.bin"), []string{"-s", "s", "-t", "t", "--bpe", "none", filepath.Join(graph, "model.onnx")}},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			before, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			line := []string{"-o", c.file, "--tokenizer", "none"}
			if len(c.args) < 3 {
				line = append(line, "--bpe", "subword_nmt", "--bpe-codes", filepath.Join(dir, "bpe.codes"), filepath.Join(dir, "checkpoint_best.pt"))
			}
			r := command(t.Context(), append(line, c.args...)...)
			if r.code != 2 || !strings.Contains(r.stderr, "is the input and the output") {
				t.Errorf("status %d, stderr %q; want 2 and a refusal", r.code, r.stderr)
			}
			if after, err := os.ReadFile(c.file); err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s was changed (%v)", c.file, err)
			}
		})
	}
}

// copyFolder copies a folder's files into a folder of their own.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}
