package recognize_test

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"memsizer/format"
	"memsizer/format/onnx/recognize"
	"memsizer/format/safetensors"
)

// TestReferenceLogits compares the imported models' logits with those that
// the training code computed for the case's input, pads and all.
func TestReferenceLogits(t *testing.T) {
	done := 0
	for _, c := range cases(t) {
		ref := filepath.Join(filepath.Dir(c.paths[0]), "reference.safetensors")
		if _, err := os.Stat(ref); err != nil {
			continue
		}
		done++
		t.Run(c.name, func(t *testing.T) {
			f, err := safetensors.Open(ref)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m, err := recognize.Load(c.paths, recognize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			run := forward(t, m, nil)
			var src [][]int32
			target := "tokens"
			if m.Config.Encoder != nil {
				src, target = rows(t, f, "src_tokens"), "prev_output_tokens"
			}
			logits := floats(t, f, "logits")
			vocab := m.Config.Decoder.Embedding.Vocab
			prev := rows(t, f, target)
			length := f.Tensor(target).Shape[1]
			worst := 0.0
			for b := range prev {
				var s []int32
				if src != nil {
					s = src[b]
				}
				err := run(s, prev[b], func(pos int, got []float32) {
					for i, w := range logits[(b*length+pos)*vocab:][:vocab] {
						worst = max(worst, math.Abs(float64(got[i])-float64(w)))
					}
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if !(worst <= 1e-4) {
				t.Errorf("logits differ by %g, want at most 1e-4", worst)
			}
		})
	}
	if done < 6 {
		t.Errorf("%d cases with logits, want at least 6", done)
	}
}

func bytesOf(t *testing.T, f *safetensors.File, name string) []byte {
	t.Helper()
	x := f.Tensor(name)
	if x == nil {
		t.Fatalf("no tensor %q", name)
	}
	b, err := io.ReadAll(x.Reader())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rows returns the rows of tokens without their pads.
func rows(t *testing.T, f *safetensors.File, name string) [][]int32 {
	t.Helper()
	b, n := bytesOf(t, f, name), f.Tensor(name).Shape[1]
	out := make([][]int32, len(b)/8/n)
	for i := range len(b) / 8 {
		if id := int32(binary.LittleEndian.Uint64(b[8*i:])); id != format.Pad {
			out[i/n] = append(out[i/n], id)
		}
	}
	return out
}

func floats(t *testing.T, f *safetensors.File, name string) []float32 {
	t.Helper()
	b := bytesOf(t, f, name)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
