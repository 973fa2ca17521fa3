package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	goruntime "runtime"

	"memsizer/runtime"
)

// byteSize is a flag value: bytes, with an optional unit K, M, G or T (powers
// of 1024).
type byteSize int64

// String writes it as the flag takes it.
func (b *byteSize) String() string {
	v := int64(*b)
	for _, u := range []struct {
		shift int
		name  string
	}{{40, "T"}, {30, "G"}, {20, "M"}, {10, "K"}} {
		if v != 0 && v&(1<<u.shift-1) == 0 {
			return strconv.FormatInt(v>>u.shift, 10) + u.name
		}
	}
	return strconv.FormatInt(v, 10)
}

// Set parses it.
func (b *byteSize) Set(s string) error {
	shift := 0
	num := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	if i := len(num) - 1; i > 0 {
		if k := strings.IndexByte("KMGT", num[i]); k >= 0 {
			shift, num = 10*(k+1), num[:i]
		}
	}
	v, err := strconv.ParseFloat(num, 64)
	if err != nil || !(v >= 0) || v*float64(int64(1)<<shift) >= 1<<62 {
		return fmt.Errorf("%q is no number of bytes such as 800M or 4G", s)
	}
	*b = byteSize(v * float64(int64(1)<<shift))
	return nil
}

// Type names it in the help text.
func (b *byteSize) Type() string { return "bytes" }

// defaultRows is what a thread decodes together if the memory allows it;
// more rows are no faster.
const defaultRows = 160

// fitRows returns the threads and the decoder rows of each for a memory of
// at most limit bytes (0: no limit), of which used are taken already. Rows
// that were asked for are kept.
func fitRows(f runtime.Footprint, beam, threads, rows int, used, limit int64) (int, int, error) {
	if threads <= 0 {
		threads = goruntime.GOMAXPROCS(0)
	}
	if rows > 0 {
		return threads, max(rows, beam), nil
	}
	rows = max(defaultRows, beam)
	if limit == 0 {
		return threads, rows, nil
	}
	left := int64(float64(limit-used) * 0.8) // the rest is for text and garbage
	for ; threads > 1; threads-- {
		if f.Worker+int64(beam)*f.Row <= left/int64(threads) {
			break
		}
	}
	each := left/int64(threads) - f.Worker
	if each < int64(beam)*f.Row {
		return 0, 0, withHint(fmt.Errorf("--max-memory of %.0f MB is not enough", float64(limit)/(1<<20)),
			"%.0f MB are in use once the model is loaded, one sentence takes %.0f MB", float64(used)/(1<<20),
			float64(f.Worker+int64(beam)*f.Row)/0.8/(1<<20))
	}
	return threads, min(rows, int(each/f.Row)), nil
}

// limitMemory makes the garbage collector keep the process under limit
// bytes as well as it can.
func limitMemory(limit int64) { debug.SetMemoryLimit(limit - limit/20) }

// garbage is how much memory the garbage collector may leave unused, in
// bytes, and the most that it may in percent of what is in use.
const (
	garbage        = 32 << 20
	garbagePercent = 50
)

// settleMemory sets the garbage collector for a loaded model: weights cost it
// nothing, and their size shall not decide how much garbage there may be.
// Without it the process grows to twice the model and more. GOGC has
// precedence.
func settleMemory() {
	if os.Getenv("GOGC") != "" {
		return
	}
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	debug.SetGCPercent(min(max(int(100*garbage/max(m.HeapAlloc, 1)), 5), garbagePercent))
}
