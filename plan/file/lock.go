package file

import (
	"fmt"
	"os"
	"sync"
	"time"

	"waybill/internal/ownfile"
)

const (
	// lockPatience is how long a writer waits for one lock holder, which normally needs milliseconds. It starts again
	// with each new holder, because a moving queue is not a hanging process.
	lockPatience = 2 * time.Second
	// lockLongest is the longest total wait for the lock.
	lockLongest = 30 * time.Second
	lockPause   = time.Millisecond
)

// A lock is the right to write the plans of a workspace, which one writer has at a time.
type lock struct {
	path    string                // of the lock file; with "", only the writers in this process wait
	kept    func(paths ...string) // is told of the files that a cleanup kept
	writing sync.Mutex            // held while a file is being replaced
}

// A turn is the time in which a writer holds the lock. Its lock file lists the temporary files of the holder, so that
// the next holder can remove them if this process is killed.
type turn struct {
	lock *lock
	file *os.File // nil without a lock file
	left []string // the paths in the lock file
}

// tidy removes what killed writers left, unless another writer holds the lock.
func (l *lock) tidy() { l.kept(RemoveLeftovers(l.path)...) }

// take blocks until no other writer, and no other process with the same lock file, holds the lock. It fails with Locked
// if that takes too long. The lock file stays after the turn.
func (l *lock) take() (*turn, error) {
	l.writing.Lock()
	if l.path == "" {
		return &turn{lock: l}, nil
	}
	wait := patience{path: l.path, longest: time.Now().Add(lockLongest)}
	for ; ; time.Sleep(lockPause) { //permit:time.Sleep because no system waits for a file lock for a bounded time
		f, err := ownfile.TryLock(l.path)
		if err == nil && f == nil && wait.over(time.Now()) {
			err = &WriteError{Reason: Locked, Err: fmt.Errorf("another process holds %s: try again, or end it if it hangs", l.path)}
		}
		switch {
		case err != nil:
			l.writing.Unlock()
			return nil, err
		case f != nil:
			left, saved := removeLeft(f)
			l.kept(saved...)
			return &turn{lock: l, file: f, left: left}, nil
		}
	}
}

// announce lists temporary files in the lock file before they are created.
func (t *turn) announce(paths ...string) {
	if t.file != nil {
		t.left = append(t.left, paths...)
		writeLeft(t.file, t.left)
	}
}

// end removes the remaining temporary files of the turn, and releases the lock.
func (t *turn) end() {
	if t.file != nil {
		if len(t.left) > 0 {
			_, saved := removeLeft(t.file)
			t.lock.kept(saved...)
		}
		_ = t.file.Close()
	}
	t.lock.writing.Unlock()
}

// patience is the timeout of a writer that waits for the lock.
type patience struct {
	path         string
	turn         time.Time // modification time of the lock file, which changes with each holder
	end, longest time.Time
}

// over reports whether the wait has taken too long.
func (p *patience) over(now time.Time) bool {
	info, err := os.Lstat(p.path)
	if p.end.IsZero() || err == nil && !info.ModTime().Equal(p.turn) {
		p.end = now.Add(lockPatience)
		if err == nil {
			p.turn = info.ModTime()
		}
	}
	return now.After(p.end) || now.After(p.longest)
}
