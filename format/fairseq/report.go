package fairseq

import "memsizer/format"

// Report says what was found in a checkpoint.
type Report struct {
	Path      string `json:"path"`
	Container string `json:"container"` // "pytorch zip", "pytorch legacy", "safetensors"
	// Settings says where the hyper-parameters came from: "args (Namespace)",
	// "cfg (omegaconf)", "args.json", … or "none".
	Settings       string `json:"settings"`
	FairseqVersion string `json:"fairseq_version,omitempty"` // a guess from the file's form: "≤ 0.10", "0.12"
	Architecture   string `json:"architecture,omitempty"`    // fairseq's name: "memsizer_wmt_en_de_big"
	Task           string `json:"task,omitempty"`
	// Summary is one line for people: "MemSizer translation model, 6+6 layers of 1024".
	Summary string `json:"summary,omitempty"`

	TensorCount int        `json:"tensors"`
	DTypes      []DTypeUse `json:"dtypes"`
	Parameters  int64      `json:"parameters"` // stored once each, ignored buffers left out
	Updates     int64      `json:"updates,omitempty"`
	Epoch       int64      `json:"epoch,omitempty"`
	Averaged    []string   `json:"averaged,omitempty"`
	Texts       []TextFile `json:"text_files,omitempty"`
	Settled     []Setting  `json:"values,omitempty"` // the settings that matter, as read
	Ignored     []string   `json:"ignored,omitempty"`
	Notes       []string   `json:"notes,omitempty"`
	Unsupported []string   `json:"unsupported,omitempty"`
	// Problems are what keeps the file from being converted: missing,
	// unexpected and misshapen tensors, dictionaries, tokenisation.
	Problems []string `json:"problems,omitempty"`

	// Config is nil when it could not be determined.
	Config       *format.Config       `json:"config,omitempty"`
	Tokenization *format.Tokenization `json:"tokenization,omitempty"`
}

// DTypeUse counts the tensors of one element type.
type DTypeUse struct {
	DType    string `json:"dtype"`
	Tensors  int    `json:"tensors"`
	Elements int64  `json:"elements"`
}

// TextFile is a dictionary or tokenisation file that was found.
type TextFile struct {
	Section string `json:"section"`
	Path    string `json:"path"`
	Entries int    `json:"entries,omitempty"` // of a dictionary, the four special symbols included
}

// Setting is one hyper-parameter as the checkpoint has it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
