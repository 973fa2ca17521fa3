package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testIdentity() *jobIdentity {
	return &jobIdentity{
		Version: journalVersion, Model: "m1", Options: map[string]string{"beam": "5", "nbest": "1"},
		Inputs: []fileIdentity{{"in.txt", 10, "abc"}},
	}
}

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.resume")
	j, err := createJournal(path, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for i := range 5 {
		if i > 0 {
			if err := j.log(point{i, int64(10 * i), strings.Repeat("f", 64), strings.Repeat("0", 64)}); err != nil {
				t.Fatal(err)
			}
		}
		j.close()
		var id *jobIdentity
		var p point
		if j, id, p, err = openJournal(path); err != nil {
			t.Fatal(err)
		}
		if p.Line != i || p.Offset != int64(10*i) {
			t.Errorf("entry %d: got %+v", i, p)
		}
		if d := testIdentity().differences(id); d != nil {
			t.Errorf("entry %d: the identity changed: %q", i, d)
		}
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			size = fi.Size()
		} else if fi.Size() != size {
			t.Errorf("entry %d: the journal has %d bytes, want %d as in the beginning", i, fi.Size(), size)
		}
	}
	if err := j.remove(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openJournal(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
	}
}

// A slot that was being written when the machine stopped may hold anything:
// the entry before it counts.
func TestJournalTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.resume")
	j, err := createJournal(path, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.log(point{Line: 1}); err != nil {
		t.Fatal(err)
	}
	j.close()
	before := readFile(t, path)
	j, _, _, err = openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.log(point{Line: 2}); err != nil {
		t.Fatal(err)
	}
	j.close()
	after := readFile(t, path)
	for n := 0; n <= slotSize; n += 1 + n/100 {
		lo := int(j.slots) // entry 2 stands in slot 0
		torn := after[:lo+n] + before[lo+n:]
		writeFile(t, path, torn)
		j, _, p, err := openJournal(path)
		if err != nil {
			t.Fatalf("%d bytes written: %v", n, err)
		}
		j.close()
		if p.Line != 1 && p.Line != 2 || n == slotSize && p.Line != 2 {
			t.Errorf("%d bytes written: got line %d, want 1 or 2", n, p.Line)
		}
	}
}

func TestJournalRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.resume")
	j, err := createJournal(path, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	good := readFile(t, path)
	j.close()
	version := strings.Replace(good[9:strings.Index(good, "\n")], `_journal":1`, `_journal":2`, 1)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "not a journal"},
		{"foreign", "hello\nworld\n", "not a journal"},
		{"header changed", strings.Replace(good, "beam", "bean", 1), "not a journal"},
		{"header only", good[:strings.Index(good, "\n")+1], "no entry is whole"},
		{"newer", string(checked([]byte(version))), "journal version 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFile(t, path, c.text)
			_, _, _, err := openJournal(path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte("00000000 {}\n"))
	path := filepath.Join(f.TempDir(), "out.resume")
	if j, err := createJournal(path, testIdentity()); err == nil {
		j.close()
		b, _ := os.ReadFile(path)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "j")
		writeFile(t, path, string(b))
		j, id, p, err := openJournal(path)
		if err != nil {
			return
		}
		defer j.close()
		if id == nil || j.seq < 0 {
			t.Errorf("got %v, %+v without an error", id, p)
		}
	})
}

func TestIdentityDifferences(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*jobIdentity)
		want   string
	}{
		{"nothing", func(*jobIdentity) {}, ""},
		{"name only", func(id *jobIdentity) { id.Inputs[0].Name = "./in.txt" }, ""},
		{"model", func(id *jobIdentity) { id.Model = "m2" }, "the model is another one"},
		{"size", func(id *jobIdentity) { id.Inputs[0].Size = 11 }, "had 10 bytes, in.txt has 11"},
		{"contents", func(id *jobIdentity) { id.Inputs[0].SHA256 = "abd" }, "the contents of input in.txt changed"},
		{"another file", func(id *jobIdentity) { id.Inputs = append(id.Inputs, fileIdentity{}) }, "there were 1 input files, now there are 2"},
		{"option", func(id *jobIdentity) { id.Options["beam"] = "4" }, `--beam was "5", is "4"`},
		{"new option", func(id *jobIdentity) { id.Options["x"] = "1" }, `--x was "", is "1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := testIdentity()
			c.change(now)
			if got := strings.Join(testIdentity().differences(now), "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
