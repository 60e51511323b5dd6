package postgres

import "context"

// Changed gives the channel that is signalled after commits of other processes. The first call begins to listen for
// them; who never asks pays nothing.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deafen == nil && !s.closed {
		ctx, cancel := context.WithCancel(context.Background())
		s.deafen = cancel
		s.working.Go(func() { (&ear{s: s}).run(ctx) }) // ends with Close
	}
	return s.changed
}

// learn notes that there were that many commits, signals it if that is news, and reports whether it is. before is what
// was known when it was asked for: a count that has gone back since then is that of a database that was put back, or of
// another server that has not got everything, and what it will hold is news.
func (s *Store) learn(commits, before int64) (news bool) {
	s.mu.Lock()
	news = commits > s.seen || commits < before && s.seen == before
	if news {
		s.seen = commits
	}
	s.mu.Unlock()
	if news {
		s.signal()
	}
	return news
}

// knownCommits gives the newest commit that is known.
func (s *Store) knownCommits() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
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
