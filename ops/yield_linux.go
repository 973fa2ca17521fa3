package ops

import "golang.org/x/sys/unix"

// yieldCore lets a thread that waits for the core have it.
func yieldCore() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
