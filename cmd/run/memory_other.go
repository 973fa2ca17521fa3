//go:build !linux

package main

import goruntime "runtime"

// residentMemory is what the process has taken from the system, in bytes.
func residentMemory() int64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.Sys)
}

// availableMemory is not known here.
func availableMemory() int64 { return 0 }
