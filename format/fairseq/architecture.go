package fairseq

import (
	"fmt"
	"strings"
)

// architecture is what a fairseq architecture function would fill in where the
// saved settings say nothing. Dimensions are not here: tensors have them.
type architecture struct {
	name     string
	language bool // a language model: no encoder
	bart     bool
	known    bool // the name is in the table, so heads can be trusted

	encoderHeads, decoderHeads int
	encoderPreNorm             bool
	decoderPreNorm             bool
	forcedPreNorm              bool // transformer_lm: whatever the settings say
	learnedPositions           bool
	activation                 string
	embedNorm                  bool
	noScale                    bool
	shareAll                   bool
	shareOutput                bool
	noFinalNorm                bool
	tieAdaptive                bool // weights and projections
}

// heads of the architectures by name; 0 is the family's default of 8.
var mtHeads = map[string][2]int{
	"": {}, "wmt_en_de": {}, "iwslt_de_en": {4, 4}, "tiny": {2, 2},
	"vaswani_wmt_en_de_big": {16, 16}, "vaswani_wmt_en_fr_big": {16, 16},
	"wmt_en_de_big": {16, 16}, "wmt_en_de_big_t2t": {16, 16},
	"vaswani_wmt_en_de_big_1head": {16, 1},
	// transformer_align's
	"align": {}, "wmt_en_de_big_align": {16, 16},
}

var lmHeads = map[string]int{
	"": 0, "big": 16, "wiki103": 8, "baevski_wiki103": 8, "gbw": 16, "baevski_gbw": 16,
	"gpt": 12, "gpt2_small": 16, "gpt2_tiny": 1, "gpt2_medium": 20, "gpt2_big": 25,
	"gpt2_big_wide": 32, "gpt2_bigger": 32,
	"gpt3_small": 12, "gpt3_medium": 16, "gpt3_large": 16, "gpt3_xl": 32, "gpt3_2_7": 32,
	"gpt3_6_7": 32, "gpt3_13": 40, "gpt3_175": 96,
}

var bartHeads = map[string]int{
	"bart_large": 16, "bart_base": 12, "mbart_large": 16, "mbart_base": 12, "mbart_base_wmt20": 12,
	"bart": 16, // the model's name, as "_name" has it
}

// findArchitecture gives the defaults of an architecture name; an unknown name
// gets those of the family it begins with.
func findArchitecture(name string) *architecture {
	a := &architecture{name: name, activation: "relu", encoderHeads: 8, decoderHeads: 8}
	for _, family := range []string{"memsizer_lm", "transformer_lm"} {
		if rest, ok := suffixOf(name, family); ok {
			a.languageModel(family, rest)
			return a
		}
	}
	for _, family := range []string{"memsizer", "transformer"} {
		if rest, ok := suffixOf(name, family); ok {
			heads, known := mtHeads[rest]
			a.known = known
			a.setHeads(heads[0], heads[1])
			a.encoderPreNorm = rest == "wmt_en_de_big_t2t"
			a.decoderPreNorm = a.encoderPreNorm
			return a
		}
	}
	if heads, ok := bartHeads[name]; ok || strings.HasPrefix(name, "bart_") || strings.HasPrefix(name, "mbart_") {
		a.known, a.bart = ok, true
		a.setHeads(heads, heads)
		a.activation = "gelu"
		a.learnedPositions, a.shareAll, a.shareOutput = true, true, true
		a.embedNorm = name != "mbart_base_wmt20"
		a.noScale = !strings.HasPrefix(name, "mbart")
	}
	return a
}

func suffixOf(name, family string) (string, bool) {
	rest, ok := strings.CutPrefix(name, family)
	if !ok || rest != "" && rest[0] != '_' {
		return "", false
	}
	return strings.TrimPrefix(rest, "_"), true
}

func (a *architecture) setHeads(encoder, decoder int) {
	if encoder != 0 {
		a.encoderHeads = encoder
	}
	if decoder != 0 {
		a.decoderHeads = decoder
	}
}

func (a *architecture) languageModel(family, rest string) {
	a.language = true
	heads, known := lmHeads[rest]
	a.known = known
	a.setHeads(0, heads)
	a.forcedPreNorm = family == "transformer_lm"
	a.decoderPreNorm = a.forcedPreNorm
	switch {
	case strings.HasSuffix(rest, "wiki103"):
		a.noFinalNorm, a.tieAdaptive = true, true
	case strings.HasSuffix(rest, "gbw"):
		a.noFinalNorm = true
	case strings.HasPrefix(rest, "gpt"):
		a.activation = "gelu"
	}
	if strings.HasPrefix(rest, "gpt3") {
		a.learnedPositions, a.shareOutput = true, true
	}
}

// supportedModels is the end of every refusal of a model.
const supportedModels = "supported are memsizer*, transformer*, bart*, memsizer_lm* and transformer_lm* models with MemSizer or softmax attention"

// otherArchitectures are fairseq's model families that are something else,
// by the beginning of their names; the longest match counts.
var otherArchitectures = map[string]string{
	"fconv": "a convolutional model", "lightconv": "a lightweight-convolution model",
	"dynamicconv": "a dynamic-convolution model", "lstm": "an LSTM model", "laser_lstm": "an LSTM model",
	"lightconv_lm": "a lightweight-convolution language model", "fconv_lm": "a convolutional language model",
	"lstm_lm": "an LSTM language model",
	"roberta": "a RoBERTa encoder", "xlmr": "a RoBERTa encoder", "camembert": "a RoBERTa encoder",
	"gottbert": "a RoBERTa encoder", "xmod": "an X-MOD encoder", "linformer": "a Linformer encoder",
	"masked_lm": "a masked language model", "bert": "a masked language model", "xlm": "a masked language model",
	"wav2vec": "a speech model", "vq_wav2vec": "a speech model", "hubert": "a speech model", "data2vec": "a data2vec model",
	"s2t": "a speech-to-text model", "s2ut": "a speech-to-speech model", "s2spect": "a speech-to-speech model",
	"convtransformer": "a speech-to-text model", "vggtransformer": "a speech recognition model", "asr": "a speech recognition model",
	"tts": "a text-to-speech model", "tacotron": "a text-to-speech model", "fastspeech": "a text-to-speech model",
	"levenshtein": "a Levenshtein (edit-based) Transformer", "insertion": "an insertion (edit-based) Transformer",
	"nonautoregressive": "a non-autoregressive Transformer", "iterative_nonautoregressive": "a non-autoregressive Transformer",
	"nacrf": "a non-autoregressive Transformer", "cmlm": "a non-autoregressive Transformer", "nat": "a non-autoregressive Transformer",
	"multilingual_transformer":        "a multilingual model (encoders or decoders per language)",
	"latent_multilingual_transformer": "a multilingual model (encoders or decoders per language)",
	"laser_transformer":               "a multilingual sentence encoder",
	"transformer_from_pretrained_xlm": "a Transformer around an XLM encoder",
	"transformer_pointer_generator":   "a pointer-generator Transformer", "transformer_ulm": "a unit language model",
	"transformer_monotonic": "a monotonic-attention Transformer", "transformer_lm_megatron": "a model-parallel language model",
	"transformer_modular": "a modular Transformer", "transformer_moe": "a mixture-of-experts Transformer",
	"moe": "a mixture-of-experts Transformer",
	"hf_": "a Hugging Face model inside fairseq",
	"t2r": "a T2R model", "rfa": "an RFA (random feature attention) model",
	"performer": "a Performer model", "elu": "an ELU linear-attention model", "linear_transformer": "an ELU linear-attention model",
}

// refusedArchitecture says what a model of another architecture is, "" when
// the name is or might be one of ours.
func refusedArchitecture(name string) string {
	lower := strings.ToLower(name)
	best, what := "", ""
	for prefix, w := range otherArchitectures {
		if strings.HasPrefix(lower, prefix) && len(prefix) > len(best) {
			best, what = prefix, w
		}
	}
	for _, part := range strings.Split(lower, "_") {
		switch part {
		case "t2r", "rfa", "performer", "elu":
			what = otherArchitectures[part]
		}
	}
	if strings.HasSuffix(lower, "_parallel") || strings.Contains(lower, "model_parallel") {
		what = "a model that is split over devices"
	}
	if what == "" {
		return ""
	}
	return fmt.Sprintf("architecture %q is %s; %s", name, what, supportedModels)
}

// refusedTasks are tasks whose models need more than their tensors to run:
// language tokens, other inputs, other decoding.
var refusedTasks = map[string]string{
	"multilingual_translation":         "a multilingual model (encoders or decoders per language)",
	"semisupervised_translation":       "a multilingual model (encoders or decoders per language)",
	"translation_multi_simple_epoch":   "a multilingual model (language tokens)",
	"translation_from_pretrained_bart": "a multilingual model (language tokens)",
	"multilingual_denoising":           "a multilingual model (language tokens)",
	"multilingual_language_modeling":   "a multilingual model (language tokens)",
	"translation_lev":                  "an edit-based or non-autoregressive model",
	"translation_moe":                  "a mixture-of-experts model",
	"masked_lm":                        "a masked language model", "multilingual_masked_lm": "a masked language model",
	"speech_to_text": "a speech model", "audio_pretraining": "a speech model", "audio_finetuning": "a speech model",
	"speech_recognition": "a speech model", "simul_speech_to_text": "a speech model",
	"text_to_speech": "a text-to-speech model",
}
