package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"

	"memsizer/simd"
)

// benchMachine says where a benchmark ran and what else ran there.
type benchMachine struct {
	CPU   string   `json:"cpu,omitempty"`
	Cores int      `json:"cores"` // that the process may use
	OS    string   `json:"os"`
	Arch  string   `json:"arch"`
	Go    string   `json:"go"`
	Set   string   `json:"simd"`
	Sets  []string `json:"simd_sets"` // that the machine has
	L2    int64    `json:"l2_bytes,omitempty"`
	L3    int64    `json:"l3_bytes,omitempty"`
	// LoadStart and LoadEnd are the system's load averages over a minute.
	LoadStart float64 `json:"load_start,omitempty"`
	LoadEnd   float64 `json:"load_end,omitempty"`
	// Others is the mean number of cores that other processes used during
	// the benchmark, Stolen those that the host gave to other machines.
	Others float64 `json:"other_processes_cores"`
	Stolen float64 `json:"stolen_cores"`
	Known  bool    `json:"other_processes_known"`

	begun time.Time
	start systemTime
}

func newBenchMachine() *benchMachine {
	m := &benchMachine{
		CPU: cpuName(), Cores: goruntime.GOMAXPROCS(0), OS: goruntime.GOOS, Arch: goruntime.GOARCH, Go: goruntime.Version(),
		Set: simd.Set(), Sets: simd.Sets(), L2: cacheSize(2), L3: cacheSize(3), LoadStart: loadAverage(), begun: time.Now(),
	}
	m.start, m.Known = readSystemTime()
	return m
}

// finish measures the load since the machine was made.
func (m *benchMachine) finish() {
	m.LoadEnd = loadAverage()
	end, ok := readSystemTime()
	m.Known = m.Known && ok
	wall := time.Since(m.begun).Seconds()
	if !m.Known || wall <= 0 {
		return
	}
	own := (end.own - m.start.own).Seconds()
	m.Others = max((end.busy-m.start.busy)/wall-own/wall, 0)
	m.Stolen = (end.stolen - m.start.stolen) / wall
}

func (m *benchMachine) busy() bool { return m.Known && m.Others+m.Stolen > 0.1 }

// systemTime is the time, in seconds of one core, that all processes have
// used and that was stolen from the machine, and the process's own.
type systemTime struct {
	busy, stolen float64
	own          time.Duration
}

// readSystemTime reads Linux's /proc/stat.
func readSystemTime() (systemTime, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return systemTime{}, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return systemTime{}, false
	}
	v := make([]float64, 8) // user nice system idle iowait irq softirq steal
	for i := range v {
		if v[i], err = strconv.ParseFloat(f[i+1], 64); err != nil {
			return systemTime{}, false
		}
		v[i] /= 100 // USER_HZ
	}
	return systemTime{busy: v[0] + v[1] + v[2] + v[5] + v[6], stolen: v[7], own: processorTime()}, true
}

func loadAverage() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	if len(f) == 0 {
		return 0
	}
	v, _ := strconv.ParseFloat(string(f[0]), 64)
	return v
}

func cpuName() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(b), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// cacheSize is the size of the first core's cache of a level, 0 if not known.
func cacheSize(level int) int64 {
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	for _, dir := range dirs {
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			return strings.TrimSpace(string(b))
		}
		if read("level") != strconv.Itoa(level) || read("type") == "Instruction" {
			continue
		}
		var n byteSize
		if n.Set(read("size")) == nil {
			return int64(n)
		}
	}
	return 0
}

// line describes the machine.
func (m *benchMachine) line() string {
	s := fmt.Sprintf("%d cores, %s/%s, %s, simd %s", m.Cores, m.OS, m.Arch, m.Go, m.Set)
	if m.CPU != "" {
		s = m.CPU + ", " + s
	}
	for i, n := range []int64{m.L2, m.L3} {
		if n > 0 {
			s += fmt.Sprintf(", L%d %s", i+2, megabytes(n))
		}
	}
	return s
}

// loadLine describes what else ran.
func (m *benchMachine) loadLine() string {
	if !m.Known {
		return "not known on this system; compare the limits at start and end"
	}
	s := fmt.Sprintf("other processes used %.2f cores, %.2f were stolen; load average %.1f at start, %.1f at end",
		m.Others, m.Stolen, m.LoadStart, m.LoadEnd)
	if m.busy() {
		s += " (NOT IDLE)"
	}
	return s
}

// megabytes writes a number of bytes.
func megabytes(n int64) string {
	switch {
	case n >= 10e9:
		return fmt.Sprintf("%.0f GB", float64(n)/1e9)
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 10e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
