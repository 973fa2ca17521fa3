package main

import (
	"errors"
	"fmt"
	"io"
)

// Exit statuses.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitInterrupt = 130 // 128 + SIGINT
	exitTerminate = 143 // 128 + SIGTERM
)

// usageError is a wrong call.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// hintError is an error with a line that says what to do about it.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// withHint adds a hint to err, nil stays nil.
func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return hintError{err, fmt.Sprintf(format, args...)}
}

// statusError ends the program with a status and a message that is no error.
type statusError struct {
	status  int
	message string
}

func (e statusError) Error() string { return e.message }

// report prints an error as the program's convention wants it and returns the
// exit status.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if s := (statusError{}); errors.As(err, &s) {
		if s.message != "" {
			fmt.Fprintf(w, "run: %s\n", s.message)
		}
		return s.status
	}
	fmt.Fprintf(w, "run: error: %v\n", err)
	if h := (hintError{}); errors.As(err, &h) {
		fmt.Fprintf(w, "run: hint: %s\n", h.hint)
	}
	if u := (usageError{}); errors.As(err, &u) {
		if !errors.As(err, &hintError{}) {
			fmt.Fprintln(w, "run: hint: run --help, run COMMAND --help")
		}
		return exitUsage
	}
	return exitFailed
}
