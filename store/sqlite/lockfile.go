package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"waybill/meter"
	"waybill/store"
	"waybill/store/sqlstore"
)

// lockFile is the file beside the database that a process locks while it opens, upgrades or writes the store. It makes
// the processes take turns. SQLite's own lock goes to the process that asks at the right moment, so one busy process
// could starve all others.
//
// The contents of the file are read and written under the lock.
type lockFile struct {
	path string
	self holder

	files *fairLock // nil until the first acquire; replaced if the file was removed
	id    fileID    // of the lock file
	says  record    // while the lock is held
	text  []byte    // the last read or written text of says; other processes have rarely written since

	wrote bool // whether we have had the lock before

	waits *meter.Histogram[time.Duration] // for other processes

	mu      sync.Mutex // guards pending, and files against the goroutine of a wait
	pending *wait      // a wait for the lock that has not ended, or nil
}

type holder struct {
	pid  int
	host string
	boot string // names the time since the machine was started; "" where that has no name
}

// record is the contents of the lock file.
type record struct {
	holder
	newest  int64 // number of the newest event, as far as the file was told
	commits int64 // how many transactions were committed by any process, or may have been
	state   state
	spent   bool // the reserve was used and not recreated yet
}

// A state says whether a process has the lock. It stays busy if its holder dies.
type state string

const (
	unlocked state = "free"
	locked   state = "busy"
)

func newLockFile(path string) *lockFile {
	host, _ := os.Hostname() // it is only ever shown to a person
	return &lockFile{
		path: path, self: holder{pid: os.Getpid(), host: plain(host, hostSize), boot: plain(bootID(), bootSize)}, waits: meter.New(store.Latencies[:]...),
	}
}

// plain returns a text whose length does not depend on how it is encoded, and of that so many bytes at most.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, strings.TrimSpace(text))
	return text[:min(len(text), most)]
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
		// The file was removed or replaced during the wait. A lock of a file without a name excludes no other process.
		l.files.unlock()
		_ = l.close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.begin()
}

// begin reads the file and writes the holder of the lock into it. A holder that did not write "free" may have committed.
func (l *lockFile) begin() error {
	l.read()
	if err := l.elsewhere(); err != nil {
		l.files.unlock()
		return err
	}
	if l.says.state != unlocked {
		l.says.commits++
	}
	l.says.holder, l.says.state = l.self, locked
	l.wrote = true
	if err := l.write(); err == nil {
		return nil
	}
	// An empty file makes no claim. A file that says free would claim that no process commits.
	if err := l.files.lock.Truncate(0); err != nil {
		l.files.unlock()
		return err
	}
	return nil
}

// elsewhere refuses a file that another machine has written after this one. File locks and the shared memory of SQLite do
// not exclude other machines. After a restart, or on a moved disk, no earlier write of this process exists.
func (l *lockFile) elsewhere() error {
	by := l.says.holder
	if !l.wrote || by.boot == "" || l.self.boot == "" || by.boot == l.self.boot {
		return nil
	}
	return fault(store.Unsafe, nil, "process %d on the machine %s has written to the store %s, too: it has to be one machine's. "+
		"For several there is --store postgres://…, and \"waybill store migrate\" brings the store there", by.pid, by.host, strings.TrimSuffix(l.path, ".lock"))
}

// acquireDead takes the lock if it is free and reads the file. It serves a caller that found the holder dead; it leaves
// a replaced file to the next acquire.
func (l *lockFile) acquireDead() bool {
	if l.open() != nil || l.waited() {
		return false
	}
	if had, err := l.files.try(); !had || err != nil {
		return false
	}
	if id, err := idOf(l.path); err != nil || id != l.id {
		l.files.unlock()
		return false
	}
	return l.begin() == nil
}

// waited reports whether an abandoned wait for the lock still lasts.
func (l *lockFile) waited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending != nil
}

func (l *lockFile) open() error {
	if l.files != nil {
		return nil
	}
	files, err := openFairLock(l.path)
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
		return sqlstore.GaveUp(err)
	}
	return l.busy()
}

// busy returns an error that names the holder of the lock. A holder that did not write yet left the name of the previous
// one, which may be this process.
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
	overtaken := time.NewTicker(overtakenLimit)
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

// release writes the record and releases the lock. A failed write only makes faults harder to find: a full disk must not
// fail a change that is already committed.
func (l *lockFile) release() {
	l.says.state = unlocked
	_ = l.write()
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
