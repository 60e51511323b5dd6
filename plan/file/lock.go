package file

import (
	"fmt"
	"os"
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

// A turn is the exclusive right to write plans. Its lock file lists the temporary files of the holder, so that the
// next holder can remove them if this process is killed.
type turn struct {
	root *Root
	file *os.File // nil without a LockPath: only the writers of this Root take turns
	left []string // the paths in the lock file
}

// takeTurn blocks until no other writer of this Root, and no other process with the same lock file, holds the lock. It
// fails with Locked if that takes too long. The lock file stays after the turn.
func (r *Root) takeTurn() (*turn, error) {
	r.writing.Lock()
	if r.opts.LockPath == "" {
		return &turn{root: r}, nil
	}
	wait := patience{path: r.opts.LockPath, longest: time.Now().Add(lockLongest)}
	for ; ; time.Sleep(lockPause) { //permit:time.Sleep because no system waits for a file lock for a bounded time
		f, err := ownfile.TryLock(r.opts.LockPath)
		if err == nil && f == nil && wait.over(time.Now()) {
			err = &WriteError{Reason: Locked, Err: fmt.Errorf("another process holds %s: try again, or end it if it hangs", r.opts.LockPath)}
		}
		switch {
		case err != nil:
			r.writing.Unlock()
			return nil, err
		case f != nil:
			left, saved := removeLeft(f)
			r.tellKept(saved...)
			return &turn{root: r, file: f, left: left}, nil
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
			t.root.tellKept(saved...)
		}
		_ = t.file.Close()
	}
	t.root.writing.Unlock()
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
