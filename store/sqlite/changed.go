package sqlite

import (
	"bytes"
	"time"
)

// A caller of Changed wakes on file events of the lock file where the platform has them, and polls it as a fallback.
// Without events there is only polling. A poll costs up to 100 µs, so it is frequent only while other processes commit.
const (
	pollInterval = 100 * time.Millisecond
	busyInterval = 20 * time.Millisecond
	// busyFor is how long polling stays frequent after a commit of another process.
	busyFor = 10 * time.Second
	// netInterval is the polling interval beside a working watch.
	netInterval = time.Second
	// minLookGap is how long events are ignored after a look. A process that writes without a pause then wakes the others
	// a hundred times a second instead of thousands of times.
	minLookGap = 10 * time.Millisecond
	// rechecksAfterEvent is the number of extra looks after an event while the lock is held. The system reports that a file
	// was closed before it releases the lock, and a dead process causes no further event.
	rechecksAfterEvent = 5
)

// Changed returns the channel that is signalled after commits of other processes. The first call starts to watch for
// them.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.polls && !s.closed {
		s.polls = true
		s.polling.Go(s.poll) // ends with Close
	}
	return s.changed
}

// poll looks at the lock file whenever it was written, and from time to time.
func (s *Store) poll() {
	n := commitWatcher{s: s, watch: s.watchLock(), rechecks: rechecksAfterEvent}
	defer func() { n.watch.close() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.ended:
			return
		case _, heard := <-n.watch.rings():
			if !heard {
				n.dropWatch()
			}
			n.rechecks = rechecksAfterEvent
		case <-timer.C:
			n.watch.renew()
			n.rechecks--
		}
		if rests := n.look(); rests && n.watch != nil && !s.pause(minLookGap) {
			return
		}
		timer.Reset(n.interval())
	}
}

// watchLock returns a watch of the lock file, or nil if there can be none. Writes of another machine to a shared disk
// cause no events.
func (s *Store) watchLock() *watch {
	if s.place.volume.remote || s.o.unwatched {
		return nil
	}
	w, err := newWatch(s.place.lockPath())
	if err != nil {
		s.o.Logger.Debug("the lock file is looked at and not watched", "path", s.place.lockPath(), "err", err)
	}
	return w
}

// pause waits for that long and reports whether the store is still open.
func (s *Store) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ended:
		return false
	case <-timer.C:
		return true
	}
}

// A commitWatcher reads the lock file to find commits of other processes. Only one goroutine uses it.
type commitWatcher struct {
	s        *Store
	watch    *watch    // nil without a watch
	text     []byte    // of the file, when it was last read
	found    time.Time // when the last commit of another process was
	held     bool      // whether the lock was held then
	rechecks int       // the number of reads that must follow soon
}

// dropWatch continues without the watch.
func (n *commitWatcher) dropWatch() {
	n.watch.close()
	n.watch = nil
}

// interval returns the longest time until the next look.
func (n *commitWatcher) interval() time.Duration {
	switch {
	case n.watch != nil && n.held && n.rechecks > 0:
		return busyInterval
	case n.watch != nil:
		return n.s.o.net
	case time.Since(n.found) < busyFor:
		return busyInterval
	}
	return pollInterval
}

// look signals new commits and reports whether the next look can wait. It cannot wait while a commit is in progress,
// because the end of that commit is the awaited news.
func (n *commitWatcher) look() (rests bool) {
	text, err := n.s.place.lockText()
	if err != nil {
		return true
	}
	says := parseRecord(text)
	news := n.s.learn(says.commits)
	if news {
		n.s.signal()
		n.found = time.Now()
	}
	again := bytes.Equal(text, n.text)
	n.text, n.held = text, says.state == locked
	if !n.held {
		return true
	}
	if again && n.s.holderDied() {
		n.found = time.Now()
	}
	return news
}

// holderDied reports whether the process named in the lock file has died, in which case the lock is free. The dead process
// may have committed. An own change in progress finds that out by itself.
func (s *Store) holderDied() bool {
	select {
	case s.turn <- struct{}{}:
	default:
		return false
	}
	defer s.turn.give()
	if s.refusal() != nil || !s.lock.acquireDead() {
		return false
	}
	defer s.lock.release()
	s.noticeCommits()
	return true
}

// noticeCommits signals commits that others made before this process got the lock, which is held.
func (s *Store) noticeCommits() {
	if now := s.lock.says.commits; s.seen.Swap(now) != now {
		s.signal()
	}
}

// learn records the number of commits and reports whether any of them is new.
func (s *Store) learn(commits int64) bool {
	for {
		seen := s.seen.Load()
		if commits <= seen {
			return false
		}
		if s.seen.CompareAndSwap(seen, commits) {
			return true
		}
	}
}

// signal sends a signal unless one is already pending.
func (s *Store) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
