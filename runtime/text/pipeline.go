package text

import (
	"errors"

	"memsizer/format"
)

// Pipeline is the way from a raw line to ids and back. It is safe for
// concurrent use.
type Pipeline struct {
	source, target *Dictionary
}

// NewPipeline makes the pipeline that t describes. section returns the
// contents of a named section, or an error that is fs.ErrNotExist when the
// model has none of that name.
func NewPipeline(t format.Tokenization, section func(name string) ([]byte, error)) (*Pipeline, error) {
	return nil, errors.New("text: pipelines are not implemented yet")
}

// EncodeSource tokenises a source line. ids has no eos; pieces are the
// symbols that the ids stand for, unknown ones as they were written.
func (p *Pipeline) EncodeSource(line string) (ids []int32, pieces []string) { return nil, nil }

// EncodeTarget tokenises a line of the target language (a prefix or a
// translation to score).
func (p *Pipeline) EncodeTarget(line string) (ids []int32, pieces []string) { return nil, nil }

// Decode turns target ids into raw text, as the D- line of
// fairseq-interactive.
func (p *Pipeline) Decode(ids []int32) string { return "" }

// DecodePieces joins the symbols of target ids by spaces, as the H- line of
// fairseq-interactive.
func (p *Pipeline) DecodePieces(ids []int32) string { return "" }

// Source is the source dictionary; for a language model, the only one.
func (p *Pipeline) Source() *Dictionary { return p.source }

// Target is the target dictionary.
func (p *Pipeline) Target() *Dictionary { return p.target }
