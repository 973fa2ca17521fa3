package pytorch_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"

	"memsizer/format/pytorch"
)

// Open a checkpoint, look at its values, and stream a tensor that is a
// transposed view: its elements come in row-major order all the same.
func Example() {
	f, err := pytorch.Open("testdata/views.pt")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	root := f.Root().(*pytorch.Dict)
	fmt.Println(f.Container(), "container,", root.Len(), "values")

	v, _ := root.Get("transposed")
	t := v.(*pytorch.Tensor)
	fmt.Println(t.DType, t.Shape, "strides", t.Strides, "of storage", t.Storage.Key)
	h := sha256.New()
	n, err := io.Copy(h, t.Reader())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes, SHA-256 %x...\n", n, h.Sum(nil)[:4])
	// Output:
	// zip container, 25 values
	// int16 [7 5] strides [1 7] of storage 1
	// 70 bytes, SHA-256 7d1af937...
}

// Settings are often an argparse.Namespace, which is an Object here.
func ExampleObject_Attr() {
	f, err := pytorch.Open("testdata/values-protocol2.pt")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	v, _ := f.Root().(*pytorch.Dict).Get("namespace")
	args := v.(*pytorch.Object)
	arch, _ := args.Attr("arch")
	fmt.Println(args, arch)
	// Output: argparse.Namespace memsizer
}

// Errors say what the file is instead of a checkpoint.
func ExampleUnsupportedError() {
	_, err := pytorch.Open("testdata/make.py")
	var unsupported *pytorch.UnsupportedError
	fmt.Println(errors.As(err, &unsupported))
	fmt.Println(err)
	// Output:
	// true
	// pytorch: "testdata/make.py": byte 0: unsupported: this is a text file, not a checkpoint; it starts with "#!/usr/bin/env python3"
}
