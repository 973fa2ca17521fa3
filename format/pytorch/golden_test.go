package pytorch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walked is a tensor with its path in the tree.
type walked struct {
	path   string
	tensor *Tensor
}

// walk collects the tensors below v, in the file's order, as
// testdata/make.py does.
func walk(v any, path string, seen map[any]bool, found *[]walked) {
	if t, ok := v.(*Tensor); ok {
		*found = append(*found, walked{path, t})
		return
	}
	if container(v) == nil || seen[v] {
		return
	}
	seen[v] = true
	list, _ := items(v)
	for i, item := range list {
		walk(item, fmt.Sprintf("%s/%d", path, i), seen, found)
	}
	d, _ := v.(*Dict)
	if o, ok := v.(*Object); ok {
		walk(o.Dict, path, seen, found)
		return
	}
	for i := range d.Len() {
		key, value := d.At(i)
		walk(value, fmt.Sprintf("%s/%v", path, key), seen, found)
	}
}

// tensorsOf returns the tensors of a file by path.
func tensorsOf(f *File) []walked {
	var found []walked
	walk(f.Root(), "", make(map[any]bool), &found)
	return found
}

// digest returns what golden.json says of a tensor.
func digest(t *testing.T, x *Tensor) (dtype, shape, sum string) {
	t.Helper()
	h := sha256.New()
	n, err := io.Copy(h, x.Reader())
	if err != nil || n != x.Bytes() {
		t.Errorf("Reader gave %d bytes and error %v, want %d", n, err, x.Bytes())
	}
	dims := strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ", ")
	return x.DType.String(), dims, hex.EncodeToString(h.Sum(nil))
}

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestGolden compares every tensor of the fixtures with what torch reads.
func TestGolden(t *testing.T) {
	var golden map[string]map[string][3]any
	readJSON(t, "testdata/golden.json", &golden)
	if len(golden) < 10 {
		t.Fatalf("golden.json has %d files", len(golden))
	}
	for name, want := range golden {
		t.Run(name, func(t *testing.T) {
			f := openFile(t, filepath.Join("testdata", name))
			if got, want := f.Container(), map[bool]string{true: "legacy", false: "zip"}[strings.Contains(name, "legacy")]; got != want {
				t.Errorf("container %q, want %q", got, want)
			}
			found := tensorsOf(f)
			if len(found) != len(want) {
				t.Errorf("%d tensors, want %d", len(found), len(want))
			}
			for _, w := range found {
				dtype, shape, sum := digest(t, w.tensor)
				got := fmt.Sprint([3]any{dtype, shape, sum})
				wanted := want[w.path]
				wanted[1] = strings.ReplaceAll(fmt.Sprint(wanted[1]), " ", ", ")
				if got != fmt.Sprint(wanted) {
					t.Errorf("%s: got %s, want %s", w.path, got, wanted)
				}
			}
		})
	}
}

// TestReference compares the reference checkpoints, where they are, with what
// torch reads.
func TestReference(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "reference")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no reference checkpoints beside the repository")
	}
	var golden map[string][2]any
	readJSON(t, "testdata/reference.json", &golden)
	for name, want := range golden {
		t.Run(name, func(t *testing.T) {
			f := openFile(t, filepath.Join(folder, name))
			found := tensorsOf(f)
			h := sha256.New()
			for _, w := range found {
				dtype, shape, sum := digest(t, w.tensor)
				fmt.Fprintf(h, "%s %s %s %s\n", w.path, dtype, shape, sum)
			}
			if got := hex.EncodeToString(h.Sum(nil)); float64(len(found)) != want[0] || got != want[1] {
				t.Errorf("%d tensors of sum %s, want %v of %v", len(found), got, want[0], want[1])
			}
		})
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSharedStorage checks that tensors that share memory have one storage.
func TestSharedStorage(t *testing.T) {
	for _, name := range []string{"views.pt", "views-legacy.pt", "views-deflated.pt"} {
		root := openFile(t, filepath.Join("testdata", name)).Root().(*Dict)
		tensor := func(key string) *Tensor {
			v, _ := root.Get(key)
			return v.(*Tensor)
		}
		whole, shared := tensor("whole"), tensor("shared")
		if whole.Storage != shared.Storage || shared.Offset != 60 {
			t.Errorf("%s: %q has storage %p and offset %d, want %p and 60", name, "shared", shared.Storage, shared.Offset, whole.Storage)
		}
		if s, _ := root.Get("storage"); s != any(tensor("transposed").Storage) {
			t.Errorf("%s: the storage as a value is %v", name, s)
		}
		if got := tensor("transposed").Strides; !slices.Equal(got, []int{1, 7}) {
			t.Errorf("%s: strides %v, want [1 7]", name, got)
		}
		for key, want := range map[string][2]bool{"parameter": {true, true}, "parameter without gradient": {true, false}, "gradient": {false, true}, "whole": {}} {
			if x := tensor(key); x.Parameter != want[0] || x.RequiresGrad != want[1] {
				t.Errorf("%s: %q: parameter %v, requires gradient %v, want %v", name, key, x.Parameter, x.RequiresGrad, want)
			}
		}
	}
}
