package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// totals of a scored text. Words are separated by white space in the raw
// text; every line end (eos) counts as a token, not as a word.
type totals struct {
	Lines       int        `json:"lines"`
	Words       int64      `json:"words"`
	Tokens      int64      `json:"tokens"` // with eos
	Unknown     int64      `json:"unknown_tokens"`
	Sum         jsonNumber `json:"log_prob"` // natural
	Block       int        `json:"tokens_per_sample,omitempty"`
	ContextSize int        `json:"context_window,omitempty"`
	Loss        jsonNumber `json:"loss"`       // nats per token
	Loss2       jsonNumber `json:"loss_base2"` // bits per token
	Perplexity  jsonNumber `json:"perplexity"`
	WordPPL     jsonNumber `json:"perplexity_per_word"` // words and line ends share the total

	ends int64 // line ends that were scored
}

// jsonNumber is a number, or null if it is not finite.
type jsonNumber float64

// MarshalJSON writes the shortest digits that give the same number again.
func (n jsonNumber) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
}

// errNothing: a mean over no token has no value.
var errNothing = errors.New("nothing to score: the text has no line")

// write completes the totals and writes them.
func (t *totals) write(w io.Writer, form string) error {
	if t.Tokens == 0 {
		return errNothing
	}
	loss := -float64(t.Sum) / float64(t.Tokens)
	t.Loss, t.Loss2 = jsonNumber(loss), jsonNumber(loss/math.Ln2)
	t.Perplexity = jsonNumber(math.Exp(loss))
	t.WordPPL = jsonNumber(math.Exp(-float64(t.Sum) / float64(t.Words+t.ends)))
	if form == "json" {
		b := bufio.NewWriter(w)
		if err := writeJSONLine(b, t); err != nil {
			return err
		}
		return b.Flush()
	}
	_, err := fmt.Fprintf(w, "lines %d, words %d, tokens %d (with eos; %d unknown)\nlog-probability %.4f\nloss per token %.5f (base e), %.5f (base 2)\nperplexity %.4f per token, %.4f per word or line end\n",
		t.Lines, t.Words, t.Tokens, t.Unknown, t.Sum, t.Loss, t.Loss2, t.Perplexity, t.WordPPL)
	return err
}

func writeToken(out *bufio.Writer, symbol string, logProb float32) error {
	out.WriteString(symbol)
	out.WriteByte('\t')
	out.WriteString(strconv.FormatFloat(float64(logProb), 'f', 6, 32))
	return out.WriteByte('\n')
}
