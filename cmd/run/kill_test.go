//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// With this variable set the test binary is the program.
const asProgram = "RUN_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func program(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1")
	return c
}

// longJob is an input that takes a while, and the translation of it.
func longJob(t *testing.T) (model, in, want string) {
	model = testModel(t, 64)
	lines := testLines(2000)
	in = writeFile(t, filepath.Join(t.TempDir(), "in"), text(lines))
	status, want, stderr := call("", "translate", "-m", model, "--beam", "2", "--max-len-b", "10", in)
	if status != 0 {
		t.Fatal(stderr)
	}
	return model, in, want
}

func status(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode() // -1 for a signal
	}
	return -2
}

func TestKilledAndResumed(t *testing.T) {
	model, in, want := longJob(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"out", "out.gz", "out.zst"} {
		for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM} {
			t.Run(fmt.Sprintf("%s/%v", name, sig), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), name)
				stopped := 0
				for range 100 {
					c := program("translate", "-m", model, "--beam", "2", "--max-len-b", "10", "--resume", "-o", path, "--threads", "2", "--rows", "20", in)
					var stderr bytes.Buffer
					c.Stderr = &stderr
					if err := c.Start(); err != nil {
						t.Fatal(err)
					}
					over := make(chan error, 1)
					go func() { over <- c.Wait() }()
					var err error
					if stopped < 4 {
						time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
						c.Process.Signal(sig)
					}
					err = <-over
					got := status(err)
					if got == 0 {
						break
					}
					stopped++
					if wanted := map[syscall.Signal]int{syscall.SIGKILL: -1, syscall.SIGINT: 130, syscall.SIGTERM: 143}[sig]; got != wanted && got != -1 {
						t.Fatalf("got status %d, want %d; stderr %q", got, wanted, &stderr)
					}
				}
				if got := unpack(t, name, []byte(readFile(t, path))); got != want {
					t.Errorf("stopped %d times: got %d bytes, want the %d of an undisturbed run", stopped, len(got), len(want))
				}
				undisturbed := filepath.Join(t.TempDir(), name)
				if status, _, stderr := call("", "translate", "-m", model, "--beam", "2", "--max-len-b", "10", "-o", undisturbed, in); status != 0 {
					t.Fatal(stderr)
				}
				if readFile(t, path) != readFile(t, undisturbed) {
					t.Errorf("stopped %d times: the file is not that of an undisturbed run", stopped)
				}
			})
		}
	}
}

// An interrupted run without --resume leaves whole lines, of all that it had
// read.
func TestInterrupted(t *testing.T) {
	model, in, want := longJob(t)
	const times = 8
	want = strings.Repeat(want, times)
	for _, name := range []string{"out", "out.gz"} {
		path := filepath.Join(t.TempDir(), name)
		c := program("translate", "-m", model, "--beam", "2", "--max-len-b", "10", "-o", path, "--threads", "2")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		w, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// More than fits into the pipe, and its end never comes.
		for range times {
			if _, err := io.WriteString(w, readFile(t, in)); err != nil {
				t.Fatal(err)
			}
		}
		c.Process.Signal(os.Interrupt)
		if got := status(c.Wait()); got != 130 {
			t.Fatalf("got status %d, stderr %q, want 130", got, &stderr)
		}
		got := unpack(t, name, []byte(readFile(t, path)))
		if !strings.HasPrefix(want, got) || !strings.HasSuffix(got, "\n") {
			t.Errorf("%s: got %d bytes that are not the first lines", name, len(got))
		}
		if want := fmt.Sprintf("run: stopped after %d lines\n", strings.Count(got, "\n")); stderr.String() != want {
			t.Errorf("%s: got stderr %q, want %q", name, &stderr, want)
		}
	}
}

// One line in, one line out, at once.
func TestCoprocess(t *testing.T) {
	c := program("translate", "-m", testModel(t, 64), "--interactive")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for i, l := range testLines(30) {
		fmt.Fprintln(in, l)
		got, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if (got == "\n") != (l == "") {
			t.Errorf("line %d: %q gives %q", i, l, got)
		}
	}
	in.Close()
	rest, err := io.ReadAll(r)
	if err != nil || len(rest) != 0 {
		t.Errorf("got %q after the end, error %v", rest, err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A reader such as head that has seen enough.
func TestReaderOfStdoutLeaves(t *testing.T) {
	model, in, want := longJob(t)
	c := program("translate", "-m", model, "--beam", "2", "--max-len-b", "10", "--interactive", in)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 20)
	if _, err := io.ReadFull(out, got); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := c.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("got error %v, stderr %q, want a quiet end", err, &stderr)
	}
	if !strings.HasPrefix(want, string(got)) {
		t.Errorf("got %q", got)
	}
}

// Output redirected to the input.
func TestStdoutIsInput(t *testing.T) {
	model := testModel(t, 64)
	in := writeFile(t, filepath.Join(t.TempDir(), "in"), "w5\n")
	f, err := os.OpenFile(in, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := program("translate", "-m", model, in)
	c.Stdout = f
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if got := status(c.Run()); got != 2 || !strings.Contains(stderr.String(), "both input and output") {
		t.Errorf("got status %d, stderr %q", got, &stderr)
	}
	if got := readFile(t, in); got != "w5\n" {
		t.Errorf("the input is %q now", got)
	}
}

// A file as stdin is read again by --resume.
func TestResumeReadsStdinAgain(t *testing.T) {
	model, in, want := longJob(t)
	path := filepath.Join(t.TempDir(), "out")
	for n := range 50 {
		f, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		c := program("translate", "-m", model, "--beam", "2", "--max-len-b", "10", "--resume", "-o", path, "--threads", "1", "--rows", "20")
		c.Stdin = f
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if n < 2 {
			time.Sleep(200 * time.Millisecond)
			c.Process.Kill()
		}
		err = c.Wait()
		f.Close()
		if err == nil {
			break
		}
	}
	if got := readFile(t, path); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
