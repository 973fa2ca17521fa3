package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"memsizer/runtime"
)

// jsonForm writes one JSON object per line.
type jsonForm struct{ target vocabulary }

// jsonRecord is that object. Scores are natural logarithms.
type jsonRecord struct {
	Line       int              `json:"line"` // of the input, 1-based
	Source     string           `json:"source"`
	Text       string           `json:"text"`
	Hypotheses []jsonHypothesis `json:"hypotheses"`
	Warnings   []jsonWarning    `json:"warnings"`
}

type jsonHypothesis struct {
	Text        string      `json:"text"`
	Score       jsonScore   `json:"score"`
	Tokens      []string    `json:"tokens"` // with </s>
	TokenScores []jsonScore `json:"token_scores"`
}

type jsonWarning struct {
	Kind    runtime.WarningKind `json:"kind"`
	Count   int                 `json:"count"`
	Message string              `json:"message"`
}

// jsonScore is a number, or null if it is not finite.
type jsonScore float32

// MarshalJSON writes the shortest digits that give the same float32 again.
func (s jsonScore) MarshalJSON() ([]byte, error) {
	f := float64(s)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 32), nil
}

func (f jsonForm) append(dst []byte, t *runtime.Translation) []byte {
	r := jsonRecord{
		Line:       t.Line + 1,
		Source:     t.Source,
		Text:       t.Text(),
		Hypotheses: make([]jsonHypothesis, len(t.Hypotheses)),
		Warnings:   make([]jsonWarning, len(t.Warnings)),
	}
	for i, h := range t.Hypotheses {
		j := jsonHypothesis{
			Text: t.Texts[i], Score: jsonScore(h.Score),
			Tokens: make([]string, len(h.Tokens)), TokenScores: make([]jsonScore, len(h.TokenScores)),
		}
		for k, id := range h.Tokens {
			j.Tokens[k] = f.target.Symbol(id)
		}
		for k, s := range h.TokenScores {
			j.TokenScores[k] = jsonScore(s)
		}
		r.Hypotheses[i] = j
	}
	for i, w := range t.Warnings {
		r.Warnings[i] = jsonWarning{w.Kind, w.Count, w.String()}
	}
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic("run: a translation cannot be encoded as JSON")
	}
	return b.Bytes()
}
