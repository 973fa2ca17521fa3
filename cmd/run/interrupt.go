package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interrupt turns signals into an orderly end: the first one stops the
// input, the second one ends the work in flight, the third one the program.
type interrupt struct {
	stop    chan struct{} // closed by the first signal
	status  atomic.Int32  // exit status that the first signal asks for
	signals chan os.Signal
}

// catchInterrupts listens to SIGINT and SIGTERM until release is called.
func catchInterrupts(parent context.Context) (ctx context.Context, i *interrupt, release func()) {
	ctx, cancel := context.WithCancel(parent)
	i = &interrupt{stop: make(chan struct{}), signals: make(chan os.Signal, 4)}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	signal.Ignore(syscall.SIGPIPE) // writing to stdout fails instead
	go func() {
		for n := 1; ; n++ {
			s, ok := <-i.signals
			if !ok {
				return
			}
			switch n {
			case 1:
				i.status.Store(exitInterrupt)
				if s == syscall.SIGTERM {
					i.status.Store(exitTerminate)
				}
				close(i.stop)
			case 2:
				cancel()
			default:
				os.Exit(int(i.status.Load()))
			}
		}
	}()
	return ctx, i, func() {
		signal.Stop(i.signals)
		close(i.signals)
		cancel()
	}
}

// caught reports whether there was a signal.
func (i *interrupt) caught() bool { return i.status.Load() != 0 }
