package sqlite

import (
	"os"
	"time"
)

// pollInterval is how long a commit of another process may go unnoticed. A look costs one short read.
const pollInterval = 100 * time.Millisecond

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
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.ended:
			return
		case <-ticker.C:
			text, err := os.ReadFile(s.place.lockPath())
			if err == nil && s.learn(parseRecord(text).commits) {
				s.signal()
			}
		}
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
