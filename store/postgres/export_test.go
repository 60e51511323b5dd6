package postgres

import (
	"context"
	"time"
)

// Waiting returns the options with another patience for other processes: a test cannot wait for seconds.
func (o Options) Waiting(d time.Duration) Options {
	o.lockWait = d
	return o
}

// Viewing returns the options with another limit for Views.
func (o Options) Viewing(d time.Duration) Options {
	o.viewLimit = d
	return o
}

// Limiting returns the options with another limit for calls.
func (o Options) Limiting(d time.Duration) Options {
	o.callLimit = d
	return o
}

// LimitCalls returns the calls of an open store another limit. Nobody may use the store meanwhile.
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
func (c *Clock) Heard(server int64, asked, told time.Time) { c.correct(server, asked, told) }

// Wrong returns a clock of a machine whose own clock is ahead by that much.
func Wrong(ahead time.Duration) *Clock {
	return &Clock{local: func() time.Time { return time.Now().Add(ahead) }}
}

// Looking returns the options with another time between looks at what others did.
func (o Options) Looking(d time.Duration) Options {
	o.lookEvery = d
	return o
}

// Telling returns the options with another time between two messages to others.
func (o Options) Telling(d time.Duration) Options {
	o.tellEvery = d
	return o
}

// Mute returns the options of one who tells others nothing.
func (o Options) Mute() Options {
	o.mute = true
	return o
}

// RungBy reports whether who listens is rung by what was told.
func (s *Store) RungBy(told string) bool {
	e := listener{s: s}
	e.hear(told)
	return e.rung
}

// HeldBy lists the tables that hold what a workspace has.
var HeldBy = heldBy
