package runtime

import (
	"errors"
	"fmt"

	"memsizer/format"
	"memsizer/runtime/text"
)

// Model is a loaded model: its configuration, its weights packed for this
// processor, and its text pipeline. It is read-only and shared by any number
// of goroutines.
type Model struct {
	header  format.Header
	encoder *encoder // nil for a language model
	decoder *decoder
	output  *output
	text    *text.Pipeline // nil if the file has no dictionaries
	reader  *format.Reader // owned: the memory map that embeddings are read from
}

// Open loads the .msz file at path.
func Open(path string) (*Model, error) {
	r, err := format.Open(path)
	if err != nil {
		return nil, err
	}
	m, err := Load(r)
	if err != nil {
		r.Close()
		var c *format.CorruptError
		if errors.As(err, &c) && c.Path != "" { // it names the file
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.reader = r
	return m, nil
}

// Load builds a model from an open file. Every tensor's name, dtype and
// shape is checked once, and all differences are reported together. The
// reader must stay open as long as the model is used.
func Load(r *format.Reader) (*Model, error) {
	l := &loader{r: r}
	if err := l.check(); err != nil {
		return nil, err
	}
	m := &Model{header: *r.Header()}
	cfg := &m.header.Config
	if cfg.Encoder != nil {
		m.encoder = l.encoder(cfg.Encoder)
	}
	m.decoder = l.decoder(cfg)
	m.output = l.output(cfg)
	if l.err != nil {
		return nil, l.err
	}
	var err error
	if m.text, err = text.NewPipeline(m.header.Tokenization, r.Section); err != nil {
		return nil, err
	}
	if err := m.checkDictionaries(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Model) checkDictionaries() error {
	if m.encoder != nil {
		if got, want := m.text.Source().Len(), m.encoder.vocab; got != want {
			return fmt.Errorf("runtime: source dictionary has %d symbols, want the encoder's %d", got, want)
		}
	}
	if got, want := m.text.Target().Len(), m.decoder.vocab; got != want {
		return fmt.Errorf("runtime: target dictionary has %d symbols, want the decoder's %d", got, want)
	}
	return nil
}

// Close releases the file of a model that [Open] made. The model must not be
// used afterwards.
func (m *Model) Close() error {
	if m.reader == nil {
		return nil
	}
	return m.reader.Close()
}

// Header describes the model: configuration, tokenisation, provenance.
func (m *Model) Header() *format.Header { return &m.header }

// Text is the model's pipeline between raw text and token ids.
func (m *Model) Text() *text.Pipeline { return m.text }
