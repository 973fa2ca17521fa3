package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// journal is the file beside an output that says how far the output is safe.
//
// Its first line describes the job. Two slots of slotSize bytes follow, which
// hold the last two points; they are written in turn, so that one is whole
// whatever happens while the other is written. Every line begins with the
// CRC-32 of the rest. The file is created under another name and renamed, and
// takes all its space at once, so that a full disk cannot keep it from being
// written.
type journal struct {
	path  string
	f     *os.File
	slots int64 // where they begin
	seq   int64 // of the last entry
}

const (
	journalSuffix  = ".resume"
	journalVersion = 1
	slotSize       = 512
)

// jobIdentity is what must be the same for a job to be continued.
type jobIdentity struct {
	Version int               `json:"run_translate_journal"`
	Model   string            `json:"model"` // SHA-256
	Options map[string]string `json:"options"`
	Inputs  []fileIdentity    `json:"inputs"`
}

// fileIdentity is an input file; a pipe has size -1 and no digest.
type fileIdentity struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// differences lists what is not the same in another identity.
func (id *jobIdentity) differences(now *jobIdentity) []string {
	var d []string
	if id.Model != now.Model {
		d = append(d, "the model is another one")
	}
	if len(id.Inputs) != len(now.Inputs) {
		d = append(d, fmt.Sprintf("there were %d input files, now there are %d", len(id.Inputs), len(now.Inputs)))
	} else {
		for i, f := range id.Inputs {
			switch n := now.Inputs[i]; {
			case f.Size != n.Size:
				d = append(d, fmt.Sprintf("input %s had %d bytes, %s has %d", f.Name, f.Size, n.Name, n.Size))
			case f.SHA256 != n.SHA256:
				d = append(d, fmt.Sprintf("the contents of input %s changed", n.Name))
			}
		}
	}
	var names []string
	for name := range id.Options {
		names = append(names, name)
	}
	for name := range now.Options {
		if _, ok := id.Options[name]; !ok {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		if was, is := id.Options[name], now.Options[name]; was != is {
			d = append(d, fmt.Sprintf("--%s was %q, is %q", name, was, is))
		}
	}
	return d
}

// createJournal makes the journal of a new job, at line 0.
func createJournal(path string, id *jobIdentity) (*journal, error) {
	head, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	b := checked(head)
	slots := int64(len(b))
	b = append(b, slot(0, point{})...)
	b = append(b, slot(-1, point{})...)
	temp := path + ".new"
	if err := writeSynced(temp, b); err != nil {
		os.Remove(temp)
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return nil, err
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return &journal{path: path, f: f, slots: slots}, nil
}

func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// openJournal reads the journal of an earlier run; the error is
// fs.ErrNotExist when there is none.
func openJournal(path string) (*journal, *jobIdentity, point, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, point{}, err
	}
	j := &journal{path: path, f: f}
	id, p, err := j.read()
	if err != nil {
		f.Close()
		return nil, nil, p, err
	}
	return j, id, p, nil
}

// lockWait is how long a process that was killed may take to disappear.
const lockWait = 3 * time.Second

func (j *journal) read() (*jobIdentity, point, error) {
	var p point
	var err error
	for end := time.Now().Add(lockWait); ; time.Sleep(50 * time.Millisecond) {
		if err = lock(j.f); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return nil, p, fmt.Errorf("%s: %w", j.path, errBusy)
	}
	b, err := io.ReadAll(io.LimitReader(j.f, 1<<24))
	if err != nil {
		return nil, p, err
	}
	id := &jobIdentity{}
	n := bytes.IndexByte(b, '\n') + 1
	if !uncheck(b[:n], id) || id.Version == 0 {
		return nil, p, fmt.Errorf("%s: not a journal of run translate", j.path)
	}
	if id.Version != journalVersion {
		return nil, p, fmt.Errorf("%s: journal version %d, this program writes %d", j.path, id.Version, journalVersion)
	}
	j.slots, j.seq = int64(n), -1
	for i := range 2 {
		lo := min(n+i*slotSize, len(b))
		var e entry
		if uncheck(b[lo:min(lo+slotSize, len(b))], &e) && e.Seq > j.seq {
			j.seq, p = e.Seq, e.point
		}
	}
	if j.seq < 0 {
		return nil, p, fmt.Errorf("%s: no entry is whole", j.path)
	}
	return id, p, nil
}

// entry is a point with its number in the journal.
type entry struct {
	Seq int64 `json:"seq"`
	point
}

// log writes the next entry and makes it durable.
func (j *journal) log(p point) error {
	j.seq++
	if _, err := j.f.WriteAt(slot(j.seq, p), j.slots+j.seq%2*slotSize); err != nil {
		return err
	}
	return j.f.Sync()
}

// slot is an entry of slotSize bytes. A negative number gives an empty one.
func slot(seq int64, p point) []byte {
	b := []byte("-\n")
	if seq >= 0 {
		text, err := json.Marshal(entry{seq, p})
		if err != nil {
			panic("run: a journal entry cannot be encoded")
		}
		b = checked(text)
	}
	pad := bytes.Repeat([]byte(" "), slotSize-len(b))
	return append(append(b[:len(b)-1:len(b)-1], pad...), '\n')
}

// checked is a line of the journal: the CRC-32 of the text, the text, LF.
func checked(text []byte) []byte {
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text)
}

// uncheck decodes a line of the journal and reports whether it is whole.
func uncheck(line []byte, v any) bool {
	var crc uint32
	sum, text, ok := bytes.Cut(bytes.TrimRight(line, " \n"), []byte(" "))
	if _, err := fmt.Sscanf(string(sum), "%08x", &crc); !ok || err != nil || len(sum) != 8 {
		return false
	}
	return crc == crc32.ChecksumIEEE(text) && json.Unmarshal(text, v) == nil
}

func (j *journal) close() { j.f.Close() }

// remove deletes the journal of a finished job.
func (j *journal) remove() error {
	j.f.Close()
	return os.Remove(j.path)
}

// removeStale deletes the journal that an earlier run left beside an output
// which is now written anew, without one. Another file of that name stays.
func removeStale(path string) error {
	j, _, _, err := openJournal(path)
	switch {
	case err == nil:
		return j.remove()
	case errors.Is(err, errBusy):
		return err
	}
	return nil
}

var errBusy = errors.New("another process is writing this output")
