package postgres

import (
	"context"
	"time"
)

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

// LimitCalls gives the calls of an open store another limit. Nobody may use the store meanwhile.
func (s *Store) LimitCalls(d time.Duration) { s.o.callLimit = d }

// Pooled reports whether its connections are taken for dealt out by transactions.
func (s *Store) Pooled(ctx context.Context) (bool, error) {
	c, err := s.take(ctx)
	if err != nil {
		return false, err
	}
	defer s.give(c)
	return c.pooled, nil
}

// Heard has a clock hear from a server, see Clock.heard.
func (c *Clock) Heard(server int64, asked, told time.Time) { c.heard(server, asked, told) }
