package main

import (
	goruntime "runtime"
	"strings"
	"testing"

	"memsizer/runtime"
)

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		in, out string
		want    int64
	}{
		{"0", "0", 0}, {"17", "17", 17}, {"800M", "800M", 800 << 20}, {"4g", "4G", 4 << 30}, {"1.5K", "1536", 1536},
		{"2GiB", "2G", 2 << 30}, {"1MB", "1M", 1 << 20}, {"3T", "3T", 3 << 40},
	} {
		var b byteSize
		if err := b.Set(c.in); err != nil || int64(b) != c.want || b.String() != c.out {
			t.Errorf("%q: got %d as %q, error %v, want %d as %q", c.in, int64(b), b.String(), err, c.want, c.out)
		}
	}
	for _, in := range []string{"", "M", "x", "-1", "1X", "NaN", "1e30G", "Inf"} {
		var b byteSize
		if err := b.Set(in); err == nil {
			t.Errorf("%q: got %d, want an error", in, int64(b))
		}
	}
}

func TestFitRows(t *testing.T) {
	f := runtime.Footprint{Worker: 10 << 20, Row: 1 << 20}
	for _, c := range []struct {
		name                string
		beam, threads, rows int
		used, limit         int64
		wantThreads, want   int
	}{
		{"no limit", 5, 2, 0, 1 << 30, 0, 2, 160},
		{"rows asked for", 5, 2, 320, 1 << 30, 1, 2, 320},
		{"fewer rows than the beam", 5, 2, 3, 0, 0, 2, 5},
		{"a wide beam", 200, 2, 0, 0, 0, 2, 200},
		{"plenty", 5, 2, 0, 100 << 20, 1 << 30, 2, 160},
		{"half of the rows", 5, 2, 0, 0, 225 << 20, 2, 80},
		{"fewer threads", 5, 8, 0, 0, 50 << 20, 2, 10},
		{"all cores", 5, 0, 0, 0, 0, goruntime.GOMAXPROCS(0), 160},
	} {
		t.Run(c.name, func(t *testing.T) {
			threads, rows, err := fitRows(f, c.beam, c.threads, c.rows, c.used, c.limit)
			if err != nil || threads != c.wantThreads || rows != c.want {
				t.Errorf("got %d threads of %d rows, error %v, want %d of %d", threads, rows, err, c.wantThreads, c.want)
			}
		})
	}
	_, _, err := fitRows(f, 5, 2, 0, 1<<30, 1<<29)
	if err == nil || !strings.Contains(err.Error(), "not enough") {
		t.Errorf("got error %v, want one about too little memory", err)
	}
}
