package fairseq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// readArgsFile reads a JSON file of settings. Python's NaN and Infinity, which
// JSON does not have, are read as null.
func readArgsFile(path string) (map[string]any, error) {
	const limit = 16 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("fairseq: args file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("fairseq: args file: %w", err)
	}
	if len(text) > limit {
		return nil, fmt.Errorf("fairseq: args file %q is larger than %d bytes", path, limit)
	}
	m, err := parseArgs(text)
	if err != nil {
		return nil, fmt.Errorf("fairseq: args file %q: %w", path, err)
	}
	return m, nil
}

func parseArgs(text []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(withoutNaN(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the JSON value")
	}
	m, ok := plainJSON(v).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want a JSON object of settings")
	}
	return m, nil
}

// withoutNaN replaces NaN, Infinity and -Infinity outside strings by null.
func withoutNaN(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	var out []byte
	inString := false
	for i := 0; i < len(text); i++ {
		if inString && text[i] == '\\' && i+1 < len(text) {
			out = append(out, text[i], text[i+1])
			i++
			continue
		}
		if text[i] == '"' {
			inString = !inString
		}
		if !inString {
			if word := leading(text[i:], "NaN", "-Infinity", "Infinity"); word != "" {
				out = append(out, "null"...)
				i += len(word) - 1
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

func leading(text []byte, words ...string) string {
	for _, w := range words {
		if bytes.HasPrefix(text, []byte(w)) {
			return w
		}
	}
	return ""
}

func plainJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return nil
		}
		return f
	case []any:
		for i := range v {
			v[i] = plainJSON(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainJSON(v[k])
		}
	}
	return v
}
