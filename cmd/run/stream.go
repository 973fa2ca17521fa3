package main

import (
	"bufio"
	"encoding/json"
	"strings"

	"memsizer/format"
	"memsizer/runtime"
)

// textStream turns tokens that come one at a time into raw text that is
// written at once. What a token adds is the difference between the text with
// and without it, seen over the last tokens only, so that memory does not
// grow. Text that could be the start of a stop string is held back.
type textStream struct {
	m     *runtime.Model
	stops []string
	out   *bufio.Writer // nil: keep the text instead

	window []int32
	shown  string // the text of window that was passed on
	held   string // passed on, not yet written
	kept   strings.Builder
}

// Sizes of the window that a token's text is seen in.
const (
	streamWindow  = 256
	streamContext = 48
)

func newTextStream(m *runtime.Model, prompt []int32, stops []string, echo bool, out *bufio.Writer) *textStream {
	s := &textStream{m: m, stops: stops, out: out}
	if echo && len(prompt) > 0 {
		s.emit(m.Text().Decode(prompt))
		s.flush()
	}
	s.restart(prompt)
	return s
}

// restart makes the window's context the end of tokens, written before.
func (s *textStream) restart(tokens []int32) {
	s.window = append(s.window[:0], tokens[max(0, len(tokens)-streamContext):]...)
	s.shown = s.m.Text().Decode(s.window)
}

// token adds one token. It reports whether a stop string was reached.
func (s *textStream) token(id int32) (over bool, err error) {
	if id == format.EOS {
		s.window, s.shown = s.window[:0], ""
		s.emit("\n")
	} else {
		s.window = append(s.window, id)
		text := s.m.Text().Decode(s.window)
		if strings.HasPrefix(text, s.shown) {
			s.emit(text[len(s.shown):])
			s.shown = text
		}
		// Otherwise a later token may restore what was written; if none does
		// before the window moves, the new text goes out as it is.
		if len(s.window) >= streamWindow {
			if n := len(commonPrefix(text, s.shown)); n < len(s.shown) {
				s.emit(text[n:])
			}
			s.restart(s.window)
		}
	}
	return s.write()
}

func commonPrefix(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func (s *textStream) emit(text string) { s.held += text }

// write passes on what cannot be part of a stop string.
func (s *textStream) write() (over bool, err error) {
	for _, stop := range s.stops {
		if i := strings.Index(s.held, stop); stop != "" && i >= 0 {
			s.held = s.held[:i]
			over = true
		}
	}
	if over {
		return true, s.flush()
	}
	keep := 0
	for _, stop := range s.stops {
		for n := min(len(stop), len(s.held)); n > keep; n-- {
			if strings.HasSuffix(s.held, stop[:n]) {
				keep = n
				break
			}
		}
	}
	rest := s.held[len(s.held)-keep:]
	s.held = s.held[:len(s.held)-keep]
	err = s.flush()
	s.held = rest
	return false, err
}

func (s *textStream) flush() error {
	text := s.held
	s.held = ""
	if s.out == nil {
		s.kept.WriteString(text)
		return nil
	}
	if _, err := s.out.WriteString(text); err != nil {
		return err
	}
	return s.out.Flush()
}

// end writes what was held back and ends the line.
func (s *textStream) end() error {
	s.emit("\n")
	return s.flush()
}

// text is everything, when there is no output.
func (s *textStream) text() string {
	s.flush()
	return s.kept.String()
}

func jsonScores(scores []float32) []jsonScore {
	out := make([]jsonScore, len(scores))
	for i, v := range scores {
		out[i] = jsonScore(v)
	}
	return out
}

func writeJSONLine(out *bufio.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
