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
	"time"

	"memsizer/format"
	"memsizer/ops"
	"memsizer/runtime"
)

// testLanguageModel writes a language model with random weights and 60 words.
func testLanguageModel(t testing.TB, kind string) string {
	t.Helper()
	const vocab, dim = 64, 16
	d := format.Stack{
		Layers: 2, Dim: dim, FFNDim: 32, Activation: "relu", PreNorm: true, FinalNorm: true,
		Embedding:  format.Embedding{Kind: format.Plain, Vocab: vocab, Dim: dim},
		Positions:  format.Positions{Kind: format.SinusoidalPositions, Offset: 2, Max: 64},
		EmbedScale: 4, NormEps: 1e-5,
		Self: format.Attention{Kind: kind, Heads: 2, SourceDim: dim},
	}
	if kind == format.MemSizer {
		d.Self.Slots = 4
	}
	h := format.Header{
		Config:       format.Config{Decoder: d, Output: format.Output{Kind: format.Plain, TiedEmbedding: true}},
		Tokenization: format.Tokenization{TargetLang: "en", Tokenizer: "space", BPE: "none"},
	}
	path := filepath.Join(t.TempDir(), kind+".msz")
	w, err := format.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	var dict strings.Builder
	for i := 4; i < vocab; i++ {
		fmt.Fprintf(&dict, "w%d 1\n", i)
	}
	if err := w.AddSection(format.SectionTargetDict, []byte(dict.String())); err != nil {
		t.Fatal(err)
	}
	for _, s := range h.Config.TensorSpecs() {
		v := make([]float32, s.Elements())
		for i := range v {
			v[i] = float32(math.Sin(float64(i))) / 4
		}
		if err := w.AddTensor(s.Name, format.F32, s.Shape, bytes.NewReader(format.AppendFloats(nil, format.F32, v))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func benchJSON(t *testing.T, args ...string) *benchReport {
	t.Helper()
	status, out, stderr := call("", append([]string{"bench", "--json"}, args...)...)
	if status != 0 || stderr != "" {
		t.Fatalf("got status %d, stderr %q", status, stderr)
	}
	var r benchReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return &r
}

// TestBench wants every point, its counts and its parts to agree.
func TestBench(t *testing.T) {
	for _, test := range []struct {
		name, model string
		encoder     bool
	}{{"translation", testModel(t, 64), true}, {"language model", testLanguageModel(t, format.MemSizer), false}} {
		t.Run(test.name, func(t *testing.T) {
			r := benchJSON(t, "-m", test.model, "--no-limits", "--passes", "2", "--threads", "1,2", "--beam", "1,3", "--batch", "1,5", "--length", "9")
			if got, want := len(r.Points), 8; got != want {
				t.Fatalf("got %d points, want %d", got, want)
			}
			if r.Model.StepBytes <= 0 || r.Machine.Set == "" || r.Machine.Cores < 1 || r.Text == nil {
				t.Errorf("incomplete: %+v, %+v", r.Model, r.Machine)
			}
			for _, p := range r.Points {
				if p.Passes != 2 || p.TokensPerSecond <= 0 || p.Least > p.TokensPerSecond || p.Most < p.TokensPerSecond {
					t.Errorf("got %+v", p)
				}
				if (p.Encoder != nil) != test.encoder {
					t.Errorf("encoder: %v, want %v", p.Encoder != nil, test.encoder)
				}
				if most := float64((p.Batch + p.Threads - 1) / p.Threads * p.Beam); p.RowsPerStep <= 0 || p.RowsPerStep > most+float64(p.Beam) {
					t.Errorf("%+v: %.1f rows, want at most about %v", *p, p.RowsPerStep, most)
				}
				phases := 0.0
				for _, s := range p.Decoder.Phases {
					phases += s
				}
				if math.Abs(phases-p.Decoder.Seconds) > 1e-6*p.Decoder.Seconds {
					t.Errorf("phases take %v s, the decoder %v s", phases, p.Decoder.Seconds)
				}
				scored := int64(0) // rows of output: one per live hypothesis and token
				for _, x := range p.Decoder.Products {
					if x.Phase == ops.PhaseOutput.String() {
						scored += int64(x.Rows) * x.Calls
					}
				}
				if want := int64(2 * p.Batch * (1 + 8*p.Beam)); scored != want {
					t.Errorf("%d threads, beam %d, batch %d: %d rows of output, want %d", p.Threads, p.Beam, p.Batch, scored, want)
				}
			}
		})
	}
}

// TestBenchTables wants the tables to hold what they should.
func TestBenchTables(t *testing.T) {
	m := testModel(t, 64)
	status, out, stderr := call("", "bench", "-m", m, "--no-limits", "--passes", "1", "--threads", "1", "--beam", "2", "--batch", "3", "--length", "5", "--products")
	if status != 0 || stderr != "" {
		t.Fatalf("got status %d, stderr %q", status, stderr)
	}
	for _, want := range []string{"model    " + m, "machine  ", "load     ", "tokens/s", "attention", "products of the decoder, 1 threads, beam 2, batch 3", "GFLOP/s"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// TestBenchBatching: both ways translate everything, to the lengths that the
// sentences have.
func TestBenchBatching(t *testing.T) {
	m := testModel(t, 64)
	o := &benchOptions{sentences: 30, seed: 3}
	model, err := runtime.Open(m)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	sentences, err := o.batchSentences(model, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for _, s := range sentences {
		want += int64(s.Limit)
	}
	r := benchJSON(t, "-m", m, "--batching", "--sentences", "30", "--seed", "3", "--rows", "2,6,40", "--threads", "2", "--beam", "1,3", "--passes", "2")
	if len(r.Batching) != 5 { // 2 rows are too few for a beam of 3
		t.Fatalf("%d comparisons, want 5", len(r.Batching))
	}
	for _, p := range r.Batching {
		if p.Tokens != want || p.Sentences != 30 || p.Passes != 2 {
			t.Errorf("%+v, want %d tokens of 30 sentences in 2 passes", *p, want)
		}
		for _, s := range []benchScheduling{p.Continuous, p.Fixed} {
			if s.TokensPerSecond <= 0 || s.Occupancy <= 0 || s.Occupancy > 1.3 || s.RowsPerStep <= 0 || s.RowsPerStep > float64(p.Rows+p.Beam) {
				t.Errorf("%+v", *p)
			}
		}
	}
	in := filepath.Join(t.TempDir(), "in.txt")
	if err := os.WriteFile(in, []byte("w5 w6\n\nw7\nw8 w9 w10"), 0o666); err != nil {
		t.Fatal(err)
	}
	status, out, stderr := call("", "bench", "-m", m, "--batching", "--input", in, "--rows", "4", "--threads", "1", "--beam", "2", "--passes", "1")
	if status != 0 || stderr != "" || !strings.Contains(out, "continuous") || !strings.Contains(out, "  1     2     4          3 ") {
		t.Errorf("status %d, stderr %q, output\n%s", status, stderr, out)
	}
}

func TestBenchLengths(t *testing.T) {
	memsizer, softmax := testLanguageModel(t, format.MemSizer), testLanguageModel(t, format.Softmax)
	r := benchJSON(t, "-m", memsizer, "-m", softmax, "--lengths=200,3,50", "--passes", "1")
	if len(r.Lengths) != 2 {
		t.Fatalf("got %d models, want 2", len(r.Lengths))
	}
	for i, l := range r.Lengths {
		for j, want := range []int{3, 50, 200} {
			p := l.Points[j]
			state := int64(4 * 2 * 16 * 4) // 4 bytes, 2 layers, D 16, K 4
			if i == 1 {
				state = int64(4 * 2 * 2 * 16 * want) // keys and values
			}
			if p.Length != want || p.TokensPerSecond <= 0 || p.Resident <= 0 || p.State != state {
				t.Errorf("%s: got %+v, want length %d and a state of %d bytes", l.Model.SelfKind, *p, want, state)
			}
		}
	}
	if status, _, stderr := call("", "bench", "-m", testModel(t, 64), "--lengths=8"); status != 2 || !strings.Contains(stderr, "translation model") {
		t.Errorf("translation model: got status %d, %q", status, stderr)
	}
}

func TestBenchPoints(t *testing.T) {
	status, out, stderr := call("1 1 2\n2 3 4\n1 1 2\n", "bench", "-m", testModel(t, 64), "--points", "--length", "6")
	if status != 0 || stderr != "" {
		t.Fatalf("got status %d, stderr %q", status, stderr)
	}
	lines := split(out)
	if len(lines) != 3 {
		t.Fatalf("got %d lines, want 3", len(lines))
	}
	var p benchPoint
	if err := json.Unmarshal([]byte(lines[1]), &p); err != nil || p.Threads != 2 || p.Beam != 3 || p.Batch != 4 || p.TokensPerSecond <= 0 {
		t.Errorf("got %+v, %v", p, err)
	}
	if status, _, stderr := call("1 x\n", "bench", "-m", testModel(t, 64), "--points"); status != 2 || !strings.Contains(stderr, "stdin:1") {
		t.Errorf("bad line: got status %d, %q", status, stderr)
	}
}

func TestBenchUsage(t *testing.T) {
	m := testModel(t, 20)
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"no model", "no model given", nil},
		{"two models", "2 models, want one", []string{"-m", m, "-m", m}},
		{"argument", "want none", []string{"-m", m, "x"}},
		{"batch", "--batch has 0", []string{"-m", m, "--batch", "1,0"}},
		{"threads", "--threads has -1", []string{"-m", m, "--threads", "-1"}},
		{"length", "--length is 1", []string{"-m", m, "--length", "1"}},
		{"both modes", "exclude each other", []string{"-m", m, "--points", "--lengths"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, _, stderr := call("", append([]string{"bench"}, test.args...)...)
			if status != 2 || !strings.Contains(stderr, test.want) {
				t.Errorf("got status %d, stderr %q, want 2 and %q", status, stderr, test.want)
			}
		})
	}
	if status, _, stderr := call("", "bench", "-m", m, "--no-limits"); status != 1 || !strings.Contains(stderr, "at most 20 tokens") {
		t.Errorf("length beyond the model: got status %d, %q", status, stderr)
	}
}

// TestRoof checks the least time of products against hand-made limits.
func TestRoof(t *testing.T) {
	b := &benchLimits{list: []*benchLimit{
		{Name: limitWeights, Threads: 2, Start: benchBurst{Best: 10}, End: benchBurst{Best: 20}}, // the better one counts
		{Name: limitFMA, Threads: 2, Start: benchBurst{Best: 200}},
	}}
	read := ops.ProductTime{Product: ops.Product{Rows: 1, Out: 1000, In: 1000, DType: ops.F16}, Bytes: 2e6, Calls: 10}
	multiply := ops.ProductTime{Product: ops.Product{Rows: 1000, Out: 1000, In: 1000, DType: ops.F16}, Bytes: 2e6, Calls: 1}
	for _, test := range []struct {
		name          string
		products      []ops.ProductTime
		threads, busy int
		want          time.Duration
	}{
		{"reading", []ops.ProductTime{read}, 2, 1, time.Millisecond},                      // 20 MB at 20 GB/s
		{"multiplying", []ops.ProductTime{multiply}, 2, 1, 10 * time.Millisecond},         // 2 GFLOP at 200
		{"sum", []ops.ProductTime{read, multiply}, 2, 1, 11 * time.Millisecond},           //
		{"two at a time", []ops.ProductTime{read, multiply}, 2, 2, 22 * time.Millisecond}, // half the limits each
		{"not measured", []ops.ProductTime{read}, 1, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := b.roof(test.products, test.threads, test.busy); got.Round(time.Microsecond) != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestLimits measures small sizes; it says nothing about how fast they are.
func TestLimits(t *testing.T) {
	b := newBenchLimits(&benchMachine{L2: 1 << 16, L3: 1 << 18}, []int{1, 2}, 1<<17, time.Millisecond)
	b.measure()
	b.measure()
	names := map[string]int{}
	for _, l := range b.list {
		names[l.Name]++
		for _, x := range []benchBurst{l.Start, l.End} {
			if x.Median <= 0 || x.Best < x.Median {
				t.Errorf("%s: %+v", l.Name, x)
			}
		}
	}
	for _, want := range []string{limitFMA, limitL3, limitWeights, limitDRAM} {
		if names[want] != 2 {
			t.Errorf("%s was measured for %d numbers of threads, want 2", want, names[want])
		}
	}
}
