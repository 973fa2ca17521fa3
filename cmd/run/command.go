package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
)

// environment is what a command has of its surroundings.
type environment struct {
	in       io.Reader
	out, err io.Writer
}

// execute runs the command line and returns the exit status.
func execute(args []string, env environment) int {
	root := &cobra.Command{
		Use:           "run",
		Short:         "Run converted MemSizer and Transformer models",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{errors.New("no command given")}
		},
	}
	root.SetArgs(args)
	root.SetIn(env.in)
	root.SetOut(env.out)
	root.SetErr(env.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpTemplate(helpTemplate)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	running := false
	root.PersistentPreRun = func(*cobra.Command, []string) { running = true }
	root.AddCommand(newTranslateCommand(env), newGenerateCommand(env), newScoreCommand(env), newBenchCommand(env))
	err := root.Execute()
	if err != nil && !running { // an unknown command, too many arguments
		err = usageError{err}
	}
	return report(env.err, err)
}

// helpTemplate shows an example first.
const helpTemplate = `{{if .HasExample}}{{.Example}}

{{end}}{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}Usage:
  {{if .HasParent}}{{.UseLine}}{{else}}{{.CommandPath}} COMMAND{{end}}
{{if .HasAvailableSubCommands}}
Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}`
