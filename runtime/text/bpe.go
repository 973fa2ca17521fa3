package text

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// BPEOptions are the settings of [NewSubwordNMT] and [NewFastBPE].
type BPEOptions struct {
	// Separator marks a piece that goes on; "" stands for the default "@@".
	// fastBPE has no other.
	Separator string
	// Vocabulary, when not nil, is a list of "piece count" lines. Merges whose
	// result is not in it are undone. VocabularyName stands in errors.
	Vocabulary     io.Reader
	VocabularyName string
	// VocabularyThreshold: words that occur less often do not count as being
	// in Vocabulary. 0 takes all. fastBPE has none.
	VocabularyThreshold int
	// Glossaries are words or Python regular expressions; what they match is
	// kept whole and separate. subword-nmt only.
	Glossaries []string
	// Merges is the number of operations used, the first ones; 0 uses all.
	// subword-nmt only.
	Merges int
}

// BPE segments words by byte-pair encoding as subword-nmt or fastBPE does. It
// is safe for concurrent use.
type BPE struct {
	kind       codesKind
	merges     *merges
	separator  string
	vocabulary map[string]struct{}
	reverse    map[string]codesPair // concatenation → parts, for the vocabulary
	glossaries []glossary
	whole      *regexp.Regexp // matches words that a glossary matches entirely
	cache      *wordCache[string]
}

const defaultSeparator = "@@"

// NewSubwordNMT reads codes of subword-nmt, version 0.1 or 0.2. The name
// stands in errors, which are of type [CorruptError] with the line number, or
// [UnsupportedError].
func NewSubwordNMT(codes io.Reader, name string, o BPEOptions) (*BPE, error) {
	limit := -1
	if o.Merges > 0 {
		limit = o.Merges
	}
	kind, pairs, err := parseSubwordNMT(codes, name, limit)
	if err != nil {
		return nil, err
	}
	b := newBPE(kind, o.Separator)
	b.merges = newMerges(len(pairs))
	for i, p := range pairs {
		if !b.merges.has(p.left, p.right) {
			b.merges.set(p.left, p.right, i)
		}
	}
	if err := b.readVocabulary(o); err != nil {
		return nil, err
	}
	if b.vocabulary != nil {
		// Of several pairs with one concatenation subword-nmt undoes the one
		// whose last line comes first.
		last := make(map[codesPair]int, len(pairs))
		for i, p := range pairs {
			last[p] = i
		}
		b.reverse = make(map[string]codesPair, len(pairs))
		for i := len(pairs) - 1; i >= 0; i-- {
			if p := pairs[i]; last[p] == i {
				b.reverse[p.left+p.right] = p
			}
		}
	}
	b.glossaries, b.whole, err = compileGlossaries(o.Glossaries)
	return b, err
}

// NewFastBPE reads codes of fastBPE, which has neither another separator, nor
// a vocabulary threshold, nor glossaries; see [NewSubwordNMT] for errors.
func NewFastBPE(codes io.Reader, name string, o BPEOptions) (*BPE, error) {
	switch {
	case o.Separator != "" && o.Separator != defaultSeparator:
		return nil, &UnsupportedError{Name: "bpe_separator", What: fmt.Sprintf("%q, fastBPE has only %q", o.Separator, defaultSeparator)}
	case o.VocabularyThreshold != 0:
		return nil, &UnsupportedError{Name: "bpe_vocabulary_threshold", What: "fastBPE has no threshold"}
	case len(o.Glossaries) != 0:
		return nil, &UnsupportedError{Name: "bpe_glossaries", What: "fastBPE has no glossaries"}
	case o.Merges != 0:
		return nil, &UnsupportedError{Name: "bpe_merges", What: "fastBPE uses all merge operations"}
	}
	pairs, err := parseFastBPE(codes, name)
	if err != nil {
		return nil, err
	}
	b := newBPE(fastBPE, "")
	b.merges = newMerges(len(pairs))
	for i, p := range pairs {
		b.merges.set(p.left, p.right, i) // of equal lines the last counts
	}
	if err := b.readVocabulary(o); err != nil {
		return nil, err
	}
	if b.vocabulary != nil {
		b.reverse = make(map[string]codesPair, len(pairs))
		for _, p := range pairs {
			b.reverse[p.left+p.right] = p
		}
	}
	return b, nil
}

func newBPE(kind codesKind, separator string) *BPE {
	if separator == "" {
		separator = defaultSeparator
	}
	return &BPE{kind: kind, separator: separator, cache: newWordCache[string]()}
}

// readVocabulary leaves the vocabulary nil when there is none or when nothing
// in it passes: both programs take an empty one for none.
func (b *BPE) readVocabulary(o BPEOptions) error {
	if o.Vocabulary == nil {
		return nil
	}
	v, err := readSubwordVocabulary(o.Vocabulary, o.VocabularyName, o.VocabularyThreshold)
	if len(v) > 0 {
		b.vocabulary = v
	}
	return err
}

// Encode segments a line: words are what stands between single spaces, and
// only spaces. subword-nmt keeps spaces and line ends at both ends of the
// line; fastBPE drops them.
func (b *BPE) Encode(line string) string {
	const margin = "\r\n "
	head, tail := "", ""
	if b.kind != fastBPE {
		head = line[:len(line)-len(strings.TrimLeft(line, margin))]
		tail = line[len(strings.TrimRight(line, margin)):]
		if len(tail) == len(line) {
			return head
		}
		line = line[len(head) : len(line)-len(tail)]
	}
	var out strings.Builder
	out.Grow(len(head) + len(line) + len(line)/2 + len(tail))
	out.WriteString(head)
	first := true
	for len(line) > 0 {
		var w string
		w, line, _ = strings.Cut(line, " ")
		if w == "" {
			continue
		}
		if !first {
			out.WriteByte(' ')
		}
		first = false
		pieces, ok := b.cache.get(w)
		if !ok {
			pieces = b.segment(w)
			b.cache.put(w, pieces, len(pieces))
		}
		out.WriteString(pieces)
	}
	out.WriteString(tail)
	return out.String()
}

// Decode joins the pieces of a line to words, as fairseq does it: whatever
// stands before the separator and a space is joined with what follows.
func (b *BPE) Decode(line string) string { return joinPieces(line, b.separator) }

func joinPieces(line, separator string) string {
	return strings.TrimRightFunc(strings.ReplaceAll(line+" ", separator+" ", ""), isPythonSpace)
}

// segment is the segmentation of one word, its pieces joined by spaces.
func (b *BPE) segment(w string) string {
	segments := []string{w}
	for _, g := range b.glossaries {
		segments = g.isolateAll(segments)
	}
	var pieces []string
	for _, s := range segments {
		pieces = b.appendPieces(pieces, s)
	}
	var out strings.Builder
	for i, p := range pieces {
		out.WriteString(p)
		if i < len(pieces)-1 {
			out.WriteString(b.separator)
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// appendPieces merges one segment of a word.
func (b *BPE) appendPieces(pieces []string, s string) []string {
	if s == "" {
		return pieces
	}
	if b.whole != nil && b.whole.MatchString(s) {
		return append(pieces, s)
	}
	if _, n := utf8.DecodeRuneInString(s); n == len(s) && b.kind != fastBPE {
		return append(pieces, s)
	}
	marked := s + endOfWord
	w := mergePool.Get().(*mergeWork)
	defer w.release()
	w.bounds = b.characters(w.bounds[:0], s)
	w.bounds = b.merges.apply(w, marked, w.bounds)
	at := len(pieces)
	for i := range len(w.bounds) - 1 {
		start, end := int(w.bounds[i]), min(int(w.bounds[i+1]), len(s))
		if start < len(s) {
			pieces = append(pieces, marked[start:end])
		}
	}
	if b.vocabulary == nil {
		return pieces
	}
	return append(pieces[:at], b.limit(pieces[at:])...)
}

// characters appends the bounds of the symbols of a word before merging.
func (b *BPE) characters(bounds []int32, s string) []int32 {
	if b.kind == fastBPE {
		// fastBPE begins a character at each byte that does not continue one
		// and stops looking at a NUL.
		bounds = append(bounds, 0)
		for i := 0; i < len(s) && s[i] != 0; i++ {
			if i > 0 && s[i]&0xc0 != 0x80 {
				bounds = append(bounds, int32(i))
			}
		}
		return append(bounds, int32(len(s)+len(endOfWord)))
	}
	for i := 0; i < len(s); {
		bounds = append(bounds, int32(i))
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	if b.kind == subwordNMT01 {
		bounds = append(bounds, int32(len(s)))
	}
	return append(bounds, int32(len(s)+len(endOfWord)))
}

// limit undoes merges until every piece is in the vocabulary or a character.
func (b *BPE) limit(pieces []string) []string {
	var out []string
	for i, p := range pieces {
		final := i == len(pieces)-1
		if b.inVocabulary(p, final) {
			out = append(out, p)
		} else {
			out = b.split(out, p, final)
		}
	}
	return out
}

// inVocabulary: pieces that end a word stand there as they are, others with
// the separator.
func (b *BPE) inVocabulary(piece string, final bool) bool {
	if !final {
		piece += b.separator
	}
	_, ok := b.vocabulary[piece]
	return ok
}

func (b *BPE) split(out []string, piece string, final bool) []string {
	key := piece
	if final {
		key += endOfWord
	}
	p, ok := b.reverse[key]
	if !ok || final && piece == "" {
		return append(out, piece)
	}
	if final {
		p.right = cutEndOfWord(p.right)
	}
	if b.inVocabulary(p.left, false) {
		out = append(out, p.left)
	} else {
		out = b.split(out, p.left, false)
	}
	if b.inVocabulary(p.right, final) {
		return append(out, p.right)
	}
	return b.split(out, p.right, final)
}

// cutEndOfWord drops the last four characters, which usually are "</w>".
func cutEndOfWord(s string) string {
	for range len(endOfWord) {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}
