//go:build !linux

package ops

// yieldCore does nothing here: the goroutine scheduler has had its turn.
func yieldCore() {}
