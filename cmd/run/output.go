package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"time"
)

// output writes records, one for each input line, in whole records: whatever
// stops the program, the file ends with a complete record (or frame), apart
// from what a kill in the middle of a write leaves, which a journal undoes.
type output struct {
	name string
	w    io.Writer
	file storage // w if it is a regular file that can be cut, else nil
	pack frames  // nil for plain text
	each bool    // every record is written at once

	mu   sync.Mutex
	err  error  // the first failure; nothing is written after it
	buf  []byte // text of records that are not written yet
	ends []int  // of these records in buf

	lines   int   // records written
	offset  int64 // bytes written
	journal *journal
	input   hash.Hash // of the input lines of all records that were added
	written hash.Hash // of the bytes written
	safe    point     // after the last write, all records before it included
	logged  int       // lines of the journal's last entry
	due     time.Time // of the next journal entry
}

// storage is what an [os.File] of a regular file can do besides.
type storage interface {
	Seek(offset int64, whence int) (int64, error)
	Truncate(size int64) error
	Sync() error
}

// point is a place in the output where it can be continued.
type point struct {
	Line   int    `json:"line"`   // records before it
	Offset int64  `json:"offset"` // bytes before it
	Input  string `json:"input"`  // SHA-256 of the input lines before it, unpacked
	Output string `json:"output"` // SHA-256 of the bytes before it
}

const (
	writeSize = 64 << 10 // bytes of plain text that are written together
	// flushEvery is how long a finished record may wait to be written,
	// logEvery how long until it is safe with a journal.
	flushEvery = 500 * time.Millisecond
	logEvery   = time.Second
)

// writeError is a failure to write the output.
type writeError struct {
	name  string
	lines int // complete ones in the file
	err   error
}

func (e *writeError) Error() string { return fmt.Sprintf("writing %s: %v", e.name, e.err) }
func (e *writeError) Unwrap() error { return e.err }

// errReaderGone says that nobody reads the output any more.
var errReaderGone = errors.New("the reader of the output is gone")

// newOutput writes to w from its current place on. The journal may be nil.
func newOutput(name string, w io.Writer, pack frames) *output {
	o := &output{name: name, w: w, pack: pack, input: sha256.New(), written: sha256.New()}
	if f, ok := w.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			o.file = f
		}
	}
	return o
}

// keep makes the output log its progress in a journal. It continues at p with
// the hashes of what was read and written before.
func (o *output) keep(j *journal, p point, input, written hash.Hash) {
	o.journal, o.input, o.written = j, input, written
	o.lines, o.offset, o.safe, o.logged = p.Line, p.Offset, p, p.Line
}

// add appends the record of an input line.
func (o *output) add(record []byte, source ...string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	o.buf = append(o.buf, record...)
	o.ends = append(o.ends, len(o.buf))
	if o.journal != nil {
		for _, s := range source {
			io.WriteString(o.input, s)
		}
	}
	switch {
	case o.pack != nil && len(o.buf) >= frameText:
		o.flush()
	case o.pack == nil && (o.each || len(o.buf) >= writeSize):
		o.flush()
	}
	return o.err
}

// tick writes what has waited for long, and logs it. It is called from time
// to time by another goroutine.
func (o *output) tick(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if o.pack == nil {
		o.flush()
	}
	if o.err == nil && !now.Before(o.due) {
		o.due = now.Add(logEvery)
		o.log()
	}
}

// flush writes the records that are waiting; compressed, they become a frame.
func (o *output) flush() {
	if len(o.ends) == 0 {
		return
	}
	o.write()
	if o.err == nil && o.journal != nil {
		o.safe = point{o.lines, o.offset, sum(o.input), sum(o.written)}
	}
}

func sum(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil)) }

func (o *output) write() {
	b := o.buf
	if o.pack != nil {
		if b, o.err = o.pack.pack(o.buf); o.err != nil {
			return
		}
	}
	n, err := o.w.Write(b)
	if err == nil {
		o.lines += len(o.ends)
		o.offset += int64(n)
		if o.journal != nil {
			o.written.Write(b)
		}
		o.buf, o.ends = o.buf[:0], o.ends[:0]
		if cap(o.buf) > 16*writeSize {
			o.buf = nil
		}
		return
	}
	if brokenPipe(err) {
		o.err = errReaderGone
		return
	}
	// Leave complete records in the file.
	kept := 0
	if o.pack == nil {
		for _, end := range o.ends {
			if end > n {
				break
			}
			kept = end
			o.lines++
		}
	}
	if n > kept && o.file != nil {
		cutTail(o.file, int64(n-kept))
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	o.err = &writeError{o.name, o.lines, err}
}

// cutTail drops the last n bytes written, which are the last of the file
// unless others write to it too.
func cutTail(f storage, n int64) {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end == at && at >= n && f.Truncate(at-n) == nil {
		at -= n
	}
	f.Seek(at, io.SeekStart)
}

// log makes what was written durable, then says so in the journal.
func (o *output) log() {
	if o.journal == nil || o.safe.Line == o.logged {
		return
	}
	if err := o.file.Sync(); err != nil {
		o.err = &writeError{o.name, o.logged, err}
		return
	}
	if err := o.journal.log(o.safe); err != nil {
		o.err = &writeError{o.journal.path, o.logged, err}
		return
	}
	o.logged = o.safe.Line
}

// finish writes the rest of a complete output and closes it. The journal,
// which has done its work, is removed.
func (o *output) finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		if o.pack != nil && o.offset == 0 && len(o.ends) == 0 {
			o.write() // an empty file is no compressed file
		}
		o.flush()
	}
	if o.err == nil && o.journal != nil {
		if err := o.file.Sync(); err != nil {
			o.err = &writeError{o.name, o.logged, err}
		}
	}
	o.close()
	if o.err == nil && o.journal != nil {
		o.err = o.journal.remove()
	} else if o.journal != nil {
		o.journal.close()
	}
	return o.err
}

// abandon writes what there is of an output that is not complete, logs what
// can be continued and closes it. A last frame that ends early is written
// after that, and written again when the output is continued.
func (o *output) abandon() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && o.pack == nil {
		o.flush()
	}
	if o.err == nil {
		o.log()
	}
	if o.err == nil && o.pack != nil && len(o.ends) > 0 {
		o.write()
	}
	o.close()
	if o.journal != nil {
		o.journal.close()
	}
	return o.err
}

func (o *output) close() {
	c, ok := o.w.(io.Closer)
	if !ok || o.name == "stdout" {
		return
	}
	if err := c.Close(); err != nil && o.err == nil {
		o.err = &writeError{o.name, o.logged, err}
	}
}
