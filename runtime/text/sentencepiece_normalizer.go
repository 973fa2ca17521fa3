package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// spaceSymbol is "▁", which SentencePiece writes for a space.
const spaceSymbol = "\u2581"

// spNormalizer rewrites raw text as SentencePiece does before segmenting:
// characters by rules (NFKC and the like, compiled into the model as a double
// array trie), white space into spaceSymbol.
type spNormalizer struct {
	spec        normalizerSpec
	spaceSuffix bool
	userDefined *trie    // symbols that stay as they are; nil for none
	units       []uint32 // double array of the rules' left sides
	replaced    string   // right sides, each ended by a NUL
}

// newSPNormalizer reads the compiled rules: the byte length of the trie, the
// trie, the replacements.
func newSPNormalizer(spec normalizerSpec, spaceSuffix bool, userDefined *trie, name string) (*spNormalizer, error) {
	n := &spNormalizer{spec: spec, spaceSuffix: spaceSuffix, userDefined: userDefined}
	blob := spec.charsMap
	if len(blob) == 0 {
		return n, nil
	}
	if len(blob) <= 4 {
		return nil, corruptByte(name, -1, "SentencePiece model: %d bytes of normalisation rules, want more than 4", len(blob))
	}
	size := uint64(binary.LittleEndian.Uint32(blob))
	blob = blob[4:]
	if size >= uint64(len(blob))+4 || size > uint64(len(blob)) {
		return nil, corruptByte(name, -1, "SentencePiece model: the trie of the normalisation rules is %d bytes, but %d are there", size, len(blob))
	}
	n.units = make([]uint32, size/4)
	for i := range n.units {
		n.units[i] = binary.LittleEndian.Uint32(blob[4*i:])
	}
	n.replaced = string(blob[size:])
	if len(n.units) == 0 {
		n.units = nil
	}
	for rest, at := n.replaced, 0; rest != ""; {
		r, after, _ := strings.Cut(rest, "\x00")
		if len(r) > maxReplacement {
			return nil, &UnsupportedError{Name: name, What: fmt.Sprintf(
				"a normalisation rule of the SentencePiece model writes %d bytes (at byte %d of the replacements), want at most %d", len(r), at, maxReplacement)}
		}
		at += len(rest) - len(after)
		rest = after
	}
	return n, nil
}

// maxReplacement bounds what one character may grow to, in bytes. NFKC writes
// 33 at most.
const maxReplacement = 1 << 12

// maxRules is how many rules SentencePiece considers at one place.
const maxRules = 32

// rule finds the longest rule that s begins with: its length and the offset
// of its replacement. A unit of the double array holds the label of the byte
// that leads to it (bits 0–7, bit 31 set in values), whether a value follows
// (bit 8) and the distance to its children (bits 10–31, times 256 when bit 9
// is set).
func (n *spNormalizer) rule(s string) (length int, value uint32) {
	if n.units == nil {
		return 0, 0
	}
	at := unitOffset(n.units[0])
	found := 0
	for i := 0; i < len(s) && found < maxRules; i++ {
		at ^= uint32(s[i])
		if uint64(at) >= uint64(len(n.units)) {
			return length, value
		}
		u := n.units[at]
		if u&(1<<31|0xff) != uint32(s[i]) {
			return length, value
		}
		at ^= unitOffset(u)
		if u>>8&1 == 1 {
			if uint64(at) >= uint64(len(n.units)) {
				return length, value
			}
			length, value = i+1, n.units[at]&(1<<31-1)
			found++
		}
	}
	return length, value
}

func unitOffset(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }

// prefix rewrites the beginning of s and tells how many bytes it took.
func (n *spNormalizer) prefix(s string) (out string, used int) {
	if k := n.userDefined.longest(s); k > 0 {
		return s[:k], k
	}
	if k, value := n.rule(s); k > 0 {
		if uint64(value) >= uint64(len(n.replaced)) {
			return "", k
		}
		out, _, _ := strings.Cut(n.replaced[value:], "\x00")
		return out, k
	}
	r, k := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && k == 1 {
		return "\uFFFD", 1
	}
	return s[:k], k
}

// normalize rewrites one line.
func (n *spNormalizer) normalize(s string) string {
	remove := n.spec.removeExtraWhitespaces
	if remove {
		for s != "" {
			p, used := n.prefix(s)
			if p != " " {
				break
			}
			s = s[used:]
		}
	}
	if s == "" {
		return ""
	}
	space := " "
	if n.spec.escapeWhitespaces {
		space = spaceSymbol
	}
	b := make([]byte, 0, len(s)+len(s)/2+len(space))
	if n.spec.addDummyPrefix && !n.spaceSuffix {
		b = append(b, space...)
	}
	afterSpace := remove
	for s != "" {
		p, used := n.prefix(s)
		if afterSpace {
			p = strings.TrimLeft(p, " ")
		}
		for i := range len(p) {
			if p[i] == ' ' {
				b = append(b, space...)
			} else {
				b = append(b, p[i])
			}
		}
		if p != "" {
			afterSpace = p[len(p)-1] == ' '
		}
		if !remove {
			afterSpace = false
		}
		s = s[used:]
	}
	if remove {
		for bytes.HasSuffix(b, []byte(space)) {
			b = b[:len(b)-len(space)]
		}
	}
	if n.spec.addDummyPrefix && n.spaceSuffix {
		b = append(b, space...)
	}
	return string(b)
}
