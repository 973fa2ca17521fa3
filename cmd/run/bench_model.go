package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"memsizer/format"
	"memsizer/runtime"
)

// benchModel describes the model that was measured.
type benchModel struct {
	File       string `json:"file"`
	Source     string `json:"source,omitempty"`
	DType      string `json:"dtype"`
	Parameters int64  `json:"parameters"`
	SelfKind   string `json:"decoder_attention"`
	// StepBytes are the weights that a decoder step reads.
	StepBytes int64 `json:"step_weight_bytes,omitempty"`
}

func newBenchModel(path string, m *runtime.Model) *benchModel {
	h := m.Header()
	return &benchModel{
		File: path, Source: h.Provenance.Model, DType: h.Provenance.DTypePolicy,
		Parameters: h.Config.Parameters(), SelfKind: h.Config.Decoder.Self.Kind,
	}
}

// bencher gives sentences to a model.
type bencher struct {
	m      *runtime.Model
	o      *benchOptions
	limits *benchLimits
	rng    *rand.Rand
}

func newBencher(m *runtime.Model, o *benchOptions) (*bencher, error) {
	c := &m.Header().Config
	for _, s := range []*format.Stack{c.Encoder, &c.Decoder} {
		if s != nil && s.Positions.Max < o.length {
			return nil, fmt.Errorf("the model takes at most %d tokens, --length is %d", s.Positions.Max, o.length)
		}
	}
	return &bencher{m: m, o: o, rng: rand.New(rand.NewPCG(o.seed, 1))}, nil
}

// randomIDs are n random tokens that are no special symbols, and eos.
func randomIDs(rng *rand.Rand, n, vocab int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(format.Unk + 1 + rng.IntN(max(vocab-format.Unk-1, 1)))
	}
	ids[n-1] = format.EOS
	return ids
}

// benchEngine is a translator or generator.
type benchEngine interface {
	Stats() runtime.Stats
	Profile() runtime.Profile
	ResetProfile()
	Close()
}

// engine starts a translator or generator whose outputs have exactly the
// length of --length, with room for a batch.
func (b *bencher) engine(threads, beam, batch int) (benchEngine, error) {
	o := runtime.DefaultOptions()
	o.Beam = beam
	o.MaxLenA, o.MaxLenB, o.MinLen = 0, float64(b.o.length-1), b.o.length-1
	r := runtime.Resources{Workers: threads, Rows: (batch + threads - 1) / threads * beam, Profile: true}
	if b.m.Header().Config.Encoder != nil {
		return runtime.NewTranslator(b.m, o, r)
	}
	return runtime.NewGenerator(b.m, o, r)
}

// pass is one batch through an engine.
type pass struct {
	seconds, cpu float64
	tokens       int // of the best hypotheses, eos counted
	sources      int // source tokens
	stats        runtime.Stats
	profile      runtime.Profile
}

func (b *bencher) pass(ctx context.Context, e benchEngine, batch int) (*pass, error) {
	var sources [][]int32
	if c := b.m.Header().Config.Encoder; c != nil {
		for range batch {
			sources = append(sources, randomIDs(b.rng, b.o.length, c.Embedding.Vocab))
		}
	}
	before := e.Stats()
	e.ResetProfile()
	done := make(chan error, batch)
	lengths := make([]int, batch)
	cpu, begun := processorTime(), time.Now()
	for i := range batch {
		go func() {
			var hyps []runtime.Hypothesis
			var err error
			switch e := e.(type) {
			case *runtime.Translator:
				hyps, err = e.TranslateTokens(ctx, i, sources[i], nil)
			case *runtime.Generator:
				hyps, err = e.Generate(ctx, i, nil)
			}
			if len(hyps) > 0 {
				lengths[i] = len(hyps[0].Tokens)
			}
			done <- err
		}()
	}
	var failed error
	for range batch {
		if err := <-done; err != nil {
			failed = err
		}
	}
	p := &pass{seconds: time.Since(begun).Seconds(), cpu: (processorTime() - cpu).Seconds(), sources: len(sources) * b.o.length}
	if failed != nil {
		return nil, failed
	}
	for _, n := range lengths {
		p.tokens += n
	}
	p.stats, p.profile = e.Stats(), e.Profile()
	p.stats.Steps -= before.Steps
	p.stats.RowSteps -= before.RowSteps
	return p, nil
}

// stepBytes is the weights that a step of one row reads.
func (b *bencher) stepBytes(ctx context.Context) (int64, error) {
	e, err := b.engine(1, 1, 1)
	if err != nil {
		return 0, err
	}
	defer e.Close()
	p, err := b.pass(ctx, e, 1)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, x := range p.profile.Decoder.Products {
		sum += int64(x.Bytes) * x.Calls
	}
	return sum / max(p.stats.Steps, 1), nil
}

// benchText is the speed of the text pipeline, which runs beside the model.
type benchText struct {
	// Encode and Decode are microseconds per sentence of --length tokens.
	Encode float64 `json:"encode_us_per_sentence"`
	Decode float64 `json:"decode_us_per_sentence"`
}

// text measures the pipeline on random sentences: their text and back.
func (b *bencher) text() *benchText {
	const sentences = 100
	var ids [][]int32
	for range sentences {
		ids = append(ids, randomIDs(b.rng, b.o.length, b.m.Header().Config.Decoder.Embedding.Vocab))
	}
	texts := make([]string, sentences)
	each := func(f func(i int)) float64 {
		var times []float64
		for range 5 {
			begun := time.Now()
			for i := range sentences {
				f(i)
			}
			times = append(times, time.Since(begun).Seconds()*1e6/sentences)
		}
		return median(times)
	}
	t := &benchText{}
	t.Decode = each(func(i int) { texts[i] = b.m.Text().Decode(ids[i]) })
	if b.m.Header().Config.Encoder != nil {
		t.Encode = each(func(i int) { b.m.Text().EncodeSource(texts[i]) })
	} else {
		t.Encode = each(func(i int) { b.m.Text().EncodeTarget(texts[i]) })
	}
	return t
}
