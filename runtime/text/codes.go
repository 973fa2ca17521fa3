package text

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const endOfWord = "</w>"

// codesKind says how a word is laid out before merging.
type codesKind uint8

const (
	subwordNMT01 codesKind = iota // "</w>" is a symbol of its own
	subwordNMT02                  // the last character carries "</w>"
	fastBPE                       // as subwordNMT02; single characters too
)

// codesPair is one merge operation as it stands in a file.
type codesPair struct{ left, right string }

// readCodes reads the lines of a codes file.
func readCodes(r io.Reader, name string) ([]string, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("text: reading BPE codes %q: %w", name, err)
	}
	s := string(data)
	if !utf8.ValidString(s) {
		return nil, corruptByte(name, int64(len(s)-len(trimValid(s))), "BPE codes are not UTF-8")
	}
	lines := textLines(s)
	if len(lines) > math.MaxInt32 {
		return nil, corruptByte(name, -1, "more than %d lines", math.MaxInt32)
	}
	return lines, nil
}

// trimValid cuts the valid characters that s begins with.
func trimValid(s string) string {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n <= 1 {
			break
		}
		s = s[n:]
	}
	return s
}

var trailingZeros = regexp.MustCompile(`(\.0+)*$`)

// subwordNMTVersion reads the "#version: 0.2" that may be the first line.
// Files without one are version 0.1.
func subwordNMTVersion(lines []string, name string) (kind codesKind, rest []string, err error) {
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "#version:") {
		return subwordNMT01, lines, nil
	}
	f := pythonFields(lines[0])
	switch v := trailingZeros.ReplaceAllString(f[len(f)-1], ""); v {
	case "0.1":
		kind = subwordNMT01
	case "0.2":
		kind = subwordNMT02
	default:
		return 0, nil, &UnsupportedError{Name: name, What: fmt.Sprintf("version %q of subword-nmt codes, want 0.1 or 0.2", v)}
	}
	return kind, lines[1:], nil
}

// parseSubwordNMT reads subword-nmt's codes: two symbols a line. Of equal
// lines the first counts. limit is the number of lines used, all if negative.
func parseSubwordNMT(r io.Reader, name string, limit int) (codesKind, []codesPair, error) {
	lines, err := readCodes(r, name)
	if err != nil {
		return 0, nil, err
	}
	kind, body, err := subwordNMTVersion(lines, name)
	if err != nil {
		return 0, nil, err
	}
	first := len(lines) - len(body) + 1
	for len(body) > 0 && body[len(body)-1] == "" {
		body = body[:len(body)-1] // empty lines at the end are none
	}
	if len(body) == 0 {
		return 0, nil, corruptLine(name, first, "no BPE codes")
	}
	if limit >= 0 && limit < len(body) {
		body = body[:limit]
	}
	pairs := make([]codesPair, len(body))
	for i, line := range body {
		left, right, ok := strings.Cut(strings.Trim(line, "\r\n "), " ")
		if !ok || right == "" || strings.Contains(right, " ") {
			return 0, nil, corruptLine(name, first+i, "BPE code %q, want two symbols with one space between them%s", shorten(line), fastBPEHint(line))
		}
		pairs[i] = codesPair{left, right}
	}
	return kind, pairs, nil
}

func fastBPEHint(line string) string {
	if f := strings.Split(line, " "); len(f) == 3 && isPythonInt(f[2]) {
		return " (fastBPE writes codes with a count)"
	}
	return ""
}

// parseFastBPE reads fastBPE's codes: two symbols and a count a line.
func parseFastBPE(r io.Reader, name string) ([]codesPair, error) {
	lines, err := readCodes(r, name)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, corruptLine(name, 1, "no BPE codes")
	}
	pairs := make([]codesPair, len(lines))
	for i, line := range lines {
		f := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
		if len(f) != 3 || !isPythonInt(f[2]) {
			hint := ""
			if len(f) == 2 {
				hint = " (subword-nmt writes codes without a count)"
			}
			return nil, corruptLine(name, i+1, "BPE code %q, want two symbols and a count%s", shorten(line), hint)
		}
		pairs[i] = codesPair{f[0], f[1]}
	}
	return pairs, nil
}

// readSubwordVocabulary reads "word count" lines and keeps the words that
// occur at least threshold times.
func readSubwordVocabulary(r io.Reader, name string, threshold int) (map[string]struct{}, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("text: reading BPE vocabulary %q: %w", name, err)
	}
	lines := textLines(string(data))
	vocabulary := make(map[string]struct{}, len(lines))
	for i, line := range lines {
		if !utf8.ValidString(line) {
			return nil, corruptLine(name, i+1, "not UTF-8: %q", shorten(line))
		}
		w, count, ok := strings.Cut(strings.Trim(line, "\r\n "), " ")
		if !ok || strings.Contains(count, " ") || !isPythonInt(count) {
			return nil, corruptLine(name, i+1, "%q, want \"symbol count\"", shorten(line))
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(pythonStrip(count), "_", ""), 10, 64)
		if err != nil {
			return nil, corruptLine(name, i+1, "count %q, want a number below 2⁶³", shorten(count))
		}
		if threshold <= 0 || n >= int64(threshold) {
			vocabulary[w] = struct{}{}
		}
	}
	return vocabulary, nil
}
