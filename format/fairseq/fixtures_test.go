package fairseq

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"memsizer/format/pytorch"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixtures are the models of testdata, see make_fixtures.py there.
var fixtures = []string{"adaptive", "config", "half", "old"}

func fixtureOptions(name string) Options {
	if name == "config" {
		return Options{} // everything is in the checkpoint
	}
	return plainText()
}

// TestFixtures: what fairseq computed with these checkpoints comes out, and the
// configuration is the expected one to the letter.
func TestFixtures(t *testing.T) {
	for _, name := range fixtures {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			m := load(t, filepath.Join(dir, "checkpoint.pt"), fixtureOptions(name))
			checkSpecs(t, m)
			checkOutputs(t, m, filepath.Join(dir, "reference.safetensors"))
			checkGolden(t, m, filepath.Join(dir, "config.json"))
		})
	}
}

func checkGolden(t *testing.T, m *Model, path string) {
	t.Helper()
	got, err := json.MarshalIndent(struct{ Config, Tokenization any }{m.Config, m.Tokenization}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		writeFile(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestReferenceConfigs compares the configuration of every recorded case.
func TestReferenceConfigs(t *testing.T) {
	const golden = "testdata/reference.json"
	var want map[string]json.RawMessage
	if text, err := os.ReadFile(golden); err == nil {
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string]json.RawMessage)
	for _, path := range append(referenceCheckpoints(t),
		referenceFolder+"/multi30k-en-de/checkpoint_best.pt", referenceFolder+"/kjv-lm/checkpoint_best.pt") {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			m := load(t, path, plainText())
			text, err := json.Marshal(m.Config)
			if err != nil {
				t.Fatal(err)
			}
			if got[name] = text; !*update && string(text) != string(want[name]) {
				t.Errorf("got %s, want %s", text, want[name])
			}
		})
	}
	if *update {
		names := make([]string, 0, len(got))
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		var lines []string
		for _, name := range names {
			lines = append(lines, "\""+name+"\": "+string(got[name]))
		}
		writeFile(t, golden, []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"))
	}
}

// TestReferenceRefused: the recorded files that must be refused are, for the
// right reason.
func TestReferenceRefused(t *testing.T) {
	referenceCheckpoints(t)
	opts := plainText()
	opts.Dict = filepath.Join(referenceFolder, "mt-shared", "dict.s.txt")
	opts.Limit = 65504
	for _, c := range []struct{ file, want string }{
		{"empty", "the file is empty"},
		{"text", "web page"},
		{"truncated", "cut off"},
		{"os-system", `"posix.system"`},
		{"other-architecture", `architecture "fconv_iwslt_de_en" is a convolutional model`},
		{"missing-tensor", `missing tensor "decoder.layers.0.self_attn.k_layer_norm.weight", want shape [4]`},
		{"unknown-tensor", `unexpected tensor "decoder.layers.0.surprise.weight", shape [3 3]`},
		{"wrong-shape", `tensor "decoder.layers.1.fc1.weight": shape [63 32], want [64 32]`},
		{"nan-weight", `tensor "decoder.layers.0.fc1.weight": element 100 is NaN`},
		{"fp16-overflow", "want a magnitude of at most 65504"},
	} {
		t.Run(c.file, func(t *testing.T) {
			err := loadAndRead(filepath.Join(referenceFolder, "refuse", c.file+".pt"), opts)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// loadAndRead loads a model and reads all of its tensors.
func loadAndRead(path string, opts Options) error {
	m, err := Load(path, opts)
	if err != nil {
		return err
	}
	defer m.Close()
	for i := range m.Tensors {
		if err := m.Tensors[i].Read(func([]float32) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func TestContainers(t *testing.T) {
	for _, c := range []struct {
		file        string
		unsupported string
		problem     string
		note        string
	}{
		{file: "fsdp", unsupported: `"fsdp_metadata": one shard of a fully sharded (FSDP) checkpoint`},
		{file: "ensemble", unsupported: `"model" is a list: an ensemble of several models`},
		{file: "list", unsupported: "the file holds a list, perhaps an ensemble"},
		{file: "tensor", unsupported: "the file holds one tensor, want a fairseq checkpoint or a state dict"},
		{file: "empty", problem: "no tensors are in the file: not a model checkpoint"},
		{file: "ema", problem: `config: decoder.dim is 0`, note: `extra_state has a moving average of the weights ("ema")`},
		{file: "only-ema", problem: "the file holds weights only, without settings", note: `the weights are the moving average (EMA) under "ema"`},
		{file: "state-dict", problem: "the file holds weights only, without settings"},
		{file: "nested", problem: "the file holds weights only, without settings"},
		{file: "expanded", problem: `tensor "decoder.layers.0.fc1.bias": shape [1000] repeats 1 stored elements`},
		{file: "quantized", problem: "weights only"},
		{file: "module", problem: `no tensor's name begins with "decoder.layers.0."`},
	} {
		t.Run(c.file, func(t *testing.T) {
			r, err := Inspect(filepath.Join("testdata", "containers", c.file+".pt"), plainText())
			if err != nil {
				t.Fatal(err)
			}
			check := func(what, want string, got []string) {
				if want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
					t.Errorf("%s: got %q, want %q among them", what, got, want)
				}
			}
			check("unsupported", c.unsupported, r.Unsupported)
			check("problems", c.problem, r.Problems)
			check("notes", c.note, r.Notes)
			if _, err := Load(filepath.Join("testdata", "containers", c.file+".pt"), plainText()); err == nil {
				t.Error("loaded, want an error")
			}
		})
	}
}

func TestInspect(t *testing.T) {
	r, err := Inspect("testdata/config/checkpoint.pt", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Container != "pytorch zip" || r.Settings != "cfg (dict), model (dict)" || r.Architecture != "memsizer" || r.Task != "translation" ||
		r.Updates != 7 || r.Epoch != 3 || r.FairseqVersion != "0.12 (or 2021 master)" {
		t.Errorf("got %+v", r)
	}
	if r.Config == nil || r.Parameters != r.Config.Parameters() || len(r.Texts) != 3 || r.Texts[0].Entries != 14 {
		t.Errorf("got %+v", r)
	}
	if len(r.DTypes) != 1 || r.DTypes[0].DType != "float32" || r.TensorCount != r.DTypes[0].Tensors {
		t.Errorf("element types: got %+v of %d", r.DTypes, r.TensorCount)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "no.pt"), "no such file"},
		{dir, "is a folder, want a checkpoint file"},
		{"testdata/half/checkpoint.pt:testdata/old/checkpoint.pt", "ensembles are not supported"},
	} {
		if _, err := Load(c.path, plainText()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", c.path, err, c.want)
		}
	}
	writeFile(t, filepath.Join(dir, "cut.pt"), []byte("PK\x03\x04"))
	var corrupt *pytorch.CorruptError
	if _, err := Load(filepath.Join(dir, "cut.pt"), plainText()); !errors.As(err, &corrupt) {
		t.Errorf("got %v, want a *pytorch.CorruptError", err)
	}
	opts := plainText()
	opts.Args = filepath.Join(dir, "none.json")
	if _, err := Load("testdata/half/checkpoint.pt", opts); err == nil || !strings.Contains(err.Error(), "args file") {
		t.Errorf("got %v, want an error of the args file", err)
	}
}

func TestValues(t *testing.T) {
	const name = "encoder.layers.0.fc1.weight"
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		title string
		value float32
		dtype string
		limit float32
		want  string
	}{
		{"NaN", nan, "", 0, `fairseq: tensor "encoder.layers.0.fc1.weight": element 7 is NaN`},
		{"infinity", inf, "", 0, `fairseq: tensor "encoder.layers.0.fc1.weight": element 7 is -Inf`},
		{"limit", -65600, "", 65504, `fairseq: tensor "encoder.layers.0.fc1.weight": element 7 is -65600, want a magnitude of at most 65504`},
		{"at the limit", -65504, "", 65504, ""},
		{"no limit", 65600, "", 0, ""},
		{"wide", 1e20, "F64", 0, `fairseq: tensor "encoder.layers.0.fc1.weight": element 7 is 1.0000000200408773e+50, want a magnitude of at most 3.4028234663852886e+38`},
	} {
		t.Run(c.title, func(t *testing.T) {
			b := newTranslation()
			v := fill(name, builtFFN, builtDim)
			v.dtype = c.dtype
			v.values[7] = c.value
			b.tensors[name] = v
			opts := plainText()
			opts.Limit = c.limit
			err := loadAndRead(b.write(t), opts)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v", err)
			case c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestAverage(t *testing.T) {
	paths := make([]string, 3)
	var all [3]*builder
	for i := range paths {
		all[i] = newTranslation()
		for name, v := range all[i].tensors {
			for j := range v.values {
				v.values[j] *= float32(i + 1)
			}
			all[i].tensors[name] = v
		}
		paths[i] = all[i].write(t)
	}
	opts := plainText()
	opts.Average = paths[1:]
	m := load(t, paths[0], opts)
	const name = "decoder.layers.1.fc2.weight"
	for i, got := range values(t, m, name) {
		sum := 0.0
		for _, b := range all {
			sum += float64(b.tensors[name].values[i])
		}
		if want := float32(sum / 3); got != want {
			t.Fatalf("element %d: got %v, want %v", i, got, want)
		}
	}
	if !slices.Equal(m.Found.Averaged, paths[1:]) {
		t.Errorf("averaged: got %q", m.Found.Averaged)
	}
}

func TestAverageRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*builder)
		want string
	}{
		{"a tensor is missing", func(b *builder) { b.drop("decoder.layers.1.fc2.bias") }, `missing tensor "decoder.layers.1.fc2.bias"`},
		{"another size", func(b *builder) {
			b.target++
			b.add("decoder.embed_tokens.weight", b.target, builtDim)
			b.drop("decoder.output")
		}, "cannot be averaged with model.safetensors"},
		{"other settings", func(b *builder) { b.args["activation_fn"] = "gelu" }, "it is another model: decoder.activation is gelu, want relu, encoder.activation is gelu, want relu"},
		{"another architecture", func(b *builder) { b.args["arch"] = "lstm" }, "is an LSTM model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, other := newTranslation(), newTranslation()
			c.edit(other)
			path, second := first.write(t), other.write(t)
			opts := plainText()
			opts.Average = []string{second}
			opts.Args = ""
			bad := problemsOf(t, path, opts)
			if !strings.Contains(bad.Error(), c.want) {
				t.Errorf("got %v, want %q in it", bad, c.want)
			}
		})
	}
}

// TestConcurrentReads: tensors may be read by many goroutines at once.
func TestConcurrentReads(t *testing.T) {
	m := load(t, "testdata/adaptive/checkpoint.pt", plainText())
	got := make([][]float32, len(m.Tensors))
	var wg sync.WaitGroup
	for i := range m.Tensors {
		wg.Go(func() {
			if err := m.Tensors[i].Read(func(c []float32) error { got[i] = append(got[i], c...); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range m.Tensors {
		if want := values(t, m, m.Tensors[i].Spec.Name); !slices.Equal(got[i], want) {
			t.Errorf("%s: got %v, want %v", m.Tensors[i].Spec.Name, got[i], want)
		}
	}
}
