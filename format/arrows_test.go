package format_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImportArrows holds the architecture's arrows: what each package may
// reach inside this module, directly or not.
func TestImportArrows(t *testing.T) {
	readers := []string{"format/pytorch", "format/safetensors", "format/onnx", "format/onnx/eval", "format/fairseq"}
	for _, a := range []struct {
		pkg       string
		forbidden []string
	}{
		{"simd", []string{"ops", "format", "runtime", "runtime/text", "cmd/run", "cmd/convert"}},
		{"ops", append([]string{"format", "runtime", "runtime/text"}, readers...)},
		{"format", append([]string{"ops", "runtime", "runtime/text"}, readers...)},
		{"format/pytorch", []string{"format", "format/fairseq", "format/onnx", "format/safetensors", "ops", "runtime"}},
		{"format/safetensors", []string{"format", "format/fairseq", "format/onnx", "format/pytorch", "ops", "runtime"}},
		{"format/onnx", []string{"format", "format/fairseq", "format/pytorch", "format/safetensors", "ops", "runtime"}},
		{"format/onnx/eval", []string{"format", "format/fairseq", "format/pytorch", "ops", "runtime"}},
		{"format/fairseq", []string{"ops", "runtime", "runtime/text"}},
		{"runtime", readers},
		{"runtime/text", append([]string{"runtime", "ops"}, readers...)},
		{"cmd/run", readers},
	} {
		t.Run(a.pkg, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", "memsizer/"+a.pkg).CombinedOutput()
			if err != nil {
				t.Fatalf("go list: %v\n%s", err, out)
			}
			deps := map[string]bool{}
			for _, d := range strings.Fields(string(out)) {
				deps[d] = true
			}
			if !deps["memsizer/"+a.pkg] {
				t.Fatalf("go list printed %q", out)
			}
			for _, f := range a.forbidden {
				if deps["memsizer/"+f] {
					t.Errorf("%s reaches %s", a.pkg, f)
				}
			}
			if strings.HasPrefix(a.pkg, "cmd/run") && deps["google.golang.org/protobuf/proto"] {
				t.Errorf("%s reaches the whole of protobuf", a.pkg)
			}
		})
	}
}
