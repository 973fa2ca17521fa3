package runtime

import (
	"errors"
	"sync"
	"sync/atomic"

	"memsizer/ops"
)

// Resources bound what an engine of workers uses.
type Resources struct {
	// Workers decode independently, one core each. Default: the cores
	// available to the process.
	Workers int
	// Rows is the number of decoder rows (sentences times beam) of each
	// worker. Default 160.
	Rows int
	// BatchTokens is the number of source tokens that are encoded together;
	// the sentence that reaches it still belongs to the batch. Default 1024.
	BatchTokens int
	// Fixed keeps the rows of finished sentences empty until the whole batch is
	// finished: a worker waits for as many sentences as its rows take, or for
	// Close, and decodes them to the end before it takes others. It is there to
	// be compared with.
	Fixed bool
	// Profile makes the workers take the time of each phase; see [Profile].
	Profile bool
}

const (
	defaultRows        = 160
	defaultBatchTokens = 1024
)

// ErrClosed is returned by a [Translator] or [Generator] after Close.
var ErrClosed = errors.New("runtime: closed")

// engine is the workers behind a Translator or Generator.
type engine struct {
	m       *Model
	o       Options
	rows    int // of all workers together
	jobs    chan *job
	workers []*worker
	wg      sync.WaitGroup
	pool    *ops.Pool    // helps a worker that is alone
	busy    atomic.Int32 // workers with sentences

	mu     sync.RWMutex
	closed bool
}

func newEngine(m *Model, o Options, r Resources) (*engine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if r.Workers <= 0 {
		r.Workers = availableCores()
	}
	if r.Rows <= 0 {
		r.Rows = defaultRows
	}
	if r.BatchTokens <= 0 {
		r.BatchTokens = defaultBatchTokens
	}
	e := &engine{m: m, o: o, jobs: make(chan *job, 4*encodeGroup), rows: r.Rows * r.Workers}
	e.pool = ops.NewPool(r.Workers - 1)
	for range r.Workers {
		w := newWorker(m, &e.o, r.Rows)
		w.batchTokens = r.BatchTokens
		if m.encoder != nil {
			w.w.reserve(m.encoder, min(r.BatchTokens, 4*defaultBatchTokens))
		}
		w.engine = e
		if r.Profile {
			w.profile = &workerProfile{}
		}
		e.workers = append(e.workers, w)
		e.wg.Add(1)
		go func() {
			defer e.wg.Done()
			if r.Fixed {
				w.runFixed(e.jobs)
			} else {
				w.run(e.jobs)
			}
		}()
	}
	return e, nil
}

// quota is the number of sentences that a worker with room for so many may
// take at once without leaving other workers nothing to do: more than it has
// room for only while many wait.
func (e *engine) quota(busy bool, room int) int {
	idle := len(e.workers) - int(e.busy.Load())
	if busy {
		idle++ // the worker that asks
	}
	n := min(1+len(e.jobs)/max(idle, 1), encodeGroup)
	if len(e.workers) > 1 && len(e.jobs) < 2*encodeGroup {
		n = min(n, room)
	}
	return max(n, 1)
}

// Close waits for the sentences in flight and stops the workers.
func (e *engine) Close() {
	e.mu.Lock()
	stopped := e.closed
	if !stopped {
		e.closed = true
		close(e.jobs)
	}
	e.mu.Unlock()
	e.wg.Wait()
	if !stopped {
		e.pool.Close()
	}
}

// submit sends a job to the workers. It waits while they are busy, but not
// beyond the end of the job's context.
func (e *engine) submit(j *job) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return ErrClosed
	}
	select {
	case e.jobs <- j:
		return nil
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}
