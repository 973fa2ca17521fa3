package runtime

import goruntime "runtime"

// availableCores is the number of cores the process may use: Go's own count
// respects affinity masks and, since 1.25, cgroup quotas.
func availableCores() int { return goruntime.GOMAXPROCS(0) }
