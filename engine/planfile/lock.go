package planfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// lockPatience is how long a writer waits for another one, who needs some milliseconds. It begins anew when
	// the next one has its turn: a queue is no one that hangs.
	lockPatience = 2 * time.Second
	// lockLongest is how long a writer waits in a queue.
	lockLongest = 30 * time.Second
	lockPause   = time.Millisecond
)

// lock makes the writers of the workspace take turns: those of this Root, and those of other processes
// with the same lock file. The file stays when the lock is let go of.
func (r *Root) lock() (unlock func(), err error) {
	r.writing.Lock()
	if r.opts.LockPath == "" {
		return r.writing.Unlock, nil
	}
	wait := patience{path: r.opts.LockPath, longest: time.Now().Add(lockLongest)}
	//nolint:forbidigo // no system waits for a file lock for a bounded time
	for ; ; time.Sleep(lockPause) {
		f, err := takeLock(r.opts.LockPath)
		if err == nil && f == nil && wait.over(time.Now()) {
			err = &WriteError{Reason: Locked, Err: fmt.Errorf("another process holds %s: try again, or end it if it hangs", r.opts.LockPath)}
		}
		switch {
		case err != nil:
			r.writing.Unlock()
			return nil, err
		case f != nil:
			return func() {
				_ = f.Close()
				r.writing.Unlock()
			}, nil
		}
	}
}

// patience is that of a writer who waits for its turn.
type patience struct {
	path         string
	turn         time.Time // when the turn began that it waits for the end of, by the file
	end, longest time.Time
}

// over reports whether it has waited for long enough.
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

// takeLock gives the locked file, or nil if somebody else has the lock. A link is not followed: what it leads to
// would be made.
func takeLock(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open the lock of the plans: %s is no file: remove it", path)
	}
	f, err := os.OpenFile(path, lockFlags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the plans: %w", err)
	}
	had, err := tryLock(f)
	if err == nil && had {
		if had, err = stillNamed(f, path); err == nil && had {
			_, _ = f.WriteAt([]byte("\n"), 0) // its time tells those who wait that the lock goes round
			return f, nil
		}
	}
	return nil, errors.Join(err, f.Close())
}

// stillNamed reports whether path still names f: the lock of a file that was removed keeps nobody out.
func stillNamed(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, info), err
}
