package text

import (
	"fmt"
	"regexp"
	"strings"
)

// glossary is a word or pattern of subword-nmt's --glossaries: what it
// matches inside a word is set apart and kept whole.
type glossary struct {
	whole *regexp.Regexp // the word is the glossary
	part  *regexp.Regexp // it occurs in the word
}

// compileGlossaries translates Python's regular expressions. The second
// result matches a segment that one of them matches entirely.
func compileGlossaries(patterns []string) ([]glossary, *regexp.Regexp, error) {
	if len(patterns) == 0 {
		return nil, nil, nil
	}
	translated := make([]string, len(patterns))
	list := make([]glossary, len(patterns))
	for i, p := range patterns {
		t, err := translatePattern(p)
		if err != nil {
			return nil, nil, &UnsupportedError{Name: "bpe_glossaries", What: fmt.Sprintf("pattern %q: %v", p, err)}
		}
		translated[i] = t
		// subword-nmt puts ^ and $ around the pattern without a group and
		// looks at the beginning of the word only.
		whole, err := regexp.Compile(`\A(?:^` + t + `$)`)
		if err == nil {
			list[i].whole = whole
			list[i].part, err = regexp.Compile("(" + t + ")")
		}
		if err != nil {
			return nil, nil, &UnsupportedError{Name: "bpe_glossaries", What: fmt.Sprintf("pattern %q: %v", p, err)}
		}
	}
	all, err := regexp.Compile(`\A(?:^(` + strings.Join(translated, "|") + `)$)`)
	if err != nil {
		return nil, nil, &UnsupportedError{Name: "bpe_glossaries", What: err.Error()}
	}
	return list, all, nil
}

func (g glossary) isolateAll(segments []string) []string {
	out := make([]string, 0, len(segments))
	for _, s := range segments {
		out = g.isolate(out, s)
	}
	return out
}

// isolate appends the parts of a segment: matches and what stands between
// them. As with Python's re.split, what inner groups matched follows the match.
func (g glossary) isolate(out []string, s string) []string {
	if g.whole.MatchString(s) {
		return append(out, s)
	}
	matches := g.part.FindAllStringSubmatchIndex(s, -1)
	if matches == nil {
		return append(out, s)
	}
	at := 0
	for _, m := range matches {
		out = appendNonEmpty(out, s[at:m[0]])
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				out = appendNonEmpty(out, s[m[i]:m[i+1]])
			}
		}
		at = m[1]
	}
	return appendNonEmpty(out, strings.Trim(s[at:], "\r\n "))
}

func appendNonEmpty(out []string, s string) []string {
	if s == "" {
		return out
	}
	return append(out, s)
}
