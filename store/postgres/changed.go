package postgres

import (
	"context"
	"fmt"
	"time"
)

// How long a commit of another process may go unnoticed. A look costs one short question to the server, so they are
// frequent only while others are at work.
const (
	pollInterval = 100 * time.Millisecond
	busyInterval = 20 * time.Millisecond // and up to as much again, so that many processes do not ask together
	// busyFor is how long after a commit of another process the next one is looked for so often.
	busyFor = 10 * time.Second
	// awayInterval is how long a server that does not answer is left alone.
	awayInterval = time.Second
)

// Changed gives the channel that is signalled after commits of other processes. The first call begins to look for them;
// who never asks pays nothing.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.polls && !s.closed {
		s.polls = true
		s.polling.Go(s.poll) // ends with Close
	}
	return s.changed
}

// poll looks at the count of commits of the workspace.
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
		interval := pollInterval
		switch news, err := s.look(); {
		case err != nil:
			interval = awayInterval
		case news:
			found = time.Now()
		}
		if time.Since(found) < busyFor {
			interval = busyInterval + jitter(busyInterval)
		}
		timer.Reset(interval)
	}
}

// look reports whether there are commits that were not known.
func (s *Store) look() (news bool, err error) {
	within, cancel := context.WithTimeout(context.Background(), s.o.lockWait)
	defer cancel()
	c, err := s.take(within)
	if err != nil {
		return false, err
	}
	defer s.give(c)
	commits, err := c.script(within, fmt.Sprintf("SELECT commits FROM waybill.workspaces WHERE number = %d", s.number))
	if err != nil || len(commits) == 0 {
		return false, err
	}
	return s.learn(commits[0]), nil
}

// learn notes that there were that many commits, signals it if some of them are news, and reports that.
func (s *Store) learn(commits int64) bool {
	s.mu.Lock()
	news := commits > s.seen
	s.seen = max(s.seen, commits)
	s.mu.Unlock()
	if news {
		s.signal()
	}
	return news
}

// mine notes a commit of our own, which is no news.
func (s *Store) mine(commits int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = max(s.seen, commits)
}

// signal leaves a signal unless one is waiting to be taken.
func (s *Store) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
