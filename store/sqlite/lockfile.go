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
	"waybill/store/rows"
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
	commits int64 // how many transactions were committed, whoever did, or may have been
	state   state
	spent   bool // the reserved space was given up and not yet taken back
}

// A state says whether somebody has the lock. It stays busy if its holder dies.
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

// plain gives a text whose length does not depend on how it is encoded, and of that so many bytes at most.
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
		// The file was removed or replaced while we waited for it. The lock of what has no name any
		// more keeps nobody out.
		l.files.unlock()
		_ = l.close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.begin()
}

// begin reads the file and writes who has the lock. Whoever had it and did not say that it was done may have
// committed.
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
	// A file that says free would tell others that nobody commits. One that says nothing does not.
	if err := l.files.lock.Truncate(0); err != nil {
		l.files.unlock()
		return err
	}
	return nil
}

// elsewhere refuses a file that another machine has written since we have: between machines the locks of a file system,
// and the memory that SQLite shares, hold nobody off. A machine that was started anew, or a disk that was moved, has nobody
// who has written before.
func (l *lockFile) elsewhere() error {
	by := l.says.holder
	if !l.wrote || by.boot == "" || l.self.boot == "" || by.boot == l.self.boot {
		return nil
	}
	return fault(store.Unsafe, nil, "process %d on the machine %s has written to the store %s, too: it has to be one machine's. "+
		"For several there is --store postgres://…, and \"waybill store migrate\" brings the store there", by.pid, by.host, strings.TrimSuffix(l.path, ".lock"))
}

// acquireDead takes the lock if it can be had at once, and reads the file. It is for who has found that nobody
// else will: a file that was replaced is left to the next acquire.
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
		return rows.GaveUp(err)
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

// release writes what the file is to say and lets go of the lock. If that cannot be written, what the file says
// helps nobody to find faults, and every promise is kept all the same: a full disk must not fail a change that is
// committed already.
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
