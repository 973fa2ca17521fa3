package main

import (
	"strings"

	"memsizer/format"
	"memsizer/runtime"
)

// textStream turns tokens that come one at a time into raw text. What a token
// adds is the difference between the text with and without it, seen over the
// last tokens only, so that memory does not grow. Text that could be the
// start of a stop string, or that the next token may change, is held back.
type textStream struct {
	m     *runtime.Model
	stops []string

	window []int32
	shown  string // the text of window that was passed on
	held   string // passed on, but perhaps the start of a stop string
}

// Sizes of the window that a token's text is seen in.
const (
	streamWindow  = 256
	streamContext = 48
)

// newTextStream continues the text of a prompt. A stop string is looked for
// in what follows.
func newTextStream(m *runtime.Model, prompt []int32, stops []string) *textStream {
	s := &textStream{m: m, stops: stops}
	s.restart(prompt)
	return s
}

// restart makes the window's context the end of tokens, written before.
func (s *textStream) restart(tokens []int32) {
	tail := tokens[max(0, len(tokens)-streamContext):]
	s.window = append(s.window[:0], tail...)
	s.shown = s.m.Text().Decode(s.window)
}

// token adds one token and returns the text that is certain now. over says
// that a stop string was reached: the text ends before it.
func (s *textStream) token(id int32) (text string, over bool) {
	if id == format.EOS {
		s.settle()
		s.window, s.shown = s.window[:0], ""
		s.held += "\n"
		return s.release()
	}
	s.window = append(s.window, id)
	now := certain(s.m.Text().Decode(s.window))
	if strings.HasPrefix(now, s.shown) {
		s.held += now[len(s.shown):]
		s.shown = now
	} // otherwise a later token may restore what was written
	if len(s.window) >= streamWindow {
		s.settle()
		s.restart(s.window)
	}
	return s.release()
}

// certain is text without an end that the next token may change: U+FFFD, the
// start of a character of several tokens, or the start of an escape such as
// "&amp;".
func certain(text string) string {
	text = strings.TrimRight(text, "\ufffd")
	i := strings.LastIndexByte(text, '&')
	if i < 0 || len(text)-i > len("&#124") {
		return text
	}
	for _, c := range []byte(text[i+1:]) {
		if !(c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z') {
			return text
		}
	}
	return text[:i]
}

// settle passes on what no later token will change.
func (s *textStream) settle() {
	now := s.m.Text().Decode(s.window)
	n := 0
	for n < min(len(now), len(s.shown)) && now[n] == s.shown[n] {
		n++
	}
	s.held += now[n:]
	s.shown = now
}

// release takes from held what cannot be part of a stop string.
func (s *textStream) release() (text string, over bool) {
	end := -1
	for _, stop := range s.stops {
		if i := strings.Index(s.held, stop); i >= 0 && (end < 0 || i < end) {
			end = i
		}
	}
	if end >= 0 {
		text, s.held = s.held[:end], ""
		return text, true
	}
	keep := 0
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(s.held)); n > keep; n-- {
			if strings.HasSuffix(s.held, stop[:n]) {
				keep = n
				break
			}
		}
	}
	text, s.held = s.held[:len(s.held)-keep], s.held[len(s.held)-keep:]
	return text, false
}

// end returns what was held back when no token follows; a stop string may
// still be in it.
func (s *textStream) end() string {
	s.settle()
	text, over := s.release()
	if !over {
		text += s.held
	}
	s.held = ""
	return text
}
