package sqlite

import (
	"os"
	"time"
)

// How long a commit of another process may go unnoticed. A look costs one short read and a wake-up,
// together up to 100 µs, so they are frequent only while others are at work.
const (
	pollInterval = 100 * time.Millisecond
	busyInterval = 20 * time.Millisecond
	// busyFor is how long after a commit of another process the next one is looked for so often.
	busyFor = 10 * time.Second
)

// Changed gives the channel that is signalled after commits of other processes. The first call begins
// to look for them; who never asks pays nothing.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.polls && !s.closed {
		s.polls = true
		s.polling.Go(s.poll) // ends with Close
	}
	return s.changed
}

// poll looks at the count of commits in the lock file.
func (s *Store) poll() {
	timer := time.NewTimer(pollInterval)
	defer timer.Stop()
	var found time.Time // when the last commit of another process was
	for {
		select {
		case <-s.ended:
			return
		case <-timer.C:
		}
		text, err := os.ReadFile(s.place.lockPath())
		if err == nil && s.learn(parseRecord(text).commits) {
			s.signal()
			found = time.Now()
		}
		interval := pollInterval
		if time.Since(found) < busyFor {
			interval = busyInterval
		}
		timer.Reset(interval)
	}
}

// learn notes that there were that many commits and reports whether some of them are news.
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

// signal leaves a signal unless one is waiting to be taken.
func (s *Store) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
