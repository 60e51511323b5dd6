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

	"waybill/store"
)

// lockFile is the file beside the database whose lock a process holds while it opens, migrates or
// writes. The system queues the waiting processes, which makes them take turns: SQLite's own lock
// is won by whoever asks at the right moment, and one busy process can starve all others.
//
// What the file says is read and written under the lock.
type lockFile struct {
	path string
	self holder

	f    *os.File // nil until the first acquire; replaced if the file was removed
	id   fileID   // of f
	says record   // while the lock is held
	text []byte   // of says, as it was read or written last: most often, nobody else has written since

	mu      sync.Mutex // guards pending, and f against the goroutine of a wait
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

// wait is a blocking request for the lock. It cannot be withdrawn, only left alone.
type wait struct {
	f         *os.File
	done      chan struct{} // closed by the goroutine of the wait when it ends
	err       error         // set before done is closed
	abandoned bool          // nobody waits any more: let go of the lock as soon as it is had
}

func newLockFile(path string) *lockFile {
	host, _ := os.Hostname() // it is only ever shown to a person
	return &lockFile{path: path, self: holder{pid: os.Getpid(), host: plain(host)}}
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
		_ = unlock(l.f)
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
	if l.f != nil {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	id, err := idOf(l.path)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.mu.Lock()
	l.f, l.id = f, id
	l.mu.Unlock()
	return nil
}

func (l *lockFile) take(ctx context.Context, patience time.Duration) error {
	w := l.adopt()
	if w == nil {
		if ok, err := tryLock(l.f); ok || err != nil {
			return err
		}
		w = l.queue()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	case <-timer.C:
	}
	if !l.abandon(w) {
		return w.err // it was had just now
	}
	if err := ctx.Err(); err != nil {
		return gaveUp(err)
	}
	by := l.read().holder
	return fault(store.Busy, nil, "process %d on %s has been writing to the store for %v (%s): try again, or end it if it hangs",
		by.pid, by.host, patience.Round(time.Millisecond), l.path)
}

// queue asks for the lock and gives the wait.
func (l *lockFile) queue() *wait {
	w := &wait{f: l.f, done: make(chan struct{})}
	l.mu.Lock()
	l.pending = w
	l.mu.Unlock()
	// The goroutine ends when the lock is had. If its holder is stopped, that is when the holder
	// goes on or dies: no system lets another thread take back a request for a file lock.
	go func() {
		err := waitLock(w.f)
		l.mu.Lock()
		defer l.mu.Unlock()
		defer close(w.done)
		w.err = err
		l.pending = nil
		switch {
		case l.f != w.f:
			_ = w.f.Close() // which lets go of the lock
		case w.abandoned && err == nil:
			_ = unlock(w.f)
		}
	}()
	return w
}

// adopt gives a wait that was abandoned, if it still lasts: its place in the queue is the best.
func (l *lockFile) adopt() *wait {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil {
		l.pending.abandoned = false
	}
	return l.pending
}

// abandon leaves the wait alone; false says that it ended before.
func (l *lockFile) abandon(w *wait) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != w {
		return false
	}
	w.abandoned = true
	return true
}

// release writes what the file is to say and lets go of the lock.
func (l *lockFile) release(changed bool) {
	if changed {
		l.write()
	}
	_ = unlock(l.f)
}

// close forgets the file. A wait under way closes it when it ends.
func (l *lockFile) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.f
	l.f = nil
	if f == nil || l.pending != nil {
		return nil
	}
	return f.Close()
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
	_, _ = l.f.WriteAt(text, 0)
	l.text = text
}

// read gives what the file says; a file that says nothing readable gives the zero record.
func (l *lockFile) read() record {
	buf := make([]byte, recordSize)
	n, _ := l.f.ReadAt(buf, 0)
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
