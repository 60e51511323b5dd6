package postgres

import "context"

// Changed returns the channel that is signalled after commits of other processes. The first call starts to listen, so a
// caller without need for it pays nothing.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopListening == nil && !s.closed {
		ctx, cancel := context.WithCancel(context.Background())
		s.stopListening = cancel
		s.working.Go(func() { (&listener{s: s}).run(ctx) }) // ends with Close
	}
	return s.changed
}

// learn records the number of commits, signals it if it is new, and reports whether it is. before is the number known
// when the query began. A smaller number means a restored database or a server that lags behind; its contents are news
// too.
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

// knownCommits returns the newest commit that is known.
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
