package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"memsizer/runtime"
)

// Reference cases written by the authors' own code. The repository holds a
// few; a full set beside the checkout is used when it is there.
const referenceDir = "../../../shared/reference"

// caseDirs lists the folders of reference cases whose name starts with one of
// the prefixes and that contain file.
func caseDirs(t *testing.T, file string, prefixes ...string) []string {
	var dirs []string
	for _, root := range []string{"../../testdata", referenceDir} {
		found, err := filepath.Glob(filepath.Join(root, "*", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			d := filepath.Dir(f)
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(filepath.Base(d), p) }) {
				dirs = append(dirs, d)
			}
		}
	}
	if len(dirs) == 0 {
		t.Skipf("no case with a %s beside the repository", file)
	}
	return dirs
}

// convertCase converts the checkpoint of a case and opens the result.
func convertCase(t *testing.T, dir, dtype string, flags ...string) *runtime.Model {
	t.Helper()
	in := ""
	for _, name := range []string{"checkpoint.pt", "checkpoint_best.pt", "model.safetensors"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			in = filepath.Join(dir, name)
			break
		}
	}
	out := filepath.Join(t.TempDir(), "m.msz")
	args := append([]string{"-o", out, "--dtype", dtype}, flags...)
	if strings.HasSuffix(in, ".safetensors") || strings.Contains(dir, "bare-state-dict") {
		args = append(args, "--args", filepath.Join(dir, "args.json"))
	}
	c := newConvertCommand()
	var printed bytes.Buffer
	c.SetOut(&printed)
	c.SetErr(&printed)
	c.SetArgs(append(args, in))
	if err := c.ExecuteContext(context.Background()); err != nil {
		t.Fatalf("convert %v %s: %v\n%s", args, in, err, printed.String())
	}
	m, err := runtime.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

var tokensOnly = []string{"--tokenizer", "none", "--bpe", "none"}

// scoredTokens is a hypothesis as the reference records it.
type scoredTokens struct {
	Tokens     []int32   `json:"tokens"`
	Score      float64   `json:"score"`
	Positional []float64 `json:"positional_scores"`
}

// sameHypotheses compares a whole n-best list: identical tokens, scores
// within bound (relative where they exceed 1).
func sameHypotheses(t *testing.T, got []runtime.Hypothesis, want []scoredTokens, bound float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d hypotheses, want %d", len(got), len(want))
		return
	}
	for i, g := range got {
		w := want[i]
		if !slices.Equal(g.Tokens, w.Tokens) {
			t.Errorf("hypothesis %d: tokens %v (score %v), want %v (score %v)", i, g.Tokens, g.Score, w.Tokens, w.Score)
			continue
		}
		if !near(float64(g.Score), w.Score, bound) {
			t.Errorf("hypothesis %d: score %v, want %v", i, g.Score, w.Score)
		}
		for j, p := range w.Positional {
			if !near(float64(g.TokenScores[j]), p, bound) {
				t.Errorf("hypothesis %d token %d: score %v, want %v", i, j, g.TokenScores[j], p)
			}
		}
	}
}

func near(got, want, bound float64) bool {
	return math.Abs(got-want) <= bound*max(1, math.Abs(want))
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// readLines calls fn with every line of a JSON-lines file.
func readLines(t *testing.T, path string, fn func(line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		fn(s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestBeamSearchOfReferenceCases(t *testing.T) {
	for _, dir := range caseDirs(t, "beam.json", "mt-", "transformer", "bart", "old-names", "container-", "bare-state-dict", "safetensors") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want []struct {
				Sentence  int            `json:"sentence"`
				Beam      int            `json:"beam"`
				LenPen    float64        `json:"len_penalty"`
				Nbest     []scoredTokens `json:"nbest"`
				SrcTokens []int32        `json:"src_tokens"`
			}
			readJSON(t, filepath.Join(dir, "beam.json"), &want)
			m := convertCase(t, dir, "f32", tokensOnly...)
			sources := sourceTokens(t, filepath.Join(dir, "reference.safetensors"))
			for _, w := range want {
				o := runtime.DefaultOptions()
				o.Beam, o.NBest, o.LenPen = w.Beam, w.Beam, w.LenPen
				o.MaxLenA, o.MaxLenB = 1.2, 10
				tr, err := runtime.NewTranslator(m, o, runtime.Resources{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				got, err := tr.TranslateTokens(context.Background(), 0, sources[w.Sentence], nil)
				tr.Close()
				if err != nil {
					t.Fatal(err)
				}
				sameHypotheses(t, got, w.Nbest, 1e-4)
			}
			if len(want) == 0 {
				t.Error("beam.json is empty")
			}
		})
	}
}

// trainedFlags are what the trained English-German model was trained with.
func trainedFlags(dir string) []string {
	return []string{"--tokenizer", "moses", "--moses-no-dash-splits", "--normalize-punctuation",
		"--bpe", "subword_nmt", "--bpe-codes", filepath.Join(dir, "bpe.codes")}
}

func TestSearchOptionsOfTrainedModel(t *testing.T) {
	for _, dir := range caseDirs(t, "search.jsonl", "multi30k-en-de") {
		t.Run(rootName(dir), func(t *testing.T) { testSearchOptions(t, dir) })
	}
}

func testSearchOptions(t *testing.T, dir string) {
	m := convertCase(t, dir, "f32", trainedFlags(dir)...)
	type record struct {
		Options struct {
			Beam      *int     `json:"beam_size"`
			LenPen    *float64 `json:"len_penalty"`
			Normalize *bool    `json:"normalize_scores"`
			MinLen    *int     `json:"min_len"`
			MaxLenA   *float64 `json:"max_len_a"`
			MaxLenB   *float64 `json:"max_len_b"`
			Ngram     int      `json:"no_repeat_ngram_size"`
			UnkPen    float64  `json:"unk_penalty"`
			Temp      *float64 `json:"temperature"`
			Match     bool     `json:"match_source_len"`
		} `json:"options"`
		BPE    string         `json:"bpe"`
		Nbest  []scoredTokens `json:"nbest"`
		Prefix []int32        `json:"prefix_tokens"`
	}
	var wg sync.WaitGroup
	limit := make(chan bool, 4)
	readLines(t, filepath.Join(dir, "search.jsonl"), func(line []byte) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		o := runtime.DefaultOptions()
		o.MaxLenA, o.MaxLenB = 1.2, 10
		set(&o.Beam, r.Options.Beam)
		set(&o.LenPen, r.Options.LenPen)
		set(&o.MinLen, r.Options.MinLen)
		set(&o.MaxLenA, r.Options.MaxLenA)
		set(&o.MaxLenB, r.Options.MaxLenB)
		set(&o.Temperature, r.Options.Temp)
		o.NoNormalize = r.Options.Normalize != nil && !*r.Options.Normalize
		o.NoRepeatNgram, o.UnkPen, o.MatchSourceLen = r.Options.Ngram, r.Options.UnkPen, r.Options.Match
		o.NBest = o.Beam
		src := m.Text().Source()
		var ids []int32
		for _, p := range strings.Fields(r.BPE) {
			ids = append(ids, src.Index(p))
		}
		ids = append(ids, 2)
		limit <- true
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-limit }()
			tr, err := runtime.NewTranslator(m, o, runtime.Resources{Workers: 1, Rows: o.Beam})
			if err != nil {
				t.Error(err)
				return
			}
			defer tr.Close()
			got, err := tr.TranslateTokens(context.Background(), 0, ids, r.Prefix)
			if err != nil {
				t.Error(err)
				return
			}
			if len(got) > len(r.Nbest) {
				got = got[:len(r.Nbest)]
			}
			sameHypotheses(t, got, r.Nbest, 1e-4)
			if t.Failed() {
				t.Logf("options %s", line[:min(len(line), 200)])
			}
		}()
	})
	wg.Wait()
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}
