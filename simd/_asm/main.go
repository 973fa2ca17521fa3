// Command _asm writes one part of package simd's amd64 assembly and its Go stubs, with the build
// constraint amd64 && !purego. The parts and their files are named in the go:generate lines of
// ../generate.go; the output is committed and must not change by generating again.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

// parts are the generated files by name.
var parts = map[string]func(){
	"convert":     convert,
	"elementwise": elementwise,
	"reduce":      reductions,
	"memory":      memories,
	"quantize":    quantizers,
	"int8":        int8Tiles,
	"bfloat":      bfloatTiles,
	"peak":        peak,
	"float":       floatTiles,
}

func main() {
	flag.Parse() // avo's flags: -out, -stubs, -pkg
	gen := parts[flag.Arg(0)]
	if gen == nil {
		fmt.Fprintf(os.Stderr, "_asm: no part %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ConstraintExpr("amd64,!purego")
	gen()
	Generate()
}
