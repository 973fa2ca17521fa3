// Command arm64 writes one part of package simd's arm64 assembly and its Go stubs, with the build constraint
// arm64 && !purego. The parts and their files are named in the go:generate lines of ../../generate.go; the
// output is committed and must not change by generating again.
//
// Go's assembler knows few of the vector instructions, so nearly all of them are words (encode.go), each with
// its name in ARM's syntax as a comment.
package main

import (
	"flag"
	"fmt"
	"os"
)

// parts are the generated files by name.
var parts = map[string]func(){
	"convert":     convert,
	"elementwise": elementwise,
	"reduce":      reductions,
	"memory":      memories,
	"quantize":    quantizers,
	"int8":        int8Tiles,
	"float":       floatTiles,
	"peak":        peak,
}

func main() {
	out := flag.String("out", "", "assembly `file`")
	stubs := flag.String("stubs", "", "Go stub `file`")
	flag.Parse()
	gen := parts[flag.Arg(0)]
	if gen == nil || *out == "" || *stubs == "" {
		fmt.Fprintf(os.Stderr, "arm64: usage: arm64 -out FILE -stubs FILE PART\n")
		os.Exit(2)
	}
	gen()
	if err := write(*out, *stubs, flag.Arg(0)); err != nil {
		fmt.Fprintf(os.Stderr, "arm64: %v\n", err)
		os.Exit(1)
	}
}
