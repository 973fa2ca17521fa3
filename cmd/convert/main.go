package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// version of the converter, as it is written into the files.
const version = "memsizer convert 1"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program but for the process around it; it returns the exit
// status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newConvertCommand()
	root.AddCommand(newInspectCommand(), newVerifyCommand(), newSynthCommand())
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "convert: interrupted; nothing was written")
		return 130
	}
	var quiet *quietError
	if errors.As(err, &quiet) {
		return 1
	}
	fmt.Fprintf(stderr, "convert: error: %v\n", err)
	var hinted *hintedError
	if errors.As(err, &hinted) {
		fmt.Fprintf(stderr, "convert: hint: %s\n", hinted.hint)
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// usageError is about the command line, not about what it was asked to do.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(f string, args ...any) error { return &usageError{fmt.Errorf(f, args...)} }

// hintedError says what can be done about it.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

func hint(err error, f string, args ...any) error {
	return &hintedError{err, fmt.Sprintf(f, args...)}
}

// quietError ends with status 1 after the result has said why.
type quietError struct{}

func (*quietError) Error() string { return "failed" }

// Help shows examples first.
const (
	helpTemplate = "{{with .Example}}{{.}}\n\n{{end}}{{with or .Long .Short}}{{.}}\n\n{{end}}{{.UsageString}}"

	usageTemplate = `Usage:
  {{.UseLine}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`
)

// quietly prepares a command for our own error reports.
func quietly(c *cobra.Command) *cobra.Command {
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetHelpTemplate(helpTemplate)
	c.SetUsageTemplate(usageTemplate)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return hint(&usageError{err}, "%s --help lists the flags", c.CommandPath())
	})
	return c
}

// inputs checks the number of arguments that are not flags (max 0: no limit)
// and that none is standard input, which cannot be read at any offset.
func inputs(what string, least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			err := usagef("%d arguments (%s), want %s", len(args), strings.Join(args, " "), what)
			return hint(err, "%s --help shows examples", c.CommandPath())
		}
		for _, a := range args {
			if a == "-" {
				return hint(usagef("%s cannot be read from standard input: it is read at any offset", what),
					"write it to a file first")
			}
		}
		return nil
	}
}

// isTerminal reports whether w is a terminal that somebody may be watching.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
