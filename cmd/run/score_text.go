package main

import (
	"bufio"
	"context"
	"strings"
	"sync"

	"memsizer/format"
	"memsizer/runtime"
)

// text scores a language model's text.
func (o *scoreOptions) text(ctx context.Context, env environment, m *runtime.Model, names []string, out *bufio.Writer) (*totals, error) {
	opened, err := openInputs(names, env.in)
	if err != nil {
		return nil, err
	}
	lines := &prompts{in: &input{files: opened}}
	t := &totals{Block: o.block, ContextSize: o.context}
	if t.Block == 0 {
		t.Block = m.Header().Config.Decoder.Positions.Max
	}
	var queue tokenQueue // read and not yet scored
	tokens := func(yield func(int32) bool) {
		for s := range lines.all {
			ids, _ := m.Text().EncodeTarget(s)
			t.Lines++
			t.ends++
			t.Words += int64(len(strings.Fields(s)))
			for _, id := range append(ids, format.EOS) {
				if id == format.Unk {
					t.Unknown++
				}
				if o.perToken {
					queue.put(id)
				}
				if !yield(id) {
					return
				}
			}
		}
	}
	dict := m.Text().Target()
	err = m.ScoreText(ctx, tokens, runtime.Blocks{Tokens: t.Block, Context: t.ContextSize}, o.threads, func(lp []float32) error {
		for _, v := range lp {
			t.Sum += jsonNumber(v)
			t.Tokens++
			if !o.perToken {
				continue
			}
			if err := writeToken(out, dict.Symbol(queue.take()), v); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = lines.err
	}
	return t, err
}

// tokenQueue hands tokens from the goroutine that reads to the one that
// writes. It holds no more than the windows that are being scored.
type tokenQueue struct {
	mu   sync.Mutex
	ids  []int32
	next int
}

func (q *tokenQueue) put(id int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next > len(q.ids)/2 {
		q.ids = q.ids[:copy(q.ids, q.ids[q.next:])]
		q.next = 0
	}
	q.ids = append(q.ids, id)
}

func (q *tokenQueue) take() int32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next++
	return q.ids[q.next-1]
}
