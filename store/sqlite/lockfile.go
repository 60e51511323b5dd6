package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"waybill/meter"
	"waybill/store"
)

// lockFile is the file beside the database whose lock a process holds while it opens, migrates or
// writes. It makes the processes take turns: SQLite's own lock is won by whoever asks at the right
// moment, and one busy process can starve all others.
//
// What the file says is read and written under the lock.
type lockFile struct {
	path string
	self holder

	files *turnstile // nil until the first acquire; replaced if the file was removed
	id    fileID     // of the lock file
	says  record     // while the lock is held
	text  []byte     // of says, as it was read or written last: most often, nobody else has written since

	waits *meter.Histogram[time.Duration] // for other processes

	mu      sync.Mutex // guards pending, and files against the goroutine of a wait
	pending *wait      // a wait for the lock that has not ended, or nil
}

type holder struct {
	pid  int
	host string
}

// record is the contents of the lock file.
type record struct {
	holder
	newest  int64 // number of the newest event, as far as the file was told
	commits int64 // how many transactions were committed, whoever did
	spent   bool  // the reserved space was given up and not yet taken back
}

func newLockFile(path string) *lockFile {
	host, _ := os.Hostname() // it is only ever shown to a person
	return &lockFile{
		path: path, self: holder{pid: os.Getpid(), host: plain(host)}, waits: meter.New(store.Latencies[:]...),
	}
}

// plain gives a text whose length does not depend on how it is encoded.
func plain(host string) string {
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, host)
	return host[:min(len(host), hostSize)]
}

// acquire takes the lock, waiting for it at most that long, and reads the file. It is called by one
// goroutine at a time, and so are release and close.
func (l *lockFile) acquire(ctx context.Context, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		if err := l.open(); err != nil {
			return err
		}
		if err := l.take(ctx, time.Until(deadline)); err != nil {
			return err
		}
		id, err := idOf(l.path)
		if err == nil && id == l.id {
			break
		}
		// The file was removed or replaced while we waited for it. The lock of what has no name any
		// more keeps nobody out.
		l.files.unlock()
		_ = l.close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	l.read()
	if l.says.holder != l.self {
		l.says.holder = l.self
		l.write()
	}
	return nil
}

func (l *lockFile) open() error {
	if l.files != nil {
		return nil
	}
	files, err := openTurnstile(l.path)
	if err != nil {
		return err
	}
	id, err := idOfFile(files.lock)
	if err != nil {
		return errors.Join(err, files.close())
	}
	l.mu.Lock()
	l.files, l.id = files, id
	l.mu.Unlock()
	return nil
}

func (l *lockFile) take(ctx context.Context, patience time.Duration) error {
	w := l.adopt()
	if w == nil {
		if had, err := l.files.try(); had || err != nil {
			return err
		}
		w = l.queue()
	}
	began := time.Now()
	defer func() { l.waits.Observe(time.Since(began)) }()
	if err := l.await(ctx, w, patience); err == nil || !l.abandon(w) {
		return w.err
	}
	if err := ctx.Err(); err != nil {
		return gaveUp(err)
	}
	return l.busy()
}

// busy tells who has the lock. Whoever got it and did not come to write so left the name of the one
// before him, which may be ours.
func (l *lockFile) busy() error {
	by := l.read().holder
	if by.pid == 0 || by == l.self {
		return fault(store.Busy, nil, "somebody else has the lock of the store and has kept us waiting for too long (%s): try again, or end the process that hangs",
			l.path)
	}
	return fault(store.Busy, nil, "process %d on %s is writing to the store and has kept us waiting for too long (%s): try again, or end it if it hangs",
		by.pid, by.host, l.path)
}

var errImpatient = errors.New("the lock was not had in time")

// await waits for the end of w, but not longer than that. When it has been overtaken for a while, it
// closes the gate.
func (l *lockFile) await(ctx context.Context, w *wait, patience time.Duration) error {
	end := time.NewTimer(patience)
	defer end.Stop()
	overtaken := time.NewTicker(overtaking)
	defer overtaken.Stop()
	closed := false
	defer func() {
		if closed {
			w.files.openGate()
		}
	}()
	for {
		select {
		case <-w.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return errImpatient
		case <-overtaken.C:
			closed = closed || (w.passed.Load() && w.files.closeGate())
		}
	}
}

// release writes what the file is to say and lets go of the lock.
func (l *lockFile) release(changed bool) {
	if changed {
		l.write()
	}
	l.files.unlock()
}

// close forgets the file. A wait under way closes it when it ends.
func (l *lockFile) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	files := l.files
	l.files = nil
	if files == nil || l.pending != nil {
		return nil
	}
	return files.close()
}

// The fields have a fixed width, so that a record is overwritten as a whole by one call.
const (
	recordFormat = "waybill lock 1\npid %010d\nhost %-64s\nnewest %019d\ncommits %019d\nreserve %-5s\n"
	recordSize   = 169
	hostSize     = 64
)

func (l *lockFile) write() {
	reserve := "held"
	if l.says.spent {
		reserve = "spent"
	}
	text := fmt.Appendf(nil, recordFormat, l.says.pid, l.says.host, l.says.newest, l.says.commits, reserve)
	// What the file says helps to find faults. A store without it still keeps every promise, so that
	// a full disk must not fail a change that is committed already.
	_, _ = l.files.lock.WriteAt(text, 0)
	l.text = text
}

// read gives what the file says; a file that says nothing readable gives the zero record.
func (l *lockFile) read() record {
	buf := make([]byte, recordSize)
	n, _ := l.files.lock.ReadAt(buf, 0)
	if buf = buf[:n]; l.text == nil || !bytes.Equal(buf, l.text) {
		l.text, l.says = buf, parseRecord(buf)
	}
	return l.says
}

func parseRecord(text []byte) record {
	var r record
	first := true
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimRight(string(line), " \n"), " ")
		if first && (name != "waybill" || value != "lock 1") {
			return record{}
		}
		first = false
		number, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "pid":
			r.pid = int(number)
		case "host":
			r.host = value
		case "newest":
			r.newest = number
		case "commits":
			r.commits = number
		case "reserve":
			r.spent = value == "spent"
		}
	}
	return r
}
