// Command run runs converted models: it translates, generates and scores
// text, and measures itself.
//
//	run translate -m model.msz < in.txt > out.txt
//
// Results go to stdout or to the file of -o; errors, warnings and progress to
// stderr. It exits with 0 when done, 1 after a failure, 2 when called wrongly,
// 130 after SIGINT and 143 after SIGTERM.
package main

import "os"

func main() {
	os.Exit(execute(os.Args[1:], environment{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
