package fairseq

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newBART is a translation model named bart whose one dictionary has a word less
// than the embedding has rows.
func newBART() *builder {
	b := newTranslation()
	b.args["arch"], b.args["encoder_learned_pos"], b.args["decoder_learned_pos"] = "bart_base", false, false
	b.args["layernorm_embedding"] = false
	b.source, b.target = builtVocab, builtVocab
	b.add("encoder.embed_tokens.weight", builtVocab, builtDim)
	b.same("decoder.embed_tokens.weight", "encoder.embed_tokens.weight")
	b.same("decoder.output_projection.weight", "encoder.embed_tokens.weight")
	return b
}

func TestMaskRow(t *testing.T) {
	for _, c := range []struct {
		name, task string
		dictionary []byte
		vocab      int
		sections   int
		want       string // end of the dictionary in the model
		problem    string
	}{
		{"fine-tuned", "translation", dictionaryText(builtVocab - 1), builtVocab - 1, 1, "w3 97\n", ""},
		{"pre-trained", "denoising", dictionaryText(builtVocab - 1), builtVocab, 1, "w3 97\n<mask> 0\n", ""},
		{"fits", "translation", dictionaryText(builtVocab), builtVocab, 1, "w4 96\n", ""},
		{"has the mask", "translation", append(dictionaryText(builtVocab-1), "<mask> 0\n"...), builtVocab, 1, "<mask> 0\n", ""},
		{"two words less", "translation", dictionaryText(builtVocab - 2), 0, 0, "", "has 7 entries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBART()
			b.args["task"] = c.task
			path := b.write(t)
			for _, lang := range []string{"s", "t"} {
				writeFile(t, filepath.Join(filepath.Dir(path), "dict."+lang+".txt"), c.dictionary)
			}
			if c.problem != "" {
				if bad := problemsOf(t, path, plainText()); !strings.Contains(bad.Error(), c.problem) {
					t.Errorf("got %v, want %q in it", bad, c.problem)
				}
				return
			}
			m := load(t, path, plainText())
			checkSpecs(t, m)
			if got := m.Config.Decoder.Embedding.Vocab; got != c.vocab {
				t.Errorf("vocabulary: got %d, want %d", got, c.vocab)
			}
			if len(m.Sections) != c.sections || !strings.HasSuffix(string(m.Sections[0].Data), c.want) {
				t.Errorf("got %d sections, %q; want %d, …%q", len(m.Sections), m.Sections[0].Data, c.sections, c.want)
			}
			got := values(t, m, "encoder.embed_tokens.weight")
			if want := b.tensors["encoder.embed_tokens.weight"].values[:c.vocab*builtDim]; !slices.Equal(got, want) {
				t.Errorf("embedding: got %v, want %v", got, want)
			}
		})
	}
}

func TestMovingAverages(t *testing.T) {
	for _, c := range []struct {
		name string
		keep bool // the weights themselves
		note string
	}{
		{"beside the weights", true, "the file has a moving average of the weights (EMA) too; the weights themselves are used"},
		{"alone", false, "the weights are a moving average (EMA); the file has no others"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTranslation()
			for name, v := range maps.Clone(b.tensors) {
				b.tensors["model_ema.module."+name] = fill("average of "+name, v.shape...)
				if !c.keep {
					delete(b.tensors, name)
				}
			}
			m := load(t, b.write(t), plainText())
			if !slices.Contains(m.Found.Notes, c.note) {
				t.Errorf("notes: got %q, want %q among them", m.Found.Notes, c.note)
			}
			const name = "decoder.layers.0.fc1.weight"
			want := b.tensors[name].values
			if !c.keep {
				want = b.tensors["model_ema.module."+name].values
			}
			if got := values(t, m, name); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestShardName(t *testing.T) {
	b := newTranslation()
	b.drop("decoder.layers.1.fc1")
	path := b.write(t)
	shard := filepath.Join(filepath.Dir(path), "checkpoint_best-shard0.pt")
	if err := os.Rename(path, shard); err != nil {
		t.Fatal(err)
	}
	bad := problemsOf(t, shard, plainText())
	if want := `the file's name ("-shard0.pt") says that it is one part of several; put them together first`; !slices.Contains(bad.Problems, want) {
		t.Errorf("got %q, want %q among them", bad.Problems, want)
	}
}

func TestTokenizationHints(t *testing.T) {
	b := newTranslation()
	b.args["eval_bleu_detok"], b.args["eval_bleu_remove_bpe"] = "moses", "@@ "
	bad := problemsOf(t, b.write(t), Options{})
	for _, want := range []string{`(its setting "eval_bleu_detok" is "moses")`, `(its setting "eval_bleu_remove_bpe" is "@@ ")`} {
		if !strings.Contains(bad.Error(), want) {
			t.Errorf("got %v, want %q in it", bad, want)
		}
	}
}

func TestConfigDifference(t *testing.T) {
	a := newTranslation().config(t)
	b := a
	b.Output.TiedEmbedding = true
	b.Encoder = nil
	got := configDifference(&a, &b)
	if !strings.HasSuffix(got, "output.tied_embedding is not set, want true") || !strings.HasPrefix(got, "encoder.activation is relu, want not set, ") {
		t.Errorf("got %q", got)
	}
	if got := configDifference(&a, &a); got != "" {
		t.Errorf("got %q, want none", got)
	}
}
