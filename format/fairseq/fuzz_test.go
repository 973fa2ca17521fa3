package fairseq

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad changes bytes of real checkpoints, or cuts them: whatever comes out
// is a model that can be read or an error, never a panic.
func FuzzLoad(f *testing.F) {
	var files [][]byte
	for _, name := range fixtures {
		data, err := os.ReadFile(filepath.Join("testdata", name, "checkpoint.pt"))
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, data)
	}
	model, err := os.ReadFile(newTranslation().write(f))
	if err != nil {
		f.Fatal(err)
	}
	files = append(files, model)
	random := rand.New(rand.NewPCG(1, 2))
	for which, data := range files {
		for range 60 {
			f.Add(uint8(which), random.Uint32N(uint32(len(data))), []byte{byte(random.Uint32())}, uint32(0))
		}
		f.Add(uint8(which), uint32(0), []byte(nil), uint32(len(data)/2))
	}
	dir := f.TempDir()
	writeFile(f, filepath.Join(dir, "args.json"), []byte(`{"arch": "transformer", "source_lang": "s", "target_lang": "t"}`))
	writeFile(f, filepath.Join(dir, "dict.s.txt"), dictionaryText(14))
	writeFile(f, filepath.Join(dir, "dict.t.txt"), dictionaryText(17))
	writeFile(f, filepath.Join(dir, "dict.txt"), dictionaryText(25))
	f.Fuzz(func(t *testing.T, which uint8, at uint32, patch []byte, cut uint32) {
		data := append([]byte(nil), files[int(which)%len(files)]...)
		if int64(at) < int64(len(data)) {
			copy(data[at:], patch)
		}
		if cut > 0 && int64(cut) < int64(len(data)) {
			data = data[:cut]
		}
		path := filepath.Join(dir, "x.pt")
		writeFile(t, path, data)
		if _, err := Inspect(path, Options{}); err == nil {
			loadAndRead(path, plainText())
		}
	})
}

// FuzzDerive gives the derivation any names and shapes.
func FuzzDerive(f *testing.F) {
	f.Add("decoder.layers.0.self_attn.k_layer_norm.weight", 3, 4, 2, "activation_fn", "relu")
	f.Add("decoder.embed_tokens.embeddings.0.0.weight", 3, 0, 2, "decoder_layers_to_keep", "0,1")
	f.Add("decoder.adaptive_softmax.tail.0.0.weight", -1, 4, 2, "arch", "memsizer_lm_wiki103")
	f.Add("decoder.adaptive_softmax.head.weight", 1, 1, 1, "task", "language_modeling")
	f.Add("encoder.layers.4000.self_attn.in_proj_weight", 9, 1, 2, "encoder_layers", "5000")
	f.Fuzz(func(t *testing.T, name string, n, m, rank int, setting, value string) {
		for _, b := range []*builder{newTranslation(), newLanguageModel()} {
			shape := []int{max(n, 0) % 64, max(m, 0) % 64, 1}[:max(rank, 0)%4]
			b.add(name, shape...)
			c := &checkpoint{path: "x", tensors: make(map[string]fileTensor)}
			for tensor, v := range b.tensors {
				c.addTensor(tensor, inMemory(v))
			}
			set := new(settings)
			set.addArgs(merged(b.args, map[string]any{setting: value}))
			d := newDerivation(newState(c, set), set)
			if err := d.run(); err != nil {
				t.Fatal(err)
			}
			if len(d.unsupported) == 0 {
				tensors := d.match()
				if len(d.problems) == 0 && len(tensors) != len(d.cfg.TensorSpecs()) {
					t.Errorf("%d tensors and no problem, want %d", len(tensors), len(d.cfg.TensorSpecs()))
				}
				for i := range tensors {
					tensors[i].Read(func([]float32) error { return nil })
				}
			}
		}
	})
}
