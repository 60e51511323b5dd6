package sqlite

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// overtaking is how long a process that waits bears to be overtaken by others.
const overtaking = 2 * time.Millisecond

// How long a closed gate is respected, and how often it is tried. Who closed it may have been stopped,
// and is fair to nobody then.
const (
	gateRespect  = 250 * time.Millisecond
	gateInterval = 500 * time.Microsecond
)

// turnstile is two files with a lock in each. The lock is what everybody wants. The system wakes
// those who wait for it in turn, but does not keep it for them, so that a process that has just let
// go of it and comes back at once is nearly always first. That is the fastest way for all, as long
// as it does not last: whoever has been overtaken for a while closes the gate, through which all
// who come must go, until he has the lock. The gate is a courtesy and protects nothing: one that stays
// closed is passed by.
type turnstile struct {
	lock, gate *os.File
	stuck      atomic.Bool // the gate stayed closed, and has not been seen open since
}

func openTurnstile(path string) (*turnstile, error) {
	lock, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, privateFile)
	if err != nil {
		return nil, err
	}
	gate, err := os.OpenFile(gatePath(path), os.O_RDWR|os.O_CREATE, privateFile)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &turnstile{lock: lock, gate: gate}, nil
}

func gatePath(lockPath string) string { return lockPath + ".gate" }

// try takes the lock if that needs no waiting.
func (t *turnstile) try() (had bool, err error) {
	if open, err := t.tryGate(); err != nil || (!open && !t.stuck.Load()) {
		return false, err
	}
	return tryLock(t.lock)
}

// tryGate goes through the gate if it is open.
func (t *turnstile) tryGate() (open bool, err error) {
	if open, err = tryLock(t.gate); open {
		t.openGate()
		t.stuck.Store(false)
	}
	return open, err
}

// closeGate makes all others wait at the gate, unless one of them has closed it.
func (t *turnstile) closeGate() bool {
	had, err := tryLock(t.gate)
	return had && err == nil
}

func (t *turnstile) openGate() { _ = unlock(t.gate) }

// wait goes through the gate, which it tells, and takes the lock, however long that lasts.
func (t *turnstile) wait(passed *atomic.Bool) error {
	if err := t.passGate(); err != nil {
		return err
	}
	passed.Store(true)
	return waitLock(t.lock)
}

// passGate waits until the gate is open, or has been closed for so long that it is passed by. It asks
// again and again, because a request that blocks could not be withdrawn.
func (t *turnstile) passGate() error {
	//nolint:forbidigo // no system waits for a file lock for a bounded time
	for end := time.Now().Add(gateRespect); !t.stuck.Load(); time.Sleep(gateInterval) {
		if open, err := t.tryGate(); open || err != nil {
			return err
		}
		if time.Now().After(end) {
			t.stuck.Store(true)
		}
	}
	return nil
}

// unlock lets go of the lock. It cannot fail in a way that closing the file would not mend.
func (t *turnstile) unlock() { _ = unlock(t.lock) }

// close closes the files, which lets go of their locks.
func (t *turnstile) close() error { return errors.Join(t.lock.Close(), t.gate.Close()) }

// wait is a request for the lock that blocks. It cannot be withdrawn, only left alone.
type wait struct {
	files     *turnstile
	passed    atomic.Bool   // it is through the gate, which somebody else may use now
	done      chan struct{} // closed by the goroutine of the wait when it ends
	err       error         // set before done is closed
	abandoned bool          // nobody waits any more: let go of the lock as soon as it is had
}

// queue asks for the lock and gives the wait.
func (l *lockFile) queue() *wait {
	w := &wait{files: l.files, done: make(chan struct{})}
	l.mu.Lock()
	l.pending = w
	l.mu.Unlock()
	// The goroutine ends when the lock is had. If its holder is stopped, that is when the holder
	// goes on or dies: no system lets another thread take back a request for a file lock.
	go func() {
		err := w.files.wait(&w.passed)
		l.mu.Lock()
		defer l.mu.Unlock()
		defer close(w.done)
		w.err = err
		l.pending = nil
		switch {
		case l.files != w.files:
			_ = w.files.close()
		case w.abandoned && err == nil:
			w.files.unlock()
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
