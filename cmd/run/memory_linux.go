package main

import (
	"bytes"
	"os"
	"strconv"
)

// residentMemory is the process's size in memory now, in bytes, 0 if not
// known.
func residentMemory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return n * int64(os.Getpagesize())
}

// availableMemory is what the process may use besides, in bytes, 0 if not
// known: what the system has to spare, or less if its control group says so.
func availableMemory() int64 {
	n := meminfo()
	limit, ok := number("/sys/fs/cgroup/memory.max")
	used, ok2 := number("/sys/fs/cgroup/memory.current")
	if ok && ok2 && (n == 0 || limit-used < n) {
		n = max(limit-used, 1)
	}
	return n
}

func meminfo() int64 {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for _, line := range bytes.Split(b, []byte("\n")) {
		f := bytes.Fields(line)
		if len(f) == 3 && string(f[0]) == "MemAvailable:" {
			n, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return n << 10
		}
	}
	return 0
}

func number(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil // "max" is no number
}
