package fairseq

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad changes bytes of real checkpoints: whatever comes out is a model
// that can be read or an error, never a panic.
func FuzzLoad(f *testing.F) {
	for _, name := range fixtures {
		data, err := os.ReadFile(filepath.Join("testdata", name, "checkpoint.pt"))
		if err != nil {
			f.Fatal(err)
		}
		for _, at := range []int{0, 70, 300, 1000, len(data) / 2, len(data) - 30} {
			f.Add(data, uint32(at), []byte("q"))
		}
	}
	model, err := os.ReadFile(newTranslation().write(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(model, uint32(20), []byte("7"))
	dir := f.TempDir()
	writeFile(f, filepath.Join(dir, "args.json"), []byte(`{"arch": "transformer", "source_lang": "s", "target_lang": "t"}`))
	f.Fuzz(func(t *testing.T, data []byte, at uint32, patch []byte) {
		data = append([]byte(nil), data...)
		if int64(at) < int64(len(data)) {
			copy(data[at:], patch)
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
