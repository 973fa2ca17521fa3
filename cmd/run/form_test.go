package main

import (
	"math"
	"strings"
	"testing"

	"memsizer/runtime"
)

// letters is a vocabulary of single letters: id 3 is <unk>, 4 is "a".
type letters struct{}

func (letters) Symbol(id int32) string {
	switch {
	case id == 2:
		return "</s>"
	case id < 4:
		return "<unk>"
	}
	return string(rune('a' + id - 4))
}

func (v letters) Join(ids []int32) string {
	var s []string
	for _, id := range ids {
		if id != 2 {
			s = append(s, v.Symbol(id))
		}
	}
	return strings.Join(s, " ")
}

var twoHypotheses = runtime.Translation{
	Line: 6, Source: "A <b>\t\"c\"", SourceTokens: []int32{4, 3, 2},
	Hypotheses: []runtime.Hypothesis{
		{Tokens: []int32{5, 6, 2}, Score: -0.242389, TokenScores: []float32{-0.13216, -0.06112, -0.5}},
		{Tokens: []int32{3, 2}, Score: -1, TokenScores: []float32{-0.0001, 0}},
	},
	Texts:    []string{"Bc ü", "<unk>"},
	Warnings: []runtime.Warning{{Kind: runtime.WarnSplit, Count: 2}},
}

func TestForms(t *testing.T) {
	empty := runtime.Translation{Line: 0, Texts: []string{""}}
	newlines := runtime.Translation{Line: 1, Texts: []string{"a\nb\r\nc\rd"},
		Hypotheses: []runtime.Hypothesis{{Tokens: []int32{2}, TokenScores: []float32{float32(math.Inf(-1))}, Score: float32(math.Inf(-1))}}}
	for _, c := range []struct {
		name, form string
		nbest      int
		t          runtime.Translation
		want       string
	}{
		{"text", "text", 1, twoHypotheses, "Bc ü\n"},
		{"empty text", "text", 1, empty, "\n"},
		{"line ends in the text", "text", 1, newlines, "a b c d\n"},
		{"n-best", "text", 3, twoHypotheses, "7\t-0.242389\tBc ü\n7\t-1\t<unk>\n7\t-inf\t\n"},
		{"n-best of an empty line", "text", 2, empty, "1\t0\t\n1\t-inf\t\n"},
		{"fairseq", "fairseq", 2, twoHypotheses, "S-6\ta <unk>\n" +
			"H-6\t-0.3496933877468109\tb c\nD-6\t-0.3496933877468109\tBc ü\nP-6\t-0.1907 -0.0882 -0.7213\n" +
			"H-6\t-1.4426950216293335\t<unk>\nD-6\t-1.4426950216293335\t<unk>\nP-6\t-0.0001 0.0000\n"},
		{"fairseq, best only", "fairseq", 1, twoHypotheses, "S-6\ta <unk>\n" +
			"H-6\t-0.3496933877468109\tb c\nD-6\t-0.3496933877468109\tBc ü\nP-6\t-0.1907 -0.0882 -0.7213\n"},
		{"fairseq, empty line", "fairseq", 1, empty, "S-0\t\nH-0\t0.0\t\nD-0\t0.0\t\nP-0\t\n"},
		{"fairseq, infinite", "fairseq", 1, newlines, "S-1\t\nH-1\t-inf\t\nD-1\t-inf\ta b c d\nP-1\t-inf\n"},
		{"jsonl", "jsonl", 2, twoHypotheses, `{"line":7,"source":"A <b>\t\"c\"","text":"Bc ü","hypotheses":[` +
			`{"text":"Bc ü","score":-0.242389,"tokens":["b","c","</s>"],"token_scores":[-0.13216,-0.06112,-0.5]},` +
			`{"text":"<unk>","score":-1,"tokens":["<unk>","</s>"],"token_scores":[-0.0001,0]}],` +
			`"warnings":[{"kind":"split","count":2,"message":"too long for the model, translated in 2 parts"}]}` + "\n"},
		{"jsonl, empty line", "jsonl", 1, empty, `{"line":1,"source":"","text":"","hypotheses":[],"warnings":[]}` + "\n"},
		{"jsonl, infinite", "jsonl", 1, newlines, `{"line":2,"source":"","text":"a\nb\r\nc\rd","hypotheses":[` +
			`{"text":"a\nb\r\nc\rd","score":null,"tokens":["</s>"],"token_scores":[null]}],"warnings":[]}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, ok := newForm(c.form, c.nbest, letters{}, letters{})
			if !ok {
				t.Fatalf("no form %q", c.form)
			}
			if got := string(f([]byte("before "), &c.t)); got != "before "+c.want {
				t.Errorf("got\n%s, want\n%s", got, "before "+c.want)
			}
		})
	}
	if _, ok := newForm("xml", 1, letters{}, letters{}); ok {
		t.Error("there is a form \"xml\", want none")
	}
}

// Numbers as Python prints them: repr(x) and "{:.4f}".format(x).
func TestPythonFloats(t *testing.T) {
	for _, c := range []struct {
		f           float64
		repr, fixed string
	}{
		{0, "0.0", "0.0000"},
		{-1, "-1.0", "-1.0000"},
		{-0.5062882304191589, "-0.5062882304191589", "-0.5063"},
		{-1.4426950656343251e-06, "-1.4426950656343251e-06", "-0.0000"},
		{1e16, "1e+16", "10000000000000000.0000"},
		{123456789012345680, "1.2345678901234568e+17", "123456789012345680.0000"},
		{0.0001, "0.0001", "0.0001"},
		{0.00009999, "9.999e-05", "0.0001"},
		{math.Inf(1), "inf", "inf"},
		{math.NaN(), "nan", "nan"},
	} {
		if got := string(appendPythonFloat(nil, c.f)); got != c.repr {
			t.Errorf("repr: got %s, want %s", got, c.repr)
		}
		if got := string(appendFixed(nil, c.f)); got != c.fixed {
			t.Errorf("fixed: got %s, want %s", got, c.fixed)
		}
	}
}
