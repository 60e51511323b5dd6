package postgres

import "time"

// Waiting gives the options with another patience for other processes: a test cannot wait for seconds.
func (o Options) Waiting(d time.Duration) Options {
	o.lockWait = d
	return o
}

// Viewing gives the options with another limit for Views.
func (o Options) Viewing(d time.Duration) Options {
	o.viewLimit = d
	return o
}

// Calling gives the options with another limit for calls.
func (o Options) Calling(d time.Duration) Options {
	o.callLimit = d
	return o
}

// Pooled reports whether connections are taken for dealt out by transactions.
func (s *Store) Pooled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pooled
}

// Heard has a clock hear from a server, see Clock.heard.
func (c *Clock) Heard(server int64, asked, told time.Time) { c.heard(server, asked, told) }
