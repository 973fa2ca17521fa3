package fairseq

import (
	"math/big"
	"reflect"
	"slices"
	"testing"

	"memsizer/format/pytorch"
)

func TestParseArgs(t *testing.T) {
	got, err := parseArgs([]byte(`{"a": 1, "b": 2.5, "c": "NaN \" Infinity", "d": [NaN, -Infinity, true], "e": {"f": null}, "g": Infinity}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": int64(1), "b": 2.5, "c": `NaN " Infinity`, "d": []any{nil, nil, true}, "e": map[string]any{"f": nil}, "g": nil}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, bad := range []string{"", "[]", "1", "{", `{"a": 1} x`, "{'a': 1}"} {
		if m, err := parseArgs([]byte(bad)); err == nil {
			t.Errorf("%q: got %v, want an error", bad, m)
		}
	}
}

func FuzzParseArgs(f *testing.F) {
	f.Add([]byte(`{"arch": "memsizer", "n": NaN, "s": "\\\"Infinity"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseArgs(text)
		if err != nil {
			return
		}
		s := new(settings)
		s.addTree(m)
		for _, name := range shownSettings {
			s.flag(name)
			s.number(name)
			s.text(name)
			s.integers(name)
		}
		s.reported()
	})
}

func FuzzCountDictionary(f *testing.F) {
	f.Add([]byte("a 1\nb c 2 #fairseq:overwrite\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n, err := countDictionary(text); err == nil && (n < 4 || n > 4+len(text)) {
			t.Errorf("%d entries in %d bytes", n, len(text))
		}
	})
}

func TestSettingTypes(t *testing.T) {
	s := new(settings)
	s.addArgs(map[string]any{
		"true": true, "True": "True", "one": int64(1), "none": nil, "no": "False", "word": "maybe",
		"three": int64(3), "3": "3", "3.0": 3.0, "3.5": 3.5, "huge": int64(1) << 40,
		"list": "2, 0,4", "brackets": "[1, 2]", "items": []any{int64(5), int64(6)}, "single": int64(7), "mixed": []any{"a"},
	})
	for name, want := range map[string][2]bool{
		"true": {true, true}, "True": {true, true}, "one": {true, true}, "none": {false, true}, "no": {false, true},
		"absent": {false, false}, "word": {false, false},
	} {
		if v, set := s.flag(name); v != want[0] || set != want[1] {
			t.Errorf("flag %q: got %v, %v; want %v", name, v, set, want)
		}
	}
	for name, want := range map[string]int{"three": 3, "3": 3, "3.0": 3, "none": 0, "3.5": 0, "huge": 0, "word": 0} {
		if v, set := s.number(name); v != want || set != (want != 0) {
			t.Errorf("number %q: got %v, %v; want %v", name, v, set, want)
		}
	}
	for name, want := range map[string][]int{"list": {2, 0, 4}, "brackets": {1, 2}, "items": {5, 6}, "single": {7}, "mixed": nil, "word": nil} {
		if v, set := s.integers(name); !slices.Equal(v, want) || set != (want != nil) {
			t.Errorf("integers %q: got %v, %v; want %v", name, v, set, want)
		}
	}
	slices.Sort(s.wrong)
	want := []string{
		`setting "3.5" is 3.5, want an integer`,
		`setting "huge" is 1099511627776, want an integer`,
		`setting "mixed" is []interface {}{"a"}, want a list of integers`,
		`setting "word" is "maybe", want a boolean`,
		`setting "word" is "maybe", want a list of integers`,
		`setting "word" is "maybe", want an integer`,
	}
	if !slices.Equal(s.wrong, want) {
		t.Errorf("got %q, want %q", s.wrong, want)
	}
}

func TestConfigTree(t *testing.T) {
	s := new(settings)
	s.addTree(map[string]any{
		"model": map[string]any{
			"_name": "transformer_lm", "tokens_per_sample": "${task.tokens_per_sample}", "missing": "???", "loop": "${model.loop}", "gone": "${no.where}",
			"encoder": map[string]any{"embed_dim": int64(8)}, "encoder_embed_dim": int64(16), "decoder": "text",
		},
		"task":      map[string]any{"_name": "language_modeling", "tokens_per_sample": int64(77)},
		"bpe":       map[string]any{"_name": "gpt2"},
		"tokenizer": "space",
	})
	if n, _ := s.number("tokens_per_sample"); n != 77 {
		t.Errorf("tokens_per_sample: got %d, want 77", n)
	}
	if n, _ := s.number("encoder_embed_dim"); n != 16 {
		t.Errorf("encoder_embed_dim: got %d, want 16", n)
	}
	for _, name := range []string{"missing", "loop"} {
		if v, ok := s.lookup(name); ok {
			t.Errorf("%s: got %v, want nothing", name, v)
		}
	}
	if got := s.architecture() + " " + s.task() + " " + (settingsOf{s, s.groups["bpe"]}).chosen("bpe") + " " + (settingsOf{s, s.groups["tokenizer"]}).chosen("tokenizer"); got != "transformer_lm language_modeling gpt2 space" {
		t.Errorf("got %s", got)
	}
}

func TestPlainValue(t *testing.T) {
	loop := &pytorch.List{}
	loop.Items = []any{loop, int64(1)}
	node := func(v any) *pytorch.Object {
		return &pytorch.Object{Module: "omegaconf.nodes", Name: "AnyNode", Args: []any{v}}
	}
	for _, c := range []struct {
		name string
		in   any
		want any
	}{
		{"number", int64(3), int64(3)},
		{"large number", new(big.Int).Lsh(big.NewInt(1), 70), 0x1p70},
		{"bytes", []byte("x"), "x"},
		{"tuple", &pytorch.Tuple{Items: []any{true, nil}}, []any{true, nil}},
		{"enumeration", &pytorch.Object{Module: "m", Name: "E", Args: []any{"gelu"}}, "gelu"},
		{"path", &pytorch.Object{Module: "pathlib", Name: "PosixPath", Args: []any{"/", "a", "b"}}, "/a/b"},
		{"tensor", &pytorch.Tensor{}, nil},
		{"class", &pytorch.Global{Module: "a", Name: "b"}, nil},
		{"node without a value", node("x"), nil},
	} {
		if got := plainValue(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if got := plainValue(loop); got == nil { // it ends
		t.Errorf("a list inside itself: got nil")
	}
}
