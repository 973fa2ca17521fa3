package fairseq

import (
	"bytes"

	"memsizer/format"
)

// maskToken is what BART's pre-training adds after its dictionary's words.
const maskToken = "<mask>"

// fitMask settles the one row that BART's tables may have beyond the
// dictionary: the mask's. In a denoising model the mask belongs to the
// vocabulary, though not to dict.txt; in one that is fine-tuned on translation
// fairseq drops the row. It changes cfg and tensors, and gives the line to add
// to the dictionaries.
func fitMask(set *settings, path string, opts *Options, cfg *format.Config, tensors []Tensor) (line, note string) {
	if !findArchitecture(set.architecture()).bart || cfg.Encoder == nil {
		return "", ""
	}
	vocab := cfg.Encoder.Embedding.Vocab
	f := findText(path, cfg, opts, set)
	for _, s := range f.text.Sections {
		if s.Name != format.SectionSourceDict && s.Name != format.SectionTargetDict {
			continue
		}
		n, err := countDictionary(s.Data)
		if err != nil || n != vocab-1 || bytes.Contains(s.Data, []byte("\n"+maskToken+" ")) {
			return "", ""
		}
	}
	if cfg.Decoder.Embedding.Vocab != vocab || len(f.text.Sections) == 0 {
		return "", ""
	}
	if set.task() == "denoising" {
		return maskToken + " 0\n", maskToken + " was added to the dictionary, as fairseq's denoising task does"
	}
	cut := func(tensor *Tensor) {
		t, ok := tensor.data.(fileTensor)
		if ok && len(t.dims) > 0 && t.dims[0] == vocab {
			tensor.data = t.rows(0, vocab-1)
			tensor.Spec.Shape = tensor.data.shape()
		}
	}
	for i := range tensors {
		switch tensors[i].Spec.Name {
		case "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "decoder.output_projection.weight":
			cut(&tensors[i])
		}
	}
	cfg.Encoder.Embedding.Vocab, cfg.Decoder.Embedding.Vocab = vocab-1, vocab-1
	return "", "the last row of the embedding, " + maskToken + "'s, is left out: it is not in the dictionary, and fairseq drops it too"
}
