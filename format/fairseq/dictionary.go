package fairseq

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"memsizer/format"
)

// specials are the symbols before the first line of a dictionary.
var specials = []string{"<s>", "<pad>", "</s>", "<unk>"}

// countDictionary checks a dict.txt as fairseq reads it ("token count", with an
// optional "#fairseq:overwrite") and gives its number of entries, the four
// special symbols included.
func countDictionary(data []byte) (int, error) {
	if !utf8Valid(data) {
		return 0, fmt.Errorf("not UTF-8 text")
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	seen := make(map[string]int, len(lines)+len(specials))
	for _, s := range specials {
		seen[s] = 0
	}
	for i, line := range lines {
		word, overwrite, err := splitEntry(line)
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", i+1, err)
		}
		if first, twice := seen[word]; twice && !overwrite {
			if first == 0 {
				return 0, fmt.Errorf("line %d: %q is a special symbol; without \"#fairseq:overwrite\" it must not be listed", i+1, word)
			}
			return 0, fmt.Errorf("line %d: %q stands already in line %d", i+1, word, first)
		}
		seen[word] = i + 1
	}
	return len(specials) + len(lines), nil
}

func utf8Valid(data []byte) bool {
	return bytes.Equal(bytes.ToValidUTF8(data, nil), data)
}

// splitEntry takes a line of a dictionary apart.
func splitEntry(line string) (word string, overwrite bool, err error) {
	malformed := fmt.Errorf("%.80q, want \"token count\"", line)
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	at := strings.LastIndexByte(line, ' ')
	if at < 0 {
		return "", false, malformed
	}
	word, field := line[:at], line[at+1:]
	if field == "#fairseq:overwrite" {
		overwrite = true
		if at = strings.LastIndexByte(word, ' '); at < 0 {
			return "", false, malformed
		}
		word, field = word[:at], word[at+1:]
	}
	if _, err := strconv.ParseInt(field, 10, 64); err != nil {
		return "", false, malformed
	}
	return word, overwrite, nil
}

// maxTextFile bounds what is read of a dictionary or tokenisation file.
const maxTextFile = 1 << 30

func readTextFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxTextFile {
		return nil, fmt.Errorf("%q is not a regular file of at most %d bytes", path, maxTextFile)
	}
	return os.ReadFile(path)
}

// finder looks for files that belong to a model.
type finder struct {
	opts    *Options
	folders []string // where to look, in order
	line    string   // to add to each dictionary
	text    Text
	// problems name flags; they are complete.
	problems []string
}

func newFinder(path string, opts *Options) *finder {
	f := &finder{opts: opts}
	if opts.DictDir != "" {
		f.folders = append(f.folders, opts.DictDir)
	}
	f.folders = append(f.folders, filepath.Dir(path))
	return f
}

func (f *finder) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

func (f *finder) note(format string, args ...any) {
	f.text.Notes = append(f.text.Notes, fmt.Sprintf(format, args...))
}

// beside is the first of the names that is in one of the folders, "" if none.
func (f *finder) beside(names ...string) string {
	for _, dir := range f.folders {
		for _, name := range names {
			if p := filepath.Join(dir, name); name != "" && exists(p) {
				return p
			}
		}
	}
	return ""
}

// places are the folders that were looked in, for people.
func (f *finder) places() string {
	quoted := make([]string, len(f.folders))
	for i, dir := range f.folders {
		quoted[i] = strconv.Quote(dir)
	}
	return strings.Join(quoted, " and ")
}

// add reads a file into a section.
func (f *finder) add(section, path string) []byte {
	data, err := readTextFile(path)
	if err != nil {
		f.problem("%s: %v", section, err)
		return nil
	}
	f.text.Sections = append(f.text.Sections, Section{section, path, data})
	f.text.Files = append(f.text.Files, TextFile{Section: section, Path: path})
	return data
}

// dictionaries finds and checks the dictionaries of a model.
func (f *finder) dictionaries(cfg *format.Config, source, target string) {
	if cfg.Encoder == nil {
		path := firstSet(f.opts.Dict, f.opts.TargetDict)
		if path == "" {
			path = f.dictOf(target, "--dict", true)
		}
		f.dictionary(format.SectionTargetDict, path, cfg.Decoder.Embedding.Vocab, "decoder.embed_tokens")
		return
	}
	src := firstSet(f.opts.SourceDict, f.opts.Dict)
	if src == "" {
		src = f.dictOf(source, "--source-dict", false)
	}
	tgt := firstSet(f.opts.TargetDict, f.opts.Dict)
	if tgt == "" {
		tgt = f.dictOf(target, "--target-dict", false)
	}
	if cfg.ShareEmbeddings && (src == "") != (tgt == "") {
		// Shared embeddings mean one dictionary.
		src = firstSet(src, tgt)
		tgt = src
		f.note("one dictionary for both languages, as the embeddings are shared: %s", src)
		f.problems = f.problems[:len(f.problems)-1]
	}
	a := f.dictionary(format.SectionSourceDict, src, cfg.Encoder.Embedding.Vocab, "encoder.embed_tokens")
	b := f.dictionary(format.SectionTargetDict, tgt, cfg.Decoder.Embedding.Vocab, "decoder.embed_tokens")
	if a != nil && bytes.Equal(a, b) {
		f.text.Sections = f.text.Sections[:len(f.text.Sections)-1]
	}
}

func firstSet(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// dictOf is the dictionary of a language beside the model; "" with a problem
// that names the flag when it is not there.
func (f *finder) dictOf(lang, flag string, languageModel bool) string {
	var names []string
	switch {
	case languageModel && lang != "":
		names = []string{"dict.txt", "dict." + lang + ".txt"}
	case languageModel:
		names = []string{"dict.txt"}
	case lang != "":
		names = []string{"dict." + lang + ".txt"}
	}
	if p := f.beside(names...); p != "" {
		return p
	}
	there := f.dictsThere()
	if len(there) == 1 && languageModel {
		f.note("dictionary %s, the only one beside the model", there[0])
		return there[0]
	}
	side := strings.TrimSuffix(strings.TrimPrefix(flag, "--"), "-dict")
	what := fmt.Sprintf("dictionary %q not found in %s", strings.Join(names, `" or "`), f.places())
	if len(names) == 0 {
		what = fmt.Sprintf("the checkpoint does not say its %s language (--%s-lang), so its dictionary in %s is not known", side, side, f.places())
	}
	if len(there) > 0 {
		for i, p := range there {
			there[i] = filepath.Base(p)
		}
		what += fmt.Sprintf(" (there: %s)", strings.Join(there, ", "))
	}
	f.problem("%s; give it with %s", what, flag)
	return ""
}

func (f *finder) dictsThere() []string {
	var all []string
	for _, dir := range f.folders {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if n := e.Name(); strings.HasPrefix(n, "dict.") && strings.HasSuffix(n, ".txt") && !e.IsDir() {
				all = append(all, filepath.Join(dir, n))
			}
		}
	}
	sort.Strings(all)
	return all
}

// dictionary reads, checks and adds one dictionary; nil when there is none.
func (f *finder) dictionary(section, path string, vocab int, table string) []byte {
	if path == "" {
		return nil
	}
	data := f.add(section, path)
	if data == nil {
		return nil
	}
	if f.line != "" {
		if !bytes.HasSuffix(data, []byte("\n")) {
			data = append(data, '\n')
		}
		data = append(data, f.line...)
		f.text.Sections[len(f.text.Sections)-1].Data = data
	}
	n, err := countDictionary(data)
	if err != nil {
		f.problem("dictionary %q: %v", path, err)
		return data
	}
	f.text.Files[len(f.text.Files)-1].Entries = n
	if n != vocab {
		f.problem("dictionary %q has %d entries (%d lines and the four special symbols), but %s has %d rows", path, n, n-len(specials), table, vocab)
	}
	return data
}
