package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memsizer/format"
	"memsizer/runtime"
)

// trainedRecord is one sentence of the trained model's test set with what
// the authors' code makes of it.
type trainedRecord struct {
	Source      string         `json:"source"`
	BPE         string         `json:"bpe"`
	SrcTokens   []int32        `json:"source_tokens"`
	Nbest       []scoredTokens `json:"nbest"`
	Greedy      []int32        `json:"greedy"`
	GreedyScore float64        `json:"greedy_score"`
	Text        string         `json:"text"`
}

func trainedRecords(t *testing.T, dir string) []trainedRecord {
	path := filepath.Join(dir, "test_2016_flickr.hypotheses.jsonl")
	var records []trainedRecord
	readLines(t, path, func(line []byte) {
		var r trainedRecord
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	})
	return records
}

// translateAll translates raw text under a beam, and checks the order.
func translateAll(t *testing.T, m *runtime.Model, records []trainedRecord, beam int) []runtime.Translation {
	o := runtime.DefaultOptions()
	o.Beam, o.NBest, o.MaxLenA, o.MaxLenB = beam, beam, 1.2, 10
	tr, err := runtime.NewTranslator(m, o, runtime.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	lines := make([]string, len(records))
	for i, r := range records {
		lines[i] = r.Source
	}
	out, err := tr.Translate(context.Background(), lines)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTrainedModel translates the whole test set from raw text to raw text:
// in float32 the 1-best and the greedy output are the recorded ones, with at
// most 3 exceptions in each, and the 5-best sets agree for 99 %.
func TestTrainedModel(t *testing.T) {
	for _, dir := range caseDirs(t, "test_2016_flickr.hypotheses.jsonl", "multi30k-en-de") {
		t.Run(rootName(dir), func(t *testing.T) { testTrainedModel(t, dir) })
	}
}

func testTrainedModel(t *testing.T, dir string) {
	records := trainedRecords(t, dir)
	m := convertCase(t, dir, "f32", trainedFlags(dir)...)
	best, greedy := translateAll(t, m, records, 5), translateAll(t, m, records, 1)
	var wrongBest, wrongGreedy, sets int
	for i, r := range records {
		if !slices.Equal(best[i].SourceTokens, r.SrcTokens) {
			t.Errorf("line %d: source tokens %v, want %v", i, best[i].SourceTokens, r.SrcTokens)
			continue
		}
		got, want := best[i].Hypotheses[0], r.Nbest[0]
		if !slices.Equal(got.Tokens, want.Tokens) {
			wrongBest++
			t.Logf("line %d: 1-best %v scores %v; recorded %v scores %v, gap to the second %v", i, got.Tokens, got.Score, want.Tokens, want.Score, want.Score-r.Nbest[1].Score)
		} else if best[i].Text() != r.Text {
			t.Errorf("line %d: %q, want %q", i, best[i].Text(), r.Text)
		}
		if g := greedy[i].Hypotheses[0]; !slices.Equal(g.Tokens, r.Greedy) {
			wrongGreedy++
			t.Logf("line %d: greedy %v scores %v; recorded %v scores %v", i, g.Tokens, g.Score, r.Greedy, r.GreedyScore)
		} else if !near(float64(g.Score), r.GreedyScore, 1e-4) {
			t.Errorf("line %d: greedy score %v, want %v", i, g.Score, r.GreedyScore)
		}
		if sameSet(best[i].Hypotheses, r.Nbest) {
			sets++
		}
	}
	t.Logf("%d sentences: 1-best differs in %d, greedy in %d, 5-best sets equal in %d", len(records), wrongBest, wrongGreedy, sets)
	if wrongBest > 3 || wrongGreedy > 3 || sets*100 < len(records)*99 {
		t.Errorf("want at most 3 and 3 differences and %d equal sets", len(records)*99/100)
	}
}

// rootName tells the repository's own copy of a case from the full one.
func rootName(dir string) string {
	if strings.HasPrefix(dir, referenceDir) {
		return "full"
	}
	return "bundled"
}

func sameSet(got []runtime.Hypothesis, want []scoredTokens) bool {
	if len(got) != len(want) {
		return false
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g runtime.Hypothesis) bool { return slices.Equal(g.Tokens, w.Tokens) }) {
			return false
		}
	}
	return true
}

// TestTrainedModelInHalf forces the f16 model along the recorded best
// hypotheses: its likeliest token is the f32 model's at 99.5 % of all
// positions.
func TestTrainedModelInHalf(t *testing.T) {
	for _, dir := range caseDirs(t, "test_2016_flickr.hypotheses.jsonl", "multi30k-en-de") {
		t.Run(rootName(dir), func(t *testing.T) { testTrainedModelInHalf(t, dir) })
	}
}

func testTrainedModelInHalf(t *testing.T, dir string) {
	records := trainedRecords(t, dir)
	full := convertCase(t, dir, "f32", trainedFlags(dir)...)
	half := convertCase(t, dir, "f16", trainedFlags(dir)...)
	var positions, same int
	for _, r := range records {
		prev := append([]int32{format.EOS}, r.Nbest[0].Tokens...)
		prev = prev[:len(prev)-1]
		var want []int
		if err := full.Logits(r.SrcTokens, prev, false, nil, func(_ int, row []float32) { want = append(want, top(row)) }); err != nil {
			t.Fatal(err)
		}
		if err := half.Logits(r.SrcTokens, prev, false, nil, func(i int, row []float32) {
			positions++
			if top(row) == want[i] {
				same++
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("top-1 agrees at %d of %d positions", same, positions)
	if float64(same) < 0.995*float64(positions) {
		t.Errorf("top-1 agreement %.4f, want 0.995", float64(same)/float64(positions))
	}
}

func top(row []float32) int {
	best := 0
	for i, v := range row {
		if v > row[best] {
			best = i
		}
	}
	return best
}
