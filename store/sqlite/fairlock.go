package sqlite

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// overtakenLimit is how long a waiting process lets other processes overtake it.
const overtakenLimit = 2 * time.Millisecond

// A closed gate is respected for gateRespect and tried every gateInterval. The process that closed it may be stopped and
// would then block all others.
const (
	gateRespect  = 250 * time.Millisecond
	gateInterval = 500 * time.Microsecond
)

// fairLock consists of two files with a lock in each. The first is the lock itself. The system wakes waiters in order
// but does not reserve the lock for them. A process that releases the lock and returns at once usually wins. That is
// fastest for all if it does not last. A process that was overtaken for a while therefore closes the gate, through
// which all others must go, until it has the lock. The gate protects nothing; a gate that stays closed is ignored.
type fairLock struct {
	lock, gate *os.File
	stuck      atomic.Bool // the gate stayed closed, and has not been seen open since
}

func openFairLock(path string) (*fairLock, error) {
	lock, err := openOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	gate, err := openOwn(gatePath(path), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &fairLock{lock: lock, gate: gate}, nil
}

func gatePath(lockPath string) string { return lockPath + ".gate" }

// try takes the lock if it is free.
func (t *fairLock) try() (had bool, err error) {
	if open, err := t.tryGate(); err != nil || (!open && !t.stuck.Load()) {
		return false, err
	}
	return tryLock(t.lock)
}

// tryGate reports whether the gate is open.
func (t *fairLock) tryGate() (open bool, err error) {
	if open, err = tryLock(t.gate); open {
		t.openGate()
		t.stuck.Store(false)
	}
	return open, err
}

// closeGate makes all others wait at the gate, unless another process has closed it.
func (t *fairLock) closeGate() bool {
	had, err := tryLock(t.gate)
	return had && err == nil
}

func (t *fairLock) openGate() { _ = unlock(t.gate) }

// wait passes the gate, sets passed, and blocks until it has the lock.
func (t *fairLock) wait(passed *atomic.Bool) error {
	if err := t.passGate(); err != nil {
		return err
	}
	passed.Store(true)
	return waitLock(t.lock)
}

// passGate waits until the gate is open or was closed for gateRespect. It polls, because a blocking request could not be
// withdrawn.
func (t *fairLock) passGate() error {
	// No system waits for a file lock for a bounded time.
	for end := time.Now().Add(gateRespect); !t.stuck.Load(); time.Sleep(gateInterval) { //permit:time.Sleep
		if open, err := t.tryGate(); open || err != nil {
			return err
		}
		if time.Now().After(end) {
			t.stuck.Store(true)
		}
	}
	return nil
}

// unlock releases the lock. If that fails, closing the file releases it.
func (t *fairLock) unlock() { _ = unlock(t.lock) }

// close closes both files, which releases their locks.
func (t *fairLock) close() error { return errors.Join(t.lock.Close(), t.gate.Close()) }

// wait is a blocking request for the lock. It cannot be withdrawn, only abandoned.
type wait struct {
	files     *fairLock
	passed    atomic.Bool   // it is through the gate, which another process may use now
	done      chan struct{} // closed by the goroutine of the wait when it ends
	err       error         // set before done is closed
	abandoned bool          // the wait has ended: release the lock as soon as it arrives
}

// queue asks for the lock and returns the wait.
func (l *lockFile) queue() *wait {
	w := &wait{files: l.files, done: make(chan struct{})}
	l.mu.Lock()
	l.pending = w
	l.mu.Unlock()
	// The goroutine ends when the lock is had. If its holder is stopped, the call returns only when the holder
	// continues or dies: no system lets another thread cancel a request for a file lock.
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

// adopt returns an abandoned wait that still lasts: it has the best place in the queue.
func (l *lockFile) adopt() *wait {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != nil {
		l.pending.abandoned = false
	}
	return l.pending
}

// abandon abandons the wait and reports whether it was still waiting.
func (l *lockFile) abandon(w *wait) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending != w {
		return false
	}
	w.abandoned = true
	return true
}
