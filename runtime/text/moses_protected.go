package text

import (
	"fmt"
	"regexp"
	"strings"
)

func checkPatterns(patterns []*regexp.Regexp) error {
	for i, p := range patterns {
		if p == nil {
			return fmt.Errorf("text: protected pattern %d is nil", i)
		}
	}
	return nil
}

// maskWord stands for the i-th protected stretch until the rules are through.
func maskWord(i int) string { return fmt.Sprintf("THISISPROTECTED%03d", i) }

// protect replaces everything in s that the patterns match by words that no
// rule splits.
func protect(s string, patterns []*regexp.Regexp) (masked string, protected []string) {
	for _, p := range patterns {
		for _, m := range p.FindAllString(s, -1) {
			if m != "" {
				protected = append(protected, m)
			}
		}
	}
	for i, m := range protected {
		s = strings.ReplaceAll(s, m, maskWord(i))
	}
	return s, protected
}

// unprotect puts the protected stretches back.
func unprotect(s string, protected []string) string {
	for i, m := range protected {
		s = strings.ReplaceAll(s, maskWord(i), m)
	}
	return s
}
