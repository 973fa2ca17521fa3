package fairseq

import "memsizer/format"

// Model is a checkpoint in canonical form.
type Model struct {
	Config       format.Config
	Tokenization format.Tokenization
	// Sections are the dictionaries and tokenisation files, by their
	// format.Section… names, in file order.
	Sections []Section
	// Tensors are those of Config.TensorSpecs, in that order.
	Tensors []Tensor
	// Found says what the file is and what was decided.
	Found Report
	// SourceName is the base name of the checkpoint.
	SourceName string

	closers []func() error
}

// Section is a file that travels inside the .msz as it was given.
type Section struct {
	Name string
	Path string // where it was found
	Data []byte
}

// Close closes the files behind the model's tensors.
func (m *Model) Close() error {
	var first error
	for _, c := range m.closers {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	m.closers = nil
	return first
}

// Text is what a model needs besides its tensors to read and write text.
type Text struct {
	Tokenization format.Tokenization
	Sections     []Section
	Files        []TextFile // all that were read; two equal dictionaries are one section
	Notes        []string
}
